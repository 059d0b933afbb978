// Tags: which entries of a manifest a choice of platform, language and so on needs.
//
//   name   NUL-terminated
//   type   u16: 1 platform, 2 architecture, 3 locale, 4 region, 5 speech or text, 0x4000 alternate; other products number
//          them otherwise (Hearthstone's locales are 2), so only the manifest's own table says what belongs together
//   mask   a bit per entry, the highest bit of the first byte for entry 0; ceil(entries / 8) bytes.
//          Bits behind the last entry may be set.
//
// Known from wowdev.wiki (TACT) and checked on real manifests of 2024 and 2025.

import { formatError, PakratError } from '../../core/errors.ts';
import { didYouMean, nearest } from '../../core/names/nearest.ts';
import type { ByteReader } from '../../core/reader.ts';
import { ByteWriter } from '../../core/writer.ts';

/** A tag and the entries that carry it. */
export interface Tag {
  readonly name: string;
  /** Tags of one type are alternatives. */
  readonly type: number;
  /** Bit `i`, counted from the highest of the first byte, belongs to entry `i`. */
  readonly mask: Uint8Array;
}

/** The entries of a manifest, and the tags that they carry. */
export interface TaggedEntries<Entry> {
  readonly entries: Iterable<Entry>;
  /** Number of entries. */
  readonly count: number;
  readonly tags: readonly Tag[];
}

/** Bytes of a mask over `count` entries. */
export function maskSize(count: number): number {
  return Math.ceil(count / 8);
}

/** Whether entry `i` is in a mask. */
export function hasTag(mask: Uint8Array, i: number): boolean {
  return ((mask[i >>> 3] ?? 0) & (0x80 >>> (i & 7))) !== 0;
}

/**
 * Reads `tagCount` tags over `entryCount` entries; the masks are views.
 * @throws E_FORMAT_TRUNCATED when they are not all there, E_FORMAT for a tag without a name
 */
export function readTags(reader: ByteReader, tagCount: number, entryCount: number): Tag[] {
  const size = maskSize(entryCount);
  reader.count(tagCount, 3 + size);
  return Array.from({ length: tagCount }, () => {
    const offset = reader.pos;
    const name = reader.cstring();
    if (name === '') throw formatError('E_FORMAT', reader.what, 'a tag without a name', { offset });
    return { name, type: reader.u16(), mask: reader.take(size) };
  });
}

/** Writes tags. */
export function writeTags(writer: ByteWriter, tags: readonly Tag[]): void {
  for (const { name, type, mask } of tags) writer.cstring(name).u16(type).raw(mask);
}

/** Bytes of entries that are handed on at a time. */
const pieceBytes = 1 << 16;

/**
 * Writes entries, each by `encode`, and gives their bytes in pieces.
 * @param format name of the manifest, for the message
 * @throws E_FORMAT_RANGE when they are not as many as `count`
 */
export function* entryPieces<Entry>(
  format: string,
  { entries, count }: Pick<TaggedEntries<Entry>, 'entries' | 'count'>,
  encode: (writer: ByteWriter, entry: Entry) => void,
): Generator<Uint8Array> {
  let written = 0;
  let writer = new ByteWriter();
  for (const entry of entries) {
    encode(writer, entry);
    written++;
    if (writer.size < pieceBytes) continue;
    yield writer.written;
    writer = new ByteWriter(pieceBytes);
  }
  if (written !== count) {
    throw formatError('E_FORMAT_RANGE', format, 'wrong count of entries', { expected: count, found: written });
  }
  yield writer.written;
}

/**
 * The entries that a choice of tags asks for: those with any chosen tag of a type, for every type of which a tag was chosen.
 * An entry without any tag of a type is for all of them, and what was not chosen about does not matter.
 * @param asked tags of this manifest, whose case does not matter; none chooses everything
 * @param count number of entries
 * @returns a mask over the entries; bits behind the last are 0
 * @throws E_USAGE for a name that the manifest does not have; it names those it has, the nearest first
 */
export function selectByTags(tags: readonly Tag[], asked: readonly string[], count: number): Uint8Array {
  const names = asked.map((name) => knownName(tags, name));
  const selected = everyEntry(count);
  const types = new Set(tags.filter((tag) => names.includes(tag.name)).map((tag) => tag.type));
  for (const type of types) {
    const ofType = tags.filter((tag) => tag.type === type);
    const chosen = ofType.filter((tag) => names.includes(tag.name));
    for (let i = 0; i < selected.length; i++) selected[i]! &= union(chosen, i) | ~union(ofType, i);
  }
  return selected;
}

/** The name as the manifest spells it. @throws E_USAGE */
function knownName(tags: readonly Tag[], name: string): string {
  const known = [...new Set(tags.map((tag) => tag.name))];
  const found = known.includes(name) ? name : known.find((one) => one.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  const near = didYouMean(nearest(name, known));
  const all = known.length === 0 ? 'It has no tags at all.' : `Its tags are: ${known.join(', ')}.`;
  throw new PakratError('E_USAGE', `there is no tag "${name}" in this build`, {
    hint: near === undefined ? all : `${near} ${all}`,
    data: { tag: name, tags: known },
  });
}

/** Byte `i` of the union of these masks. */
function union(tags: readonly Tag[], i: number): number {
  let byte = 0;
  for (const tag of tags) byte |= tag.mask[i] ?? 0;
  return byte;
}

function everyEntry(count: number): Uint8Array {
  const mask = new Uint8Array(maskSize(count)).fill(0xff);
  if (count % 8 !== 0) mask[mask.length - 1] = 0xff << (8 - (count % 8));
  return mask;
}
