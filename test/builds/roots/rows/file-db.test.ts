import { describe, expect, test } from '@jest/globals';
import { openRoot } from '../../../../src/builds/roots/index.ts';
import { fileDbRows } from '../../../../src/builds/roots/rows/file-db.ts';
import { fromHex } from '../../../../src/core/bytes.ts';
import { md5Hex } from '../../../../src/core/hash.ts';
import { encodeBlte } from '../../../../src/formats/blte/encode.ts';
import { emptyKeyRing } from '../../../../src/formats/blte/keys.ts';
import { expectHostileSafe } from '../../../support/hostile.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { codeOf } from '../../../support/thrown-code.ts';
import { type DbFile, fileDb } from '../file-db-bytes.ts';
import { openSmallRoot, smallPlace } from '../small-build.ts';

const scratch = scratchFolder();
const key = (digit: string): string => digit.repeat(32);
const files: DbFile[] = Array.from({ length: 300 }, (_, i) => ({
  path: `Data\\level ${i % 7}\\file${i}.pak`,
  ekey: md5Hex(Uint8Array.of(1, i & 255, i >> 8)),
  ckey: md5Hex(Uint8Array.of(2, i & 255, i >> 8)),
  size: i * 10,
  encodedSize: i * 9 + 8,
}));
const database = fileDb(files);
const rows = (bytes: Uint8Array, keys = emptyKeyRing) => [...fileDbRows(bytes, keys)];

test('a file database is the names of a build that has no root', async () => {
  const root = await openSmallRoot(scratch, {
    objects: [database],
    config: [`root = ${key('0')}`, `build-file-db = ${md5Hex(database)} ${key('2')}`],
  });
  expect(root.kind).toBe('file-db');
  const parts = ({ ekey, ckey, size, encodedSize }: DbFile) => [{ ekey, ckey, size, encodedSize }];
  expect(root.find('data/LEVEL 3/file17.pak')).toMatchObject([
    { name: 'Data/level 3/file17.pak', parts: parts(files[17]!) },
  ]);
  expect([...root.list(() => true)].map(({ name, parts }) => ({ name, parts }))).toEqual(
    files
      .map((file) => ({ name: file.path.replaceAll('\\', '/'), parts: parts(file) }))
      .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))),
  );
  root.close();
});

describe('an encrypted one', () => {
  const keyName = '1122334455667788';
  const keys = { find: (name: string) => (name === keyName ? fromHex(key('a')) : undefined) };
  // An object without a table is eight bytes and one chunk.
  const locked = encodeBlte(database, `e:{${keyName},01020304,n}`, {
    keys: { find: () => fromHex(key('a')) },
  }).bytes.subarray(8);
  const keyNames: string[] = [];

  test('is refused with the name of its key, and read with the key', async () => {
    expect(locked[0]).toBe(0x45);
    try {
      rows(locked, { find: (name) => void keyNames.push(name) });
      throw new Error('read without a key');
    } catch (error) {
      expect(error).toMatchObject({ code: 'E_KEY_MISSING', message: expect.stringContaining(keyNames[0]!) });
    }
    const ring = { find: (name: string) => (name === keyNames[0] ? fromHex(key('a')) : keys.find(name)) };
    expect(rows(locked, ring)).toEqual(rows(database));
    const place = smallPlace(scratch, { objects: [locked], config: [`build-file-db = ${md5Hex(locked)}`] });
    await expect(openRoot(place)).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
    expect((await openRoot({ ...place, keys: ring })).kind).toBe('file-db');
  });

  test('that does not say how says that', () => {
    expect(codeOf(() => rows(Uint8Array.from({ length: 500 }, () => 0x45)))).toBe('E_KEY_MISSING');
  });
});

test('what is no table of files is refused', () => {
  const refused = (schema: string) => codeOf(() => rows(fileDb([], schema)));
  const endless =
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS file_index, i AS ekey, i AS ckey, i AS encoded_size, i AS decoded_size, i AS relative_path FROM n';
  expect(refused('CREATE TABLE others (a)')).toBe('E_FORMAT');
  expect(refused('CREATE TABLE files (ekey, ckey)')).toBe('E_FORMAT');
  expect(refused(`CREATE VIEW files AS ${endless}`)).toBe('E_FORMAT');
  const computed = 'ekey BLOB AS (zeroblob(16)), ckey, encoded_size, decoded_size, relative_path';
  expect(refused(`CREATE TABLE files (${computed})`)).toBe('E_FORMAT');
  expect(codeOf(() => rows(new Uint8Array(100)))).toBe('E_FORMAT_MAGIC');
  expect(codeOf(() => rows(fileDb([{ ...files[1]!, ekey: 'abcd' }])))).toBe('E_FORMAT');
});

test('whatever comes is told or refused', () => {
  expectHostileSafe((bytes) => rows(bytes), fileDb(files.slice(0, 40)), { prefixesFail: false, samples: 150 });
});
