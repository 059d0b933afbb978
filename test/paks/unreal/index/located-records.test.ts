import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { aesEcbEncrypt } from '../../../../src/codecs/ciphers/aes.ts';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { fileSource } from '../../../../src/files/file-source.ts';
import type { FillingSource } from '../../../../src/files/scratch.ts';
import { nameDecoder } from '../../../../src/paks/names.ts';
import { decodePrimaryIndex } from '../../../../src/paks/unreal/index/primary-index.ts';
import { LocatedRecords } from '../../../../src/paks/unreal/index/rows/located-records.ts';
import type { IndexStretch } from '../../../../src/paks/unreal/index/rows/shared-rows.ts';
import { fstring, i32, i64 } from '../../../support/pak-unreal.ts';
import { scratchFolder } from '../../../support/scratch.ts';

/* Encoded entries that stay in the file, written here by the description: each is what it is in memory. */

const format = { version: 11, hasByteMethod: false, hasIvs: false };
const options = { format, decodeName: nameDecoder(undefined) };
const key = new Uint8Array(32).fill(5);
const scratch = scratchFolder();

/** Blocks of an entry: most have none or one, some more than is read at once. */
const blocksOf = (row: number): number => (row % 1000 === 999 ? 65_535 : row % 50 === 49 ? 300 : row % 4);
const count = 5000;
const blocksAt = 6;
const encoded: Buffer[] = [];
const locations: number[] = [];
let size = 0;
for (let row = 0; row < count; row++) {
  const blocks = blocksOf(row);
  const bits = ((7 << 29) | (blocks > 0 ? 1 << 23 : 0) | (blocks << blocksAt) | 1) >>> 0;
  const numbers = [bits, row * 10, row, ...(blocks > 0 ? [row + 1] : []), ...(blocks > 1 ? Array(blocks).fill(7) : [])];
  const entry = Buffer.from(Uint32Array.from(numbers).buffer);
  locations.push(size);
  size += encoded.push(entry) && entry.length;
}
const plain = Buffer.concat([i64(77), i64(5), i64(5), i32(0), Buffer.alloc(20, 9), Buffer.alloc(5)]);
const head = [fstring('../../../'), i32(count), i64(0), i32(0), i32(0), i32(size)];
const unpadded = Buffer.concat([...head, ...encoded, i32(2), plain, plain]);
const index = Buffer.concat([unpadded, Buffer.alloc(16 - (unpadded.length % 16))]);
/** In front of the index in its file. */
const lead = 13;

const opened: FillingSource[] = [];
let forms: Record<string, { index: Uint8Array | IndexStretch; source: FillingSource }>;

beforeAll(async () => {
  const fileOf = async (name: string, bytes: Uint8Array): Promise<FillingSource> => {
    writeFileSync(scratch(name), Buffer.concat([Buffer.alloc(lead), bytes]));
    opened.push(await fileSource(scratch(name)));
    return opened.at(-1)!;
  };
  const stretch = { offset: lead, size: index.length };
  const cipher = { unit: { encryption: 'AES-256-ECB', iv: undefined }, key } as const;
  forms = {
    memory: { index, source: bytesSource(index) },
    file: { index: stretch, source: await fileOf('plain', index) },
    encrypted: { index: { ...stretch, cipher }, source: await fileOf('encrypted', aesEcbEncrypt(index, key)) },
  };
});
afterAll(async () => {
  for (const source of opened) await source.close();
});

function recordsOf(form: string): LocatedRecords {
  const { index: bytes, source } = forms[form]!;
  return decodePrimaryIndex(bytes, source, options).records;
}

describe.each(['memory', 'file', 'encrypted'])('encoded entries in %s', (form) => {
  test.each([
    ['forwards', (i: number) => i],
    ['backwards', (i: number) => count - 1 - i],
    ['in no order', (i: number) => (i * 2347) % count],
  ])('are what they are, asked for %s', (_order, rowOf) => {
    const records = recordsOf(form);
    for (let i = 0; i < count; i++) {
      const row = rowOf(i);
      records.check(locations[row]!);
      const { offset, size, storedSize, blockCount, bytes, blocksOffset } = records.at(locations[row]!);
      const blocks = blocksOf(row);
      const [seen, right] = [
        [offset, size, storedSize, blockCount],
        [row * 10, row, blocks > 0 ? row + 1 : row, blocks],
      ];
      if (seen.join() !== right.join()) expect(seen).toEqual(right);
      if (blocks < 2) continue;
      // The size of the last block is there, too.
      expect(bytes.subarray(blocksOffset, blocksOffset + blocks * 4).at(-4)).toBe(7);
    }
  });

  test('are nothing outside of them', () => {
    const records = recordsOf(form);
    for (const location of [size, size - 3, size + 100, 0x7fff_ffff, -3]) {
      expect(() => records.check(location)).toThrow(expect.objectContaining({ code: 'E_FORMAT_RANGE' }));
    }
    expect(records.at(locations[3]!).offset).toBe(30);
    for (const location of [-1, -2]) expect(records.at(location)).toMatchObject({ offset: 77, size: 5 });
  });

  test('are the same for a thread that is given where they lie', () => {
    const data = structuredClone(recordsOf(form).share());
    const records = new LocatedRecords(data, forms[form]!.source, format);
    for (const row of [0, 999, 4999]) expect(records.at(locations[row]!).offset).toBe(row * 10);
  });
});
