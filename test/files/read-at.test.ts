import * as fs from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { readOwn } from '../../src/files/read-at.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
beforeAll(() => fs.mkdirSync(scratch('files')));

function fileOf(name: string, bytes: Uint8Array): string {
  const file = join(scratch('files'), name);
  fs.writeFileSync(file, bytes);
  return file;
}

test.each([0, 1, 100, 5000, 1 << 20])('a file of %i bytes is read into memory that nobody else has', (size) => {
  const content = new Uint8Array(size).map((_, i) => i * 7);
  const bytes = readOwn(fileOf(`file${size}`, content));
  expect(bytes).toEqual(content);
  // Not a Buffer, whose slices are no copies.
  expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
  expect(bytes.buffer.byteLength).toBe(size);
});

test('a large file is in memory once', () => {
  const size = 8 << 20;
  const file = fileOf('large', new Uint8Array(size));
  const before = process.memoryUsage().arrayBuffers;
  expect(readOwn(file).length).toBe(size);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1.5 * size);
});

test('one that is not there is the error of the system', () => {
  expect(() => readOwn(join(scratch('files'), 'none'))).toThrow('ENOENT');
});
