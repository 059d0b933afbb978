import { fromHex } from '../../core/bytes.ts';
import { nameHash } from '../../core/jenkins.ts';
import { ContentFlags } from '../../formats/roots/locale.ts';
import { encodeWowRoot } from '../../formats/roots/wow/encode.ts';
import type { WowRootBlockContent, WowRootRow } from '../../formats/roots/wow/layout.ts';
import { localeFlagsOf, type RootKind } from '../files/publish-file.ts';
import type { EncodedFiles } from '../objects/encoded-files.ts';
import { writeTvfs } from './tvfs.ts';
import { type Written, writePieces } from './written.ts';

/** Writes the root of a build. @throws E_USAGE for a path that comes twice, E_STORE_FULL, E_STORE */
export function writeRoot(kind: RootKind, files: EncodedFiles, temporary: string): Written {
  return kind === 'tvfs' ? writeTvfs(files, temporary) : writePieces([makeWowRoot(files)], temporary);
}

/** Writes a root as World of Warcraft has it since 11.1: a block for each pair of flags, those of single locales first, so that a variant goes before a file for all. */
function makeWowRoot(files: EncodedFiles): Uint8Array {
  const blocks = new Map<string, WowRootBlockContent & { rows: WowRootRow[] }>();
  for (const file of files) {
    if (file.fileDataId === undefined) continue;
    const localeFlags = localeFlagsOf(file);
    const contentFlags = file.key === undefined ? 0 : ContentFlags.encrypted;
    const key = `${localeFlags} ${contentFlags}`;
    const block = blocks.get(key) ?? { localeFlags, contentFlags, rows: [] };
    block.rows.push({
      fileDataId: file.fileDataId,
      ckey: fromHex(files.contents.at(file.content)!.ckey),
      nameHash: nameHash(file.name),
    });
    blocks.set(key, block);
  }
  for (const { rows } of blocks.values()) rows.sort((a, b) => a.fileDataId - b.fileDataId);
  const sorted = [...blocks.values()].sort((a, b) => a.localeFlags - b.localeFlags || a.contentFlags - b.contentFlags);
  return encodeWowRoot({ form: 'tsfm2', blocks: sorted });
}
