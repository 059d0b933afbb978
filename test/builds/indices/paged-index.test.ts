import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { PagedIndex } from '../../../src/builds/indices/paged-index.ts';
import { md5 } from '../../../src/core/hash.ts';
import { encodeArchiveIndex } from '../../../src/formats/indices/archive-index.ts';
import { writeDerived } from '../../../src/store/derived/derived-writer.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const count = 1000;
const keyOf = (i: number): Uint8Array => md5(new TextEncoder().encode(`entry ${i}`));

function writeGroup(name: string): string {
  const entries = Array.from({ length: count }, (_, i) => ({ ekey: keyOf(i), size: i, offset: 7 * i, archive: i % 5 }));
  writeDerived(scratch(name), encodeArchiveIndex(entries, { offsetBytes: 6 }).bytes, scratch('tmp'));
  return scratch(name);
}

test('every entry is found by its key and by the start of it, and no other', () => {
  const index = new PagedIndex(writeGroup('group'));
  for (let i = 0; i < count; i++) {
    const found = { size: i, offset: 7 * i, archive: i % 5 };
    expect(index.find(keyOf(i))).toMatchObject(found);
    expect(index.find(keyOf(i).subarray(0, 9))).toMatchObject(found);
  }
  expect(index.find(keyOf(count))).toBeUndefined();
  expect(index.find(new Uint8Array(16).fill(0xff))).toBeUndefined();
  const keys: string[] = [];
  for (const page of index.pages()) for (const { ekey } of page) keys.push(Buffer.from(ekey).toString('hex'));
  expect(keys).toHaveLength(count);
  expect(keys).toEqual([...keys].sort());
  index.close();
});

test('every entry of an index with more pages than are kept is found, in whatever order', () => {
  const many = 200_000;
  const scattered = (i: number): Uint8Array => {
    const key = Buffer.alloc(16, 1);
    key.writeUInt32BE(Math.imul(i, 0x9e3779b1) >>> 0, 0);
    return key;
  };
  const entries = Array.from({ length: many }, (_, i) => ({
    ekey: scattered(i),
    size: i + 1,
    offset: 3 * i,
    archive: i % 7,
  }));
  writeDerived(scratch('large'), encodeArchiveIndex(entries, { offsetBytes: 6 }).bytes, scratch('tmp'));
  const index = new PagedIndex(scratch('large'));
  let wrong = 0;
  // Neighbours come again while their page is kept, and long after.
  for (let i = 0; i < 2 * many; i++) {
    const at = (i * 7 + (i % 3)) % many;
    const found = index.find(scattered(at));
    if (found?.size !== at + 1 || Buffer.compare(found.ekey, scattered(at)) !== 0) wrong += 1;
  }
  expect(wrong).toBe(0);
  index.close();
});

test('a page that is damaged is refused when it is read, the others are not; so is a damaged footer', () => {
  const path = writeGroup('damaged');
  const bytes = readFileSync(path);
  bytes[0]! ^= 1;
  writeFileSync(path, bytes);
  const index = new PagedIndex(path);
  const outcomes = new Set<unknown>();
  for (let i = 0; i < count; i++) {
    try {
      outcomes.add(index.find(keyOf(i))?.size === i);
    } catch (error) {
      outcomes.add((error as { code: string }).code);
    }
  }
  index.close();
  expect(outcomes).toEqual(new Set([true, 'E_FORMAT_CHECKSUM']));
  bytes[bytes.length - 10]! ^= 1;
  writeFileSync(path, bytes);
  expect(() => new PagedIndex(path)).toThrow(expect.objectContaining({ code: 'E_FORMAT_CHECKSUM' }));
});
