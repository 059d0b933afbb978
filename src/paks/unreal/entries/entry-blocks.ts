import { alignToBlock } from '../../../codecs/ciphers/aes.ts';
import { ByteReader } from '../../../core/reader.ts';
import { blockRecordSize, dataOffset, type EntryRecord, type RecordFormat, readSize } from './entry-record.ts';

/** Bytes of the stored form of one block, in the file. */
export interface BlockRange {
  start: number;
  /** Without padding. */
  end: number;
}

/**
 * The places of a compressed entry's blocks.
 * @param first number of the first one that is wanted: large entries have thousands
 * @throws E_FORMAT_RANGE for numbers that no file can have
 */
export function* blockRanges(record: EntryRecord, { version }: RecordFormat, first = 0): Generator<BlockRange> {
  const { blocksOffset, blockCount, blockStride, offset, encrypted } = record;
  let next = dataOffset(record);
  if (blocksOffset < 0) {
    if (blockCount > first) yield { start: next, end: next + record.storedSize };
    return;
  }
  const isPair = blockStride === blockRecordSize;
  const reader = new ByteReader(record.bytes, 'blocks of an Unreal PAK entry', blocksOffset);
  if (isPair) reader.skip(first * blockRecordSize);
  const base = version >= 5 ? offset : 0;
  for (let i = isPair ? first : 0; i < blockCount; i++) {
    const start = isPair ? base + readSize(reader) : next;
    const end = isPair ? base + readSize(reader) : next + reader.u32le();
    if (i >= first) yield { start, end };
    next = encrypted ? start + alignToBlock(end - start) : end;
  }
}
