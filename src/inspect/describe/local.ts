import { toHex } from '../../core/bytes.ts';
import { ByteReader } from '../../core/reader.ts';
import { decodeLocalHeader, localHeaderSize } from '../../formats/local/local-header.ts';
import { decodeLocalIndex } from '../../formats/local/local-index.ts';
import { decodeShmem } from '../../formats/local/local-shmem.ts';
import { type Description, listedTable } from './description.ts';

/** True for an .idx file of version 7: a header of 16 bytes, then the version. */
export function isLocalIndex(bytes: Uint8Array): boolean {
  if (bytes.length < 0x28) return false;
  const reader = new ByteReader(bytes, 'local index');
  if (reader.u32le() !== 16) return false;
  reader.skip(4);
  return reader.u16le() === 7 && reader.u8() < 16;
}

/** An .idx file of an installation. */
export function describeLocalIndex(bytes: Uint8Array): Description {
  const index = decodeLocalIndex(bytes);
  let entries = 0;
  for (const _ of index) entries += 1;
  return {
    facts: { bucket: bytes[10], entries },
    table: listedTable('entries', ['key', 'archive', 'offset', 'size'], entries, function* () {
      for (const { key, archive, offset, size } of index) yield [toHex(key), archive, offset, size];
    }),
  };
}

/** True when 30 bytes of local header stand before a BLTE object, as in a data.NNN file. */
export function isLocalData(bytes: Uint8Array): boolean {
  return (
    bytes.length > localHeaderSize + 8 && new ByteReader(bytes, 'local entry', localHeaderSize).latin1(4) === 'BLTE'
  );
}

/** A data.NNN file, or a piece of one: entries one after the other. */
export function describeLocalData(bytes: Uint8Array): Description {
  const first = decodeLocalHeader(bytes);
  const entries = [...localEntries(bytes)];
  const end = Math.min(bytes.length, Math.max(first.size, localHeaderSize));
  return {
    facts: { entries: entries.length, firstEkey: first.ekey, firstHeaderIsIntact: first.isIntact },
    table: {
      what: 'entries',
      columns: ['ekey', 'offset', 'size', 'headerIsIntact'],
      count: entries.length,
      *rows(from) {
        for (const { ekey, offset, size, isIntact } of entries.slice(from))
          yield [ekey, offset, size, isIntact ? 'yes' : 'no'];
      },
    },
    // Of several entries none is more than another.
    ...(entries.length <= 1 && { inside: () => bytes.subarray(localHeaderSize, end) }),
  };
}

function* localEntries(bytes: Uint8Array) {
  for (let offset = 0; isLocalData(bytes.subarray(offset)); ) {
    const header = decodeLocalHeader(bytes.subarray(offset));
    yield { ...header, offset };
    if (header.size < localHeaderSize) return;
    offset += header.size;
  }
}

/** The shmem file of an installation. */
export function describeShmem(bytes: Uint8Array): Description {
  const { version, dataFolder, generations, freeTable } = decodeShmem(bytes);
  return {
    facts: {
      version,
      dataFolder,
      freeTableOffset: freeTable.offset,
      freeTableSize: freeTable.size,
      generations: generations.map((generation, bucket) => `bucket ${bucket}: ${generation}`),
    },
  };
}
