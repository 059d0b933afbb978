import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { GrowingFile } from '../../src/files/growing-file.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

test('what was appended, and written over, is read as it is while the file grows', () => {
  const file = new GrowingFile(scratch('tmp'));
  const truth = Buffer.alloc(5 << 20);
  let size = 0;
  // Some fit into what waits in memory, some are larger than it.
  for (const length of [10, 700_000, 400_000, 3, 1_500_000, 5, 900_000, 200_000]) {
    const piece = randomBytes(length);
    piece.copy(truth, size);
    file.append(piece);
    size += length;
    expect(file.size).toBe(size);
    for (const offset of [0, size >>> 1, Math.max(0, size - 70_000)]) {
      const wanted = Math.min(100_000, size - offset);
      expect(Buffer.compare(file.read(offset, wanted), truth.subarray(offset, offset + wanted))).toBe(0);
      const over = randomBytes(Math.min(8, wanted));
      over.copy(truth, offset);
      file.write(over, offset);
      expect(Buffer.compare(file.read(offset, over.length), over)).toBe(0);
    }
  }
  const all = createHash('md5');
  for (const piece of file.pieces(48)) all.update(piece);
  expect(all.digest('hex')).toBe(md5(truth.subarray(0, size)));
  const { read } = file.ahead();
  expect(Buffer.compare(read(size - 9, 9), truth.subarray(size - 9, size))).toBe(0);
  expect(() => file.read(size - 1, 2)).toThrow('outside its');
  file.close();
  expect(readdirSync(scratch('tmp'))).toEqual([]);
});

test('a few bytes make no file, and without a folder many do not either', () => {
  for (const [folder, size] of [
    [scratch('few'), 5000],
    [undefined, 3 << 20],
  ] as const) {
    const bytes = randomBytes(size);
    const file = new GrowingFile(folder);
    for (let at = 0; at < size; at += 777) file.append(bytes.subarray(at, at + 777));
    file.write(Buffer.from('over'), 100);
    bytes.write('over', 100);
    expect(Buffer.concat([...file.pieces()].map((piece) => Buffer.from(piece))).equals(bytes)).toBe(true);
    expect(Buffer.compare(file.read(99, 50), bytes.subarray(99, 149))).toBe(0);
    expect(existsSync(scratch('few'))).toBe(false);
    expect(() => file.read(size - 1, 2)).toThrow('outside its');
    file.close();
  }
});
