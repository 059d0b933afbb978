import { repeatable } from '../../core/reader.ts';
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
import { countOf, type Description, fieldTable, type RowTable, tableOf } from './description.ts';

const latin1Decoder = new TextDecoder('latin1');

/** A table of a version service, or an install's .build.info. */
export function describeBpsv(bytes: Uint8Array): Description {
  const { columns, seqn, rows } = decodeBpsv(bytes);
  const names = columns.map(({ name }) => name);
  return {
    facts: { seqn, columns: columns.map(({ name, type, size }) => `${name}!${type}:${size}`), rows: rows.length },
    table: fieldTable('rows', names, rows),
  };
}

/** An answer of Ribbit v1. */
export function describeRibbit(bytes: Uint8Array): Description {
  const { data, disposition } = decodeRibbit(bytes);
  return { facts: { disposition }, inside: () => data };
}

/** A build config: its names, then all of its lines. */
export function describeBuildConfig(bytes: Uint8Array): Description {
  const { name, uid, product, vfs, config } = decodeBuildConfig(bytes);
  return {
    facts: { name, uid, product, lines: config.entries.length, vfs: vfs.length, fetchedFirst: firstFetched(config) },
    table: configTable(config.entries),
  };
}

/** A CDN config: the archives that it lists, then all of its lines. */
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

/** A patch config: the patches from object to object. */
export function describePatchConfig(bytes: Uint8Array): Description {
  const { patch, patchSize, entries } = decodePatchConfig(bytes);
  const rows = entries.flatMap(({ type, ckey, patches }) => patches.map((step) => ({ type, ckey, ...step })));
  return {
    facts: { patch, patchSize, entries: entries.length },
    table: fieldTable('patches', ['type', 'ckey', 'sourceEkey', 'patchEkey', 'patchSize'], rows),
  };
}

/** Contents that an install fetches first, where a config names them. */
function firstFetched(config: ReturnType<typeof decodeConfig>): number | undefined {
  const values = config.get('build-partial-priority');
  return values === undefined ? undefined : decodePartialPriorities(config).contents.length;
}

/** A config of a kind that has no name here. */
export function describeConfig(bytes: Uint8Array): Description {
  const { entries } = decodeConfig(bytes);
  return { facts: { lines: entries.length }, table: configTable(entries) };
}

/** A product config. */
export function describeProductConfig(bytes: Uint8Array): Description {
  const { product, dataDir, decryptionKeyName, supportedLocales, tags } = decodeProductConfig(bytes);
  return {
    facts: { product, dataDir, decryptionKeyName, supportedLocales: supportedLocales.join(' '), tags: tags.join(' ') },
  };
}

/** The key ring config of a build. */
export const describeKeyRing = (bytes: Uint8Array): Description => describeKeys(decodeKeyRing(bytes));
/** A list of keys as TACTKeys has it. */
export const describeKeyList = (bytes: Uint8Array): Description => describeKeys(decodeKeyList(bytes));

/** Names only: keys are not for the screen. */
function describeKeys(keys: readonly TactKey[]): Description {
  return {
    facts: { keys: keys.length },
    table: tableOf('keys', ['keyName'], keys, ({ name }) => [name]),
  };
}

/** A list of file names with their ids; one without ids looks like any text and is not told. */
export function describeListfile(bytes: Uint8Array): Description {
  const items = repeatable(() => decodeListfile(bytes)[Symbol.iterator]());
  const count = countOf(items);
  return { facts: { names: count }, table: fieldTable('names', ['fileDataId', 'name'], { count, items }) };
}

function configTable(entries: readonly ConfigEntry[]): RowTable {
  return tableOf('lines', ['key', 'value'], entries, ({ key, values }) => [key, values.join(' ')]);
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
    table: tableOf('specs', ['espec', 'blocks', 'encryptedWith'], lines, (line) => {
      const spec = parseEspec(line);
      const keys = [...line.matchAll(/e:\{([0-9a-fA-F]{16})/g)].map(([, key]) => key);
      return [line, spec.type === 'b' ? spec.blocks.length : 1, keys.join(' ')];
    }),
  };
}
