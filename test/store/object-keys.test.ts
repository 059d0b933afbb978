import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { armadillo } from '../../src/formats/armadillo.ts';
import { Ledger } from '../../src/store/ledger/ledger.ts';
import { objectKeyRow, objectKeys } from '../../src/store/object-keys.ts';
import { codeOf } from '../support/thrown-code.ts';

const hash = '00112233445566778899aabbccddeeff';
const key = '000102030405060708090a0b0c0d0e0f';
const data = `tpr/x/data/00/11/${hash}`;
let folder: string;
let ledger: Ledger;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pakrat-object-keys-'));
  ledger = new Ledger(join(folder, 'ledger.db'));
});
afterEach(() => {
  ledger.close();
  rmSync(folder, { recursive: true });
});

test('objects of a path that is not encrypted are left as they are', () => {
  const keys = objectKeys(ledger, true);
  const bytes = Uint8Array.of(1, 2, 3);
  expect(keys.keyOf(data)).toBeUndefined();
  expect(keys.decrypt(data, bytes)).toBe(bytes);
});

test('what was learned of a path holds for configs, indices, data and patches of it, and for nothing else; the next run knows it', () => {
  objectKeys(ledger, true).learn('tpr/x', 'SomeKey');
  ledger.addKeys([objectKeyRow('SomeKey', key, 'SomeKey.ak')]);
  const keys = objectKeys(ledger, true);
  const stretch = { key: Buffer.from(key, 'hex'), hash, offset: 70 };
  const bytes = Uint8Array.from({ length: 100 }, (_, i) => i);
  for (const path of [data, `tpr/x/config/00/11/${hash}`, `tpr/x/patch/00/11/${hash}.index`]) {
    expect(keys.decrypt(path, bytes, 70)).toEqual(armadillo(bytes, stretch));
  }
  for (const path of [`tpr/y/data/00/11/${hash}`, `tpr/x/00/11/${hash}`, `tpr/configs/data/00/11/${hash}`]) {
    expect(keys.decrypt(path, bytes, 70)).toBe(bytes);
  }
});

test('a key that is not there is named, and found once it is', () => {
  const keys = objectKeys(ledger, true);
  keys.learn('tpr/x', 'SomeKey');
  expect(codeOf(() => keys.keyOf(data))).toBe('E_KEY_MISSING');
  expect(() => keys.decrypt(data, new Uint8Array(1))).toThrow('SomeKey.ak');
  ledger.addKeys([objectKeyRow('somekey', key, 'somekey.ak')]);
  expect(keys.keyOf(data)).toHaveLength(16);
});

test('a ledger that may not be written is not: what was learned lasts as long as the handle', () => {
  const keys = objectKeys(ledger, false);
  keys.learn('tpr/x', 'SomeKey');
  expect(codeOf(() => keys.keyOf(data))).toBe('E_KEY_MISSING');
  expect(objectKeys(ledger, false).keyOf(data)).toBeUndefined();
});
