import { nameHash } from '../../../src/core/jenkins.ts';
import { ContentFlags, localeFlag } from '../../../src/formats/roots/locale.ts';
import { encodeTextRoot } from '../../../src/formats/roots/text.ts';
import { encodeTvfs } from '../../../src/formats/roots/tvfs/encode.ts';
import type { TvfsSpan } from '../../../src/formats/roots/tvfs/layout.ts';
import { encodeWowRoot } from '../../../src/formats/roots/wow/encode.ts';
import type { WowRootRow } from '../../../src/formats/roots/wow/layout.ts';
import type { EncodedContent } from '../../../src/publish/encode/encode-content.ts';
import type { TreeOptions } from './options.ts';
import type { PlannedFile } from './plan.ts';

/** A variant of a file in a build. */
export interface TreeRow {
  file: PlannedFile;
  /** A locale, `` for all, `#lowviolence` for the twin. */
  locale: string;
  revision: number;
  encodings: [EncodedContent, ...EncodedContent[]];
}

export const twin = '#lowviolence';
const allLocales = 0x1f3f6;
const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));

/** Flags of a row's content. */
export function contentFlagsOf({ file, locale }: TreeRow): number {
  const isEncrypted = file.key !== undefined && locale !== twin;
  const isNameless = file.isNameless ? ContentFlags.noNameHash : 0;
  return (
    (isNameless | (isEncrypted ? ContentFlags.encrypted : 0) | (locale === twin ? ContentFlags.lowViolence : 0)) >>> 0
  );
}

/** Writes a root of World of Warcraft: a block for each pair of flags, the twins first, as in real ones. */
export function writeWowRoot(rows: readonly TreeRow[], form: TreeOptions['rootFormat']): Uint8Array {
  const blocks = new Map<string, { contentFlags: number; localeFlags: number; rows: WowRootRow[] }>();
  for (const row of rows) {
    // Before there were headers every row had the hash of its name.
    const isNameless = row.file.isNameless && form !== 'headerless';
    const contentFlags = (isNameless ? contentFlagsOf(row) : contentFlagsOf(row) & ~ContentFlags.noNameHash) >>> 0;
    const localeFlags = row.locale === '' || row.locale === twin ? allLocales : localeFlag(row.locale);
    const key = `${row.locale !== twin} ${contentFlags} ${localeFlags}`;
    const block = blocks.get(key) ?? { contentFlags, localeFlags, rows: [] };
    const hash = isNameless ? {} : { nameHash: nameHash(row.file.name) };
    block.rows.push({ fileDataId: row.file.id, ckey: bytesOf(row.encodings[0].ckey), ...hash });
    blocks.set(key, block);
  }
  const sorted = [...blocks].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, block]) => block);
  for (const block of sorted) block.rows.sort((a, b) => a.fileDataId - b.fileDataId);
  return encodeWowRoot({ form, blocks: sorted });
}

/** Writes a root of lines, with locales as folders. */
export function writeTextRoot(rows: readonly TreeRow[]): Uint8Array {
  const lines = rows.filter(({ locale }) => locale !== twin);
  return encodeTextRoot({
    rows: lines.map(({ file, locale, encodings }) => ({
      path: `${locale === '' ? '' : `${locale}/`}${file.name}`.replaceAll('/', '\\'),
      ckey: encodings[0].ckey,
    })),
  });
}

/** A file of a TVFS: its contents are its pieces, in their order. */
export interface PiecedFile {
  path: string;
  pieces: readonly EncodedContent[];
}

/** The files of a TVFS: locales as folders, no empty files. */
export function tvfsFiles(rows: readonly TreeRow[]): PiecedFile[] {
  const listed = rows.filter(({ file, locale }) => locale !== twin && file.size > 0);
  return listed.map(({ file, locale, encodings }) => ({
    path: `${locale === '' ? '' : `${locale.toLowerCase()}/`}${file.name}`,
    pieces: [encodings[0]],
  }));
}

/** Writes a TVFS manifest. */
export function writeTvfs(files: readonly PiecedFile[]): Uint8Array {
  const entries = files.map(({ path, pieces }) => {
    let offset = 0;
    const spans = pieces.map(({ ckey, ekey, size, encodedSize }): TvfsSpan => {
      const keys = { ekey: bytesOf(ekey).subarray(0, 9), ckey: bytesOf(ckey) };
      const span = { ...keys, offset, size, encodedSize, contentSize: size, espec: 'b:{256K*=z}' };
      offset += size;
      return span;
    });
    return { path, spans };
  });
  return encodeTvfs({ entries });
}
