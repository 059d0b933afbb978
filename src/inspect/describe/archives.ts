import { ByteReader } from '../../core/reader.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { blteFormat, decodeBltePrefix, ekeyOfBlte } from '../../formats/blte/header.ts';
import { canBeRead, type Format } from '../../formats/format.ts';
import { pakFamilies } from '../../paks/index.ts';
import { decodePacklist } from '../../paks/nadeo/keys/packlist.ts';
import { type Description, fieldTable, tableOf } from './description.ts';

interface ArchiveEntry {
  offset: number;
  size: number;
  ekey: string;
}

/** Several BLTE objects one after the other. */
export const archiveFormat: Format = {
  name: 'archive',
  needsAll: true,
  matches(bytes) {
    const [first] = archiveEntries(bytes);
    return first !== undefined && blteFormat.matches(bytes.subarray(first.size));
  },
};

/** An archive of a CDN. Where an entry ends its chunk table says; one without a table ends what can be told without the index. */
export function describeArchive(bytes: Uint8Array): Description {
  const entries = [...archiveEntries(bytes)];
  const last = entries.at(-1);
  const covered = last === undefined ? 0 : last.offset + last.size;
  return {
    facts: { entries: entries.length, bytesWithoutTable: bytes.length - covered },
    table: fieldTable('entries', ['ekey', 'offset', 'size'], entries),
  };
}

function* archiveEntries(bytes: Uint8Array): Generator<ArchiveEntry> {
  for (let offset = 0; blteFormat.matches(bytes.subarray(offset)); ) {
    const size = entrySize(bytes.subarray(offset));
    if (size === undefined) return;
    yield { offset, size, ekey: ekeyOfBlte(bytes.subarray(offset, offset + size)) };
    offset += size;
  }
}

/** Bytes of the object that starts here, as its table says; undefined without a table, or when it does not end in the archive. */
function entrySize(bytes: Uint8Array): number | undefined {
  try {
    const headerSize = decodeBltePrefix(bytes.subarray(0, 8));
    const table = new ByteReader(bytes, 'BLTE', 8);
    if (headerSize === 8) return undefined;
    const stride = table.u8() === 0x10 ? 40 : 24;
    const count = table.u24();
    const rows = new RecordTable(table.take(headerSize - table.pos), stride, count);
    let size = headerSize;
    for (const row of rows) size += new ByteReader(row, 'BLTE').u32();
    return size <= bytes.length ? size : undefined;
  } catch {
    return undefined;
  }
}

const endSize = 4096;

/** A PAK archive of a family that is known. */
export const pakFormat: Format = {
  name: 'PAK archive',
  needsAll: true,
  matches: (bytes) => pakFamilyOf(bytes) !== undefined,
};

/** A PAK archive: other commands read those. */
export function describePak(bytes: Uint8Array): Description {
  return { facts: { family: pakFamilyOf(bytes), see: '`pakrat info FILE` and `pakrat ls FILE` read PAK archives' } };
}

function pakFamilyOf(bytes: Uint8Array): string | undefined {
  return pakFamilies.find(({ matches }) => matches(bytes.subarray(0, endSize), bytes.subarray(-endSize)))?.name;
}

const readsAsPacklist = canBeRead(decodePacklist, () => true);

/** A packlist.dat: its signature tells. */
export const packlistFormat: Format = {
  name: 'packlist.dat',
  needsAll: true,
  matches: (bytes) => bytes[0] === 1 && bytes.length <= 0x4000 && readsAsPacklist(bytes),
};

/** A packlist.dat: names only, for keys are not for the screen. */
export function describePacklist(bytes: Uint8Array): Description {
  const { game, entries } = decodePacklist(bytes);
  return {
    facts: { game, packs: entries.length, see: '`pakrat keys import FILE` takes its keys into the store' },
    table: tableOf('packs', ['name', 'key'], entries, ({ name, keyString }) => [
      name,
      keyString === undefined ? 'bound to a product' : 'there',
    ]),
  };
}
