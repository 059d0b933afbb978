import { repeatable } from '../../core/reader.ts';
import { decodeContentManifest } from '../../formats/roots/content-manifest.ts';
import { decodeDiablo3Packages, decodeDiablo3Toc } from '../../formats/roots/diablo3/core-toc.ts';
import { decodeDiablo3Folder, decodeDiablo3Root } from '../../formats/roots/diablo3/folder.ts';
import { decodeDiablo4Toc } from '../../formats/roots/diablo4/core-toc.ts';
import {
  decodeEncryptedNames,
  decodeEncryptedSnos,
  decodeSharedPayloads,
} from '../../formats/roots/diablo4/side-tables.ts';
import { decodePackageManifest } from '../../formats/roots/package-manifest.ts';
import { diablo3Group, diablo4Group } from '../../formats/roots/sno/asset-groups.ts';
import { type Description, fieldTable, type RowTable, tableOf } from './description.ts';

/** The root of Diablo III: the folders that it names. */
export function describeDiablo3Root(bytes: Uint8Array): Description {
  const folders = decodeDiablo3Root(bytes);
  return {
    facts: { folders: folders.length },
    table: fieldTable('folders', ['name', 'ckey'], folders),
  };
}

/** A folder of Diablo III: assets by their ids, then files with names. */
export function describeDiablo3Folder(bytes: Uint8Array): Description {
  const { assetCount, assets, named } = decodeDiablo3Folder(bytes);
  const items = repeatable<{ snoId?: number; part?: number; name?: string; ckey: string }>(function* () {
    yield* assets;
    yield* named;
  });
  const count = assetCount + named.length;
  return {
    facts: { assets: assetCount, named: named.length },
    table: fieldTable('files', ['snoId', 'part', 'name', 'ckey'], { count, items }),
  };
}

/** CoreTOC.dat of Diablo III: the names of SNO ids. */
export function describeDiablo3Toc(bytes: Uint8Array): Description {
  const entries = decodeDiablo3Toc(bytes).groups.flat();
  return {
    facts: { names: entries.length },
    table: tableOf('names', ['snoId', 'group', 'name'], entries, ({ snoId, group, name }) => [
      snoId,
      diablo3Group(group).folder,
      name,
    ]),
  };
}

/** Packages.dat of Diablo III: the names of files with their real endings. */
export function describePackages(bytes: Uint8Array): Description {
  const names = decodeDiablo3Packages(bytes);
  return {
    facts: { names: names.length },
    table: tableOf('names', ['name'], names, (name) => [name]),
  };
}

/** CoreTOC.dat of Diablo IV. */
export function describeDiablo4Toc(bytes: Uint8Array): Description {
  const { newer, groups } = decodeDiablo4Toc(bytes);
  const entries = groups.flatMap((group) => group.entries);
  return {
    facts: { form: newer ? 'with format hashes' : 'older', groups: groups.length, names: entries.length },
    table: diablo4Names(entries),
  };
}

function diablo4Names(entries: readonly { snoId: number; group: number; name: string }[]): RowTable {
  return tableOf('names', ['snoId', 'group', 'name'], entries, ({ snoId, group, name }) => [
    snoId,
    diablo4Group(group).folder,
    name,
  ]);
}

/** EncryptedSNOs.dat of Diablo IV. */
export function describeEncryptedSnos(bytes: Uint8Array): Description {
  const snos = decodeEncryptedSnos(bytes);
  return {
    facts: { locked: snos.length, keys: new Set(snos.map(({ keyName }) => keyName)).size },
    table: tableOf('assets', ['snoId', 'group', 'keyName'], snos, ({ snoId, group, keyName }) => [
      snoId,
      diablo4Group(group).folder,
      keyName.toString(16).padStart(16, '0'),
    ]),
  };
}

/** EncryptedNameDict-….dat of Diablo IV. */
export function describeEncryptedNames(bytes: Uint8Array): Description {
  const names = decodeEncryptedNames(bytes);
  return {
    facts: { names: names.length },
    table: diablo4Names(names),
  };
}

/** CoreTOCSharedPayloadsMapping.dat of Diablo IV. */
export function describeSharedPayloads(bytes: Uint8Array): Description {
  const { payloads, children } = decodeSharedPayloads(bytes);
  return {
    facts: { payloads: payloads.length, children: children?.length },
    table: fieldTable('payloads', ['snoId', 'payloadOf'], payloads),
  };
}

/** A content manifest of Overwatch; of an encrypted one what its header says. */
export function describeContentManifest(bytes: Uint8Array): Description {
  const manifest = decodeContentManifest(bytes);
  const { form, build, version, encrypted, assetCount, entryCount } = manifest;
  const facts = { form, build, version, encrypted, assets: assetCount, entries: entryCount };
  if (manifest.encrypted) return { facts };
  return {
    facts,
    table: fieldTable('assets', ['guid', 'size', 'ckey'], { count: assetCount, items: manifest.assets }),
  };
}

/** A package manifest of Overwatch. */
export function describePackageManifest(bytes: Uint8Array): Description {
  const { build, headerSize, packageSize, entries, packageCount, packages } = decodePackageManifest(bytes);
  return {
    facts: { build, headerSize, packageSize, entries: entries.count, packages: packageCount },
    table: tableOf(
      'packages',
      ['guid', 'keyName', 'size', 'ckey'],
      { count: packageCount, items: packages },
      ({ guid, keyName, content }) => [guid, keyName, content?.size, content?.ckey],
    ),
  };
}
