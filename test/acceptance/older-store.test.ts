import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { md5Hex } from '../../src/core/hash.ts';
import { checkHeldBytes, lostClaims, readClaims, servedObjects, wronglyServed } from '../support/held-bytes.ts';
import { randomSource } from '../support/hostile.ts';
import { makeOldStore, oldSchema, schemaOf } from '../support/old-store.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { pakratJson, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { describeTmpfs, withTmpfs } from '../support/tmpfs.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes; the machine may be busy.
jest.setTimeout(180_000);
const scratch = scratchFolder();
const old = scratch('old');
let cdn: SyntheticCdn;
let www: string;
/** MD5s of the files that the part has, by name. */
let held: Record<string, string>;

beforeAll(async () => {
  cdn = await syntheticCdn({ make: ['--files', '150', '--total-bytes', '2M', '--loose', '.1', '--seed', 'older'] });
  www = join(cdn.root, 'www');
  // Some archives whole, some in part.
  await withPakrat(service(old), (pakrat) => pakrat.sync('wow', { tags }));
  makeOldStore(old, { cutLoose: 2 });
  held = await filesOf(old, scratch('as-old'));
}, 180_000);
afterAll(() => cdn?.close());

/** All files that can be read without a network. The store itself is not touched: a copy is read. */
async function filesOf(store: string, to: string): Promise<Record<string, string>> {
  const copy = `${to}-store`;
  fs.cpSync(store, copy, { recursive: true });
  return readAll(copy, to);
}

async function readAll(store: string, to: string): Promise<Record<string, string>> {
  const value = await withPakrat({ store, offline: true }, (pakrat) => pakrat.extract('wow', { to }));
  expect(value.files).toBeGreaterThan(50);
  const names = fs.readdirSync(to, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => fs.statSync(join(to, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, md5Hex(fs.readFileSync(join(to, name)))]));
}

function copyOfOld(name: string): string {
  fs.cpSync(old, scratch(name), { recursive: true });
  return scratch(name);
}

const service = (store: string) => ({ store, patchUrl: cdn.url });
const tags = ['Windows', 'x86_64', 'enUS'];

test('it serves holes, which is what changed, and the pakrat that made it refuses what comes of it', async () => {
  expect(wronglyServed(old, www).length).toBeGreaterThan(0);
  const store = copyOfOld('opened');
  expect(schemaOf(store)).toBe(oldSchema);
  expect(await pakratJson(['status', '--store', store])).toMatchObject({ status: 0 });
  expect(schemaOf(store)).toBeGreaterThan(oldSchema);
  expect(wronglyServed(store, www)).toEqual([]);
  // What was whole stayed where it was.
  const whole = servedObjects(old).filter((path) => !wronglyServed(old, www).includes(path));
  expect(servedObjects(store)).toEqual(whole);
});

test('all that it holds is held, and nothing is fetched again', async () => {
  const store = copyOfOld('synced');
  const before = readClaims(store);
  expect(await readAll(store, scratch('as-new'))).toEqual(held);
  expect(lostClaims(before, readClaims(store))).toEqual([]);
  expect(await withPakrat(service(store), (pakrat) => pakrat.verify())).toMatchObject({ bad: [] });
  const sent = cdn.requests().length;
  const report = await withPakrat(service(store), (pakrat) => pakrat.sync('wow', { tags }));
  expect(report).toMatchObject({ missing: { entries: 0 } });
  const cut = 2;
  const asked = cdn.requests().slice(sent);
  const data = asked.filter(({ path }) => path.startsWith('/tpr/wow/'));
  // The second halves of two loose objects, and nothing else.
  expect(data.map(({ status, range }) => [status, range])).toEqual(
    Array.from({ length: cut }, () => [206, expect.stringMatching(/^bytes=[1-9]/)]),
  );
  expect(checkHeldBytes(store, www).wrong).toEqual([]);
  expect(fs.readdirSync(join(store, 'tmp'))).toEqual([]);
});

test('a kill while its files move costs nothing; the next command goes on', async () => {
  const store = copyOfOld('killed');
  const before = readClaims(store);
  const random = randomSource(4);
  for (let kill = 0; kill < 5; kill++) {
    const { child, ended } = startPakrat(['status', '--store', store]);
    setTimeout(() => child.kill('SIGKILL'), 150 + random() * 250);
    await ended;
    expect(lostClaims(before, readClaims(store))).toEqual([]);
  }
  expect(await pakratJson(['status', '--store', store])).toMatchObject({ status: 0 });
  expect(checkHeldBytes(store, www).wrong).toEqual([]);
  expect(await readAll(store, scratch('as-killed'))).toEqual(held);
});

describeTmpfs('where it cannot be written', () => {
  test('it is read as it is', async () => {
    await withTmpfs('64m', async (folder, _, remount) => {
      fs.cpSync(old, join(folder, 'store'), { recursive: true });
      remount('ro');
      expect(await readAll(join(folder, 'store'), scratch('as-read-only'))).toEqual(held);
      expect(schemaOf(join(folder, 'store'))).toBe(oldSchema);
    });
  });
});
