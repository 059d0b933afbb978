import { toHex } from '../../core/bytes.ts';
import { decodeLocalHeader, localDataFormat, localHeaderSize } from '../../formats/local/local-header.ts';
import { decodeLocalIndex } from '../../formats/local/local-index.ts';
import { decodeShmem } from '../../formats/local/local-shmem.ts';
import { countOf, type Description, tableOf } from './description.ts';

/** An .idx file of an installation. */
export function describeLocalIndex(bytes: Uint8Array): Description {
  const index = decodeLocalIndex(bytes);
  const count = countOf(index);
  return {
    facts: { bucket: bytes[10], entries: count },
    table: tableOf('entries', ['key', 'archive', 'offset', 'size'], { count, items: index }, (entry) => {
      return [toHex(entry.key), entry.archive, entry.offset, entry.size];
    }),
  };
}

/** A data.NNN file, or a piece of one: entries one after the other. */
export function describeLocalData(bytes: Uint8Array): Description {
  const first = decodeLocalHeader(bytes);
  const entries = [...localEntries(bytes)];
  const end = Math.min(bytes.length, Math.max(first.size, localHeaderSize));
  return {
    facts: { entries: entries.length, firstEkey: first.ekey, firstHeaderIsIntact: first.isIntact },
    table: tableOf('entries', ['ekey', 'offset', 'size', 'headerIsIntact'], entries, (entry) => {
      return [entry.ekey, entry.offset, entry.size, entry.isIntact ? 'yes' : 'no'];
    }),
    // Of several entries none is more than another.
    ...(entries.length <= 1 && { inside: () => bytes.subarray(localHeaderSize, end) }),
  };
}

function* localEntries(bytes: Uint8Array) {
  for (let offset = 0; localDataFormat.matches(bytes.subarray(offset)); ) {
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
