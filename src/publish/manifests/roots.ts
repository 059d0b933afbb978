import { fromHex } from '../../core/bytes.ts';
import { nameHash } from '../../core/jenkins.ts';
import { ContentFlags } from '../../formats/roots/locale.ts';
import { encodeTvfs, type TvfsFileContent } from '../../formats/roots/tvfs/encode.ts';
import { encodeWowRoot } from '../../formats/roots/wow/encode.ts';
import type { WowRootBlockContent, WowRootRow } from '../../formats/roots/wow/layout.ts';
import { localeFlagsOf, type RootKind } from '../files/publish-file.ts';
import type { EncodedFile } from '../objects/encoded-files.ts';

/** Writes the root of a build. */
export function makeRoot(kind: RootKind, files: Iterable<EncodedFile>): Uint8Array {
  return kind === 'tvfs' ? makeTvfs(files) : makeWowRoot(files);
}

/** Leading bytes of an ekey in a TVFS. */
const ekeyBytes = 9;

/** Writes a TVFS as official ones are, with specs and content keys: a path leads to the one object that it is. */
function makeTvfs(files: Iterable<EncodedFile>): Uint8Array {
  return encodeTvfs({ entries: tvfsEntries(files), form: 'prefixes' });
}

function* tvfsEntries(files: Iterable<EncodedFile>): Generator<TvfsFileContent> {
  for (const { name, content } of files) {
    const { size, encodedSize, espec } = content;
    const ekey = fromHex(content.ekey).subarray(0, ekeyBytes);
    const span = { offset: 0, size, ekey, encodedSize, contentSize: size, ckey: fromHex(content.ckey), espec };
    yield { path: name, spans: [span] };
  }
}

/** Writes a root as World of Warcraft has it since 11.1: a block for each pair of flags, those of single locales first, so that a variant goes before a file for all. */
function makeWowRoot(files: Iterable<EncodedFile>): Uint8Array {
  const blocks = new Map<string, WowRootBlockContent & { rows: WowRootRow[] }>();
  for (const file of files) {
    if (file.fileDataId === undefined) continue;
    const localeFlags = localeFlagsOf(file);
    const contentFlags = file.key === undefined ? 0 : ContentFlags.encrypted;
    const key = `${localeFlags} ${contentFlags}`;
    const block = blocks.get(key) ?? { localeFlags, contentFlags, rows: [] };
    block.rows.push({
      fileDataId: file.fileDataId,
      ckey: fromHex(file.content.ckey),
      nameHash: nameHash(file.name),
    });
    blocks.set(key, block);
  }
  for (const { rows } of blocks.values()) rows.sort((a, b) => a.fileDataId - b.fileDataId);
  const sorted = [...blocks.values()].sort((a, b) => a.localeFlags - b.localeFlags || a.contentFlags - b.contentFlags);
  return encodeWowRoot({ form: 'tsfm2', blocks: sorted });
}
