import { viewOf } from '../../../core/bytes.ts';
import { formatError, PakratError } from '../../../core/errors.ts';
import { ByteReader, repeatable } from '../../../core/reader.ts';
import { largeWords } from '../../../core/tables/large-bytes.ts';
import { canBeRead, type Format, startsWith } from '../../format.ts';
import { ckeySize, hasHashes, hashSize, joinContentFlags, wowRootWhat } from './fields.ts';
import type { WowRoot, WowRootBlock, WowRootForm, WowRootHeader, WowRootRow } from './layout.ts';

/** Real roots have a few hundred blocks; without a bound, a file of empty blocks would cost memory many times its size. */
const maxBlocks = 65_536;

function readHeader(reader: ByteReader): WowRootHeader {
  if (!wowRootFormat.matches(reader.bytes)) return { form: 'headerless' };
  reader.magic('TSFM');
  const first = reader.u32le();
  const second = reader.u32le();
  // A tsfm0 root of just 24 rows starts with a 24 too; but there the zero would be the locales of its first block.
  const sized = first === 24 && (reader.remaining < 12 || new ByteReader(reader.bytes, wowRootWhat, 20).u32le() === 0);
  if (!sized) return { form: 'tsfm0', total: first, named: second };
  if (second !== 1 && second !== 2) {
    const facts = { offset: 8, expected: '1 or 2', found: second };
    throw formatError('E_FORMAT_VERSION', wowRootWhat, 'unknown version', facts);
  }
  const total = reader.u32le();
  const named = reader.u32le();
  reader.skip(4);
  return { form: second === 1 ? 'tsfm1' : 'tsfm2', total, named };
}

function readBlockHeader(reader: ByteReader, form: WowRootForm) {
  const count = reader.u32le();
  if (form !== 'tsfm2') return { count, contentFlags: reader.u32le(), localeFlags: reader.u32le() };
  const localeFlags = reader.u32le();
  const contentParts = [reader.u32le(), reader.u32le(), reader.u8()] as const;
  return { count, contentFlags: joinContentFlags(contentParts), localeFlags, contentParts };
}

function readBlock(reader: ByteReader, header: WowRootHeader, firstRow: number): WowRootBlock {
  const start = readBlockHeader(reader, header.form);
  const hashed = hasHashes(header, start.contentFlags);
  const count = reader.count(start.count, 4 + ckeySize + (hashed ? hashSize : 0));
  const deltaOffset = reader.pos;
  const ckeyOffset = deltaOffset + count * 4;
  const interleaved = header.form === 'headerless';
  const hashOffset = ckeyOffset + (interleaved ? ckeySize : count * ckeySize);
  reader.skip(count * (4 + ckeySize + (hashed ? hashSize : 0)));
  const block: WowRootBlock = {
    ...start,
    rows: repeatable(() => blockRows(reader.bytes, block)),
    firstRow,
    deltaOffset,
    ckeyOffset,
    ckeyStride: interleaved ? ckeySize + hashSize : ckeySize,
    hashOffset: hashed ? hashOffset : -1,
    hashStride: interleaved ? ckeySize + hashSize : hashSize,
  };
  return block;
}

/** The rows of a block, made one at a time. @throws E_FORMAT_RANGE when an id passes 2^32 − 1 */
function* blockRows(bytes: Uint8Array, block: WowRootBlock): Generator<WowRootRow> {
  const reader = new ByteReader(bytes, wowRootWhat);
  let fileDataId = -1;
  for (let i = 0; i < block.count; i++) {
    reader.seek(block.deltaOffset + i * 4);
    fileDataId = nextId(fileDataId, reader.u32le(), reader.pos - 4);
    yield { fileDataId, ckey: ckeyAt(bytes, block, i), nameHash: nameHashAt(bytes, block, i) };
  }
}

function nextId(before: number, delta: number, offset: number): number {
  const id = before + delta + 1;
  if (id <= 0xffffffff) return id;
  throw formatError('E_FORMAT_RANGE', wowRootWhat, 'file data id beyond 32 bits', { offset });
}

function ckeyAt(bytes: Uint8Array, block: WowRootBlock, i: number): Uint8Array {
  const offset = block.ckeyOffset + i * block.ckeyStride;
  return bytes.subarray(offset, offset + ckeySize);
}

function nameHashAt(bytes: Uint8Array, block: WowRootBlock, i: number): Uint8Array | undefined {
  if (block.hashOffset < 0) return undefined;
  const offset = block.hashOffset + i * block.hashStride;
  return bytes.subarray(offset, offset + hashSize).toReversed();
}

/**
 * Finds the blocks of a WoW root of any form; rows are not looked at.
 * @throws E_FORMAT_TRUNCATED when the blocks do not end at the end of the bytes, E_FORMAT_VERSION for an unknown version,
 *   E_FORMAT_RANGE for more than 65,536 blocks
 */
export function decodeWowRoot(bytes: Uint8Array): WowRoot {
  const reader = new ByteReader(bytes, wowRootWhat);
  const header = readHeader(reader);
  const blocks: WowRootBlock[] = [];
  let rowCount = 0;
  // Without a header, no block means no root at all.
  while (reader.remaining > 0 || (blocks.length === 0 && header.form === 'headerless')) {
    if (blocks.length === maxBlocks) {
      throw formatError('E_FORMAT_RANGE', wowRootWhat, `more than ${maxBlocks} blocks`, { offset: reader.pos });
    }
    const block = readBlock(reader, header, rowCount);
    rowCount += block.count;
    blocks.push(block);
  }
  return { ...header, rowCount, blocks, bytes };
}

/** Told by its magic. */
export const wowRootFormat: Format = { name: wowRootWhat, matches: startsWith('TSFM') };

/** The form without a magic: told when its blocks, each of some locale, end where the bytes end. */
export const headerlessWowRootFormat: Format = {
  name: wowRootWhat,
  needsAll: true,
  matches: canBeRead(
    decodeWowRoot,
    ({ form, rowCount, blocks }) =>
      form === 'headerless' &&
      rowCount > 0 &&
      blocks.every(({ count, localeFlags }) => count === 0 || localeFlags !== 0),
  ),
};

/** The file data id of every row, in row order. @throws E_FORMAT_RANGE when an id passes 2^32 − 1 */
export function fillFileDataIds(root: WowRoot): Uint32Array {
  const ids = largeWords(root.rowCount);
  const view = viewOf(root.bytes);
  for (const block of root.blocks) {
    let id = -1;
    for (let i = 0; i < block.count; i++) {
      const offset = block.deltaOffset + i * 4;
      id = nextId(id, view.getUint32(offset, true), offset);
      ids[block.firstRow + i] = id;
    }
  }
  return ids;
}

/** Calls back for each row that has a name hash, in row order, with its first and its last four bytes as numbers: nothing is made for a row. */
export function eachNameHash(root: WowRoot, visit: (row: number, first: number, last: number) => void): void {
  const view = viewOf(root.bytes);
  for (const { firstRow, count, hashOffset, hashStride } of root.blocks) {
    if (hashOffset < 0) continue;
    for (let i = 0, at = hashOffset; i < count; i++, at += hashStride)
      visit(firstRow + i, view.getUint32(at + 4, true), view.getUint32(at, true));
  }
}

/** The block that holds a row. @throws E_NOT_FOUND when the root has no such row */
export function rowBlock(root: WowRoot, row: number): WowRootBlock {
  if (!(row >= 0 && row < root.rowCount)) {
    throw new PakratError('E_NOT_FOUND', `${wowRootWhat} has no row ${row}`, { data: { row, rows: root.rowCount } });
  }
  let low = 0;
  let high = root.blocks.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (root.blocks[middle]!.firstRow <= row) low = middle;
    else high = middle;
  }
  return root.blocks[low]!;
}

/** The ckey of a row: a view of 16 bytes. Throws as {@link rowBlock}. */
export function rowCkey(root: WowRoot, row: number): Uint8Array {
  const block = rowBlock(root, row);
  return ckeyAt(root.bytes, block, row - block.firstRow);
}

/** The name hash of a row, 8 bytes big-endian as core's `nameHash` gives it, or undefined. Throws as {@link rowBlock}. */
export function rowNameHash(root: WowRoot, row: number): Uint8Array | undefined {
  const block = rowBlock(root, row);
  return nameHashAt(root.bytes, block, row - block.firstRow);
}
