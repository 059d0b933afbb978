import { parseEspec } from '../../formats/blte/espec.ts';
import { decodeBuildConfig, decodePartialPriorities } from '../../formats/configs/build-config.ts';
import { decodeCdnConfig } from '../../formats/configs/cdn-config.ts';
import { type ConfigEntry, decodeConfig } from '../../formats/configs/config-file.ts';
import { decodeKeyList, decodeKeyRing, type TactKey } from '../../formats/configs/key-list.ts';
import { decodePatchConfig } from '../../formats/configs/patch-config.ts';
import { decodeProductConfig } from '../../formats/configs/product-config.ts';
import { canBeRead, type Format } from '../../formats/format.ts';
import { decodeListfile } from '../../formats/roots/listfile.ts';
import { decodeBpsv } from '../../formats/services/bpsv.ts';
import { decodeRibbit } from '../../formats/services/ribbit-mime.ts';
import { firstLine } from '../../formats/text-lines.ts';
import { type Description, indexedTable, listedTable, type RowTable } from './description.ts';

const latin1Decoder = new TextDecoder('latin1');

/** A table of a version service, or an install's .build.info. */
export function describeBpsv(bytes: Uint8Array): Description {
  const { columns, seqn, rows } = decodeBpsv(bytes);
  const names = columns.map(({ name }) => name);
  return {
    facts: { seqn, columns: columns.map(({ name, type, size }) => `${name}!${type}:${size}`), rows: rows.length },
    table: indexedTable('rows', names, rows.length, (i) => names.map((name) => rows[i]?.[name])),
  };
}

/** An answer of Ribbit v1. */
export function describeRibbit(bytes: Uint8Array): Description {
  const { data, disposition } = decodeRibbit(bytes);
  return { facts: { disposition }, inside: () => data };
}

export function describeBuildConfig(bytes: Uint8Array): Description {
  const { name, uid, product, vfs, config } = decodeBuildConfig(bytes);
  return {
    facts: { name, uid, product, lines: config.entries.length, vfs: vfs.length, fetchedFirst: firstFetched(config) },
    table: configTable(config.entries),
  };
}

export function describeCdnConfig(bytes: Uint8Array): Description {
  const { archives, patchArchives, archiveGroup, fileIndex, builds } = decodeCdnConfig(bytes);
  return {
    facts: {
      archives: archives.length,
      patchArchives: patchArchives.length,
      archiveGroup,
      fileIndex,
      builds: builds.length,
    },
    table: configTable(decodeConfig(bytes).entries),
  };
}

export function describePatchConfig(bytes: Uint8Array): Description {
  const { patch, patchSize, entries } = decodePatchConfig(bytes);
  const rows = entries.flatMap(({ type, ckey, patches }) => patches.map((step) => ({ type, ckey, ...step })));
  return {
    facts: { patch, patchSize, entries: entries.length },
    table: indexedTable('patches', ['type', 'ckey', 'sourceEkey', 'patchEkey', 'patchSize'], rows.length, (i) => {
      const { type, ckey, sourceEkey, patchEkey, patchSize: size } = rows[i]!;
      return [type, ckey, sourceEkey, patchEkey, size];
    }),
  };
}

/** What an install fetches first, where a config says so. */
function firstFetched(config: ReturnType<typeof decodeConfig>): number | undefined {
  const values = config.get('build-partial-priority');
  return values === undefined ? undefined : decodePartialPriorities(config).contents.length;
}

/** A config of a kind that has no name here. */
export function describeConfig(bytes: Uint8Array): Description {
  const { entries } = decodeConfig(bytes);
  return { facts: { lines: entries.length }, table: configTable(entries) };
}

export function describeProductConfig(bytes: Uint8Array): Description {
  const { product, dataDir, decryptionKeyName, supportedLocales, tags } = decodeProductConfig(bytes);
  return {
    facts: { product, dataDir, decryptionKeyName, supportedLocales: supportedLocales.join(' '), tags: tags.join(' ') },
  };
}

export const describeKeyRing = (bytes: Uint8Array): Description => describeKeys(decodeKeyRing(bytes));
export const describeKeyList = (bytes: Uint8Array): Description => describeKeys(decodeKeyList(bytes));

/** Names only: keys are not for the screen. */
function describeKeys(keys: readonly TactKey[]): Description {
  return {
    facts: { keys: keys.length },
    table: indexedTable('keys', ['keyName'], keys.length, (i) => [keys[i]!.name]),
  };
}

/** A list of file names with their ids; one without ids looks like any text and is not told. */
export function describeListfile(bytes: Uint8Array): Description {
  let names = 0;
  for (const _ of decodeListfile(bytes)) names += 1;
  return {
    facts: { names },
    table: listedTable('names', ['fileDataId', 'name'], names, function* () {
      for (const { fileDataId, name } of decodeListfile(bytes)) yield [fileDataId, name];
    }),
  };
}

function configTable(entries: readonly ConfigEntry[]): RowTable {
  return indexedTable('lines', ['key', 'value'], entries.length, (i) => [
    entries[i]!.key,
    entries[i]!.values.join(' '),
  ]);
}

const maxEspecs = 0x10000;

const readsAsEspecs = canBeRead(
  (bytes) => especLines(bytes).map(parseEspec),
  () => true,
);

/** A text that is nothing but encoding specs, a line each. Single letters are specs too, and any text. */
export const especsFormat: Format = {
  name: 'encoding specs',
  needsAll: true,
  matches: (bytes) => /^[nzebcg]:[^\s]+$/.test(firstLine(bytes)) && readsAsEspecs(bytes),
};

function especLines(bytes: Uint8Array): string[] {
  return latin1Decoder
    .decode(bytes)
    .split(/\r?\n/, maxEspecs)
    .filter((line) => line !== '');
}

/** Encoding specs, with what they do in words. */
export function describeEspecs(bytes: Uint8Array): Description {
  const lines = especLines(bytes);
  return {
    facts: { specs: lines.length },
    table: indexedTable('specs', ['espec', 'blocks', 'encryptedWith'], lines.length, (i) => {
      const spec = parseEspec(lines[i]!);
      const keys = [...lines[i]!.matchAll(/e:\{([0-9a-fA-F]{16})/g)].map(([, key]) => key);
      return [lines[i]!, spec.type === 'b' ? spec.blocks.length : 1, keys.join(' ')];
    }),
  };
}
