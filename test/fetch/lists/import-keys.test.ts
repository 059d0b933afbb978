import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { importKeyFiles } from '../../../src/fetch/lists/import-keys.ts';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import { conformancePath, describeConformance } from '../../support/conformance.ts';

let folder: string;
let ledger: Ledger;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pakrat-keys-'));
  ledger = new Ledger(join(folder, 'ledger.db'));
});
afterEach(() => {
  ledger.close();
  rmSync(folder, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const name = '0123456789ABCDEF';
const key = (digit: string): string => digit.repeat(32);

test('a list: new, known and changed keys are counted; case and further fields do not matter', async () => {
  expect(
    await importKeyFiles(ledger, [
      file('a.txt', `${name} ${key('A')}\n\n# comment\nFEDCBA9876543210 ${key('b')} 2019 reserved\n`),
    ]),
  ).toEqual({
    read: 2,
    added: 2,
    changed: 0,
  });
  expect(
    await importKeyFiles(ledger, [file('b.txt', `${name.toLowerCase()} ${key('a')}\nFEDCBA9876543210 ${key('c')}\n`)]),
  ).toEqual({
    read: 2,
    added: 0,
    changed: 1,
  });
  expect(ledger.keys()).toMatchObject([
    { name: name.toLowerCase(), key: key('a') },
    { name: 'fedcba9876543210', key: key('c'), source: 'b.txt' },
  ]);
});

test('an import that was stopped takes nothing', async () => {
  const list = Array.from({ length: 100 }, (_, i) => `${i.toString(16).padStart(16, '0')} ${key('1')}`).join('\n');
  await expect(importKeyFiles(ledger, [file('a.txt', list)], AbortSignal.abort())).rejects.toMatchObject({
    code: 'E_ABORTED',
  });
  expect(ledger.keys()).toEqual([]);
});

test('a key ring names its keys backwards', async () => {
  await importKeyFiles(ledger, [file('ring', `# Keyring Configuration\n\nkey-efcdab8967452301 = ${key('d')}\n`)]);
  expect(ledger.key(name.toLowerCase())).toBe(key('d'));
});

test('of a key that comes again the last counts', async () => {
  const result = await importKeyFiles(ledger, [file('a', `${name} ${key('1')}\n`), file('b', `${name} ${key('2')}\n`)]);
  expect(result).toEqual({ read: 1, added: 1, changed: 0 });
  expect(ledger.key(name.toLowerCase())).toBe(key('2'));
});

test('a bad line is named with its file, and nothing is taken', async () => {
  const bad = file('bad.txt', `${name} ${key('1')}\nhello\n`);
  await expect(importKeyFiles(ledger, [file('good', `${name} ${key('1')}\n`), bad])).rejects.toMatchObject(
    expect.objectContaining({ code: 'E_FORMAT', message: expect.stringContaining('bad.txt') }),
  );
  expect(ledger.keys()).toEqual([]);
});

test('a key file is named by its key; a damaged one is refused', async () => {
  const ak = Buffer.from('000102030405060708090a0b0c0d0e0f1ac1ef01', 'hex');
  const path = join(folder, 'SomeDev.ak');
  writeFileSync(path, ak);
  expect(await importKeyFiles(ledger, [path])).toEqual({ read: 1, added: 1, changed: 0 });
  expect(ledger.keys()).toEqual([
    { name: 'somedev.ak', key: '000102030405060708090a0b0c0d0e0f', extra: '', source: 'SomeDev.ak' },
  ]);
  expect(await importKeyFiles(ledger, [path])).toEqual({ read: 1, added: 0, changed: 0 });
  writeFileSync(path, ak.fill(0, 0, 1).fill(9, 3, 4));
  await expect(importKeyFiles(ledger, [path])).rejects.toMatchObject(expect.objectContaining({ code: 'E_FORMAT' }));
});

describeConformance('importKeys on real files', () => {
  test('the public list, and a ring whose key is in it', async () => {
    const list = conformancePath('tact', 'TACTKeys', 'WoW-first-100.txt');
    const ring = conformancePath('tact', 'cascette-rs', 'config', 'overwatch_keyring_config.txt');
    expect(await importKeyFiles(ledger, [list, ring])).toEqual({ read: 163, added: 163, changed: 0 });
    expect(ledger.key('7758b2cf1e4e3e1b')).toBe('3de60d37c664723595f27c5cdbf08bfa');
  });
});
