import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { StatusReport } from '../../src/app/status.ts';
import type { VerifyResult } from '../../src/app/verify.ts';
import { verifyExitCode } from '../../src/cli/render/verify.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { damageLedger } from '../support/random-damage.ts';
import { scratchFolder } from '../support/scratch.ts';
import {
  flipBytes,
  partlySyncedStore,
  type StoreCopy,
  type SyncedStore,
  syncedStore,
} from '../support/synced-store.ts';

const scratch = scratchFolder();
let synced: SyncedStore;
let partly: SyncedStore;
let number = 0;
let store: StoreCopy;

beforeAll(async () => {
  synced = await syncedStore(scratch('original'), ['--files', '60', '--total-bytes', '500K', '--archives', '3']);
  partly = await partlySyncedStore(scratch('part'), synced.cdn);
});
afterAll(() => synced.cdn.close());

const copy = (of = synced): StoreCopy => {
  number += 1;
  store = of.copyTo(scratch(`copy${number}`));
  return store;
};
const verify = (): Promise<VerifyResult> => store.with((pakrat) => pakrat.verify());
const repair = (): Promise<VerifyResult> => store.with((pakrat) => pakrat.repair());
const sync = (): Promise<unknown> => store.with((pakrat) => pakrat.sync('wow', { all: true }));
const flip = (path: string, first: number, step?: number): void =>
  writeFileSync(store.file(path), flipBytes(readFileSync(store.file(path)), first, step));
const wrongBytes = (): string[] => checkHeldBytes(store.root, join(synced.cdn.root, 'www')).wrong;

/** Everything is checked, and nothing that is held is wrong. Gives back what the store says of itself. */
async function expectWhole(): Promise<StatusReport> {
  const { whole, status } = await store.with(async (pakrat) => ({
    whole: await pakrat.verify(),
    status: await pakrat.status(),
  }));
  expect({ ...whole, code: verifyExitCode(whole) }).toMatchObject({ bad: [], code: 0 });
  expect(whole.unchecked).toBeUndefined();
  expect(wrongBytes()).toEqual([]);
  return status;
}

test('a repair writes into no file that has another name', async () => {
  const { archives, indices, configs, loose } = copy().objects();
  const damaged = [archives[0]!, indices[1]!, configs[0]!, loose[0]!];
  for (const path of damaged) flip(path, 200, 4000);
  const linked = [...archives, ...indices, ...configs, ...loose];
  const other = (path: string): string => scratch(`links${number}-${path.replaceAll('/', '-')}`);
  for (const path of linked) linkSync(store.file(path), other(path));
  const before = linked.map((path) => readFileSync(other(path)));
  const { bad, repaired } = await repair();
  expect(bad.length).toBe(repaired);
  expect(bad.length).toBeGreaterThanOrEqual(damaged.length);
  expect(linked.map((path) => readFileSync(other(path)).equals(before.shift()!))).not.toContain(false);
  await expectWhole();
});

test('a key ring that is damaged, and whose row is lost: a repair fetches it', async () => {
  const [keyRing = ''] = copy()
    .objects()
    .configs.filter((path) => readFileSync(store.file(path), 'latin1').startsWith('# Keyring'));
  const right = readFileSync(store.file(keyRing));
  writeFileSync(store.file(keyRing), Buffer.concat([right.subarray(0, 32), Buffer.alloc(right.length - 32)]));
  store.sql(`UPDATE objects SET path = substr(path, 1, 40) || '>' || substr(path, 42) WHERE path = '${keyRing}'`);
  const { unchecked } = await verify();
  expect(unchecked).toEqual([expect.objectContaining({ name: keyRing })]);
  await repair();
  expect(readFileSync(store.file(keyRing)).equals(right)).toBe(true);
  await expectWhole();
});

describe('an index that is not there', () => {
  test('its archive is not passed over: verify says so and ends with 9, a sync brings the index back', async () => {
    const { archives } = copy().objects();
    const [archive] = archives as [string];
    rmSync(store.file(`${archive}.index`));
    store.sql(`DELETE FROM objects WHERE path = '${archive}.index'`);
    const found = await verify();
    expect(found.bad).toEqual([]);
    expect(found.unchecked).toContainEqual(
      expect.objectContaining({ name: archive, message: expect.stringContaining('its index is not held') }),
    );
    expect(verifyExitCode(found)).toBe(9);
    await sync();
    await expectWhole();
  });

  test('damaged, and bytes of its archive too: 3 while wrong bytes may be held, and one --repair mends both', async () => {
    const { archives, indices } = copy().objects();
    for (const path of archives) flip(path, 50, 5000);
    for (const path of indices) flip(path, 10);
    const first = await verify();
    expect(verifyExitCode(first)).toBe(3);
    // The damaged index is gone now. That must hide nothing.
    const second = await verify();
    expect(second.unchecked?.map(({ name }) => name)).toEqual(expect.arrayContaining(archives));
    expect(verifyExitCode(second)).toBe(9);
    const third = await repair();
    expect(third.bad.length).toBeGreaterThan(archives.length);
    expect({ code: verifyExitCode(third), repaired: third.repaired }).toEqual({ code: 0, repaired: third.bad.length });
    await expectWhole();
  });

  test('an entry, its index and the CDN config that names it, at once: one --repair', async () => {
    const { archives, indices, configs } = copy().objects();
    for (const path of archives) flip(path, 50, 5000);
    for (const path of [...indices, ...configs]) flip(path, 3);
    const mended = await repair();
    expect({ code: verifyExitCode(mended), repaired: mended.repaired }).toEqual({
      code: 0,
      repaired: mended.bad.length,
    });
    await expectWhole();
  });
});

describe('what no host has any more', () => {
  test('a key ring that was held is not forgotten in silence: it is told each time, until a host has it again', async () => {
    const ring = copy()
      .objects()
      .configs.find((path) => readFileSync(store.file(path), 'latin1').startsWith('# Keyring'));
    if (ring === undefined) throw new Error('the build has no key ring');
    const served = join(synced.cdn.root, 'www', ring);
    flip(ring, 5);
    renameSync(served, `${served}.away`);
    try {
      expect(verifyExitCode(await repair())).not.toBe(0);
      const again = await verify();
      expect(again.unchecked).toMatchObject([{ name: ring }]);
      expect(verifyExitCode(again)).toBe(9);
    } finally {
      renameSync(`${served}.away`, served);
    }
    expect(verifyExitCode(await repair())).toBe(0);
    await expectWhole();
    expect(existsSync(store.file(ring))).toBe(true);
  });
});

describe('a ledger that is lost', () => {
  test.each([true, false])('and a sync: every archive can be checked (archive groups kept: %p)', async (groupsKept) => {
    const { archives } = copy().objects();
    for (const suffix of ['', '-wal', '-shm']) rmSync(store.file(`ledger.db${suffix}`), { force: true });
    if (!groupsKept) rmSync(store.file('groups'), { recursive: true });
    const before = synced.cdn.bytesSent();
    await sync();
    expect(synced.cdn.bytesSent() - before).toBeLessThan(20_000);
    for (const path of archives) flip(path, 50, 5000);
    const found = await verify();
    expect(found.bad.length).toBeGreaterThan(archives.length);
    expect(found.unchecked).toBeUndefined();
    expect(wrongBytes()).toEqual([]);
  });

  test('in part: an index that lies there is taken over when it is right, and its archive checked', async () => {
    const { archives } = copy().objects();
    store.sql("DELETE FROM objects WHERE path LIKE '%.index' OR path LIKE '%/config/%'");
    for (const path of archives) flip(path, 50, 5000);
    const found = await verify();
    expect(found.unchecked).toBeUndefined();
    expect(found.bad.length).toBeGreaterThan(archives.length);
    expect(wrongBytes()).toEqual([]);
  });
});

describe('rows of the ledger that are not true', () => {
  test.each([
    ['a span that ends too late', 'UPDATE spans SET end = end + 100000'],
    ['spans before their start', 'UPDATE spans SET end = start - 1'],
    ['spans of no object', 'PRAGMA foreign_keys = OFF; UPDATE spans SET object = object + 100000'],
    [
      'a span of another object',
      "UPDATE spans SET object = (SELECT min(id) FROM objects WHERE path LIKE '%.index') WHERE object = (SELECT min(object) FROM spans)",
    ],
    ['spans that are text', "UPDATE spans SET end = 'end'"],
    ['spans that start later', 'UPDATE spans SET start = start + 700'],
    ['archives that are whole', 'UPDATE objects SET complete = 1 WHERE complete = 0'],
    ['objects that are not whole', 'UPDATE objects SET complete = 0'],
    ['objects that are neither', 'UPDATE objects SET complete = 3'],
    ['other sizes', 'UPDATE objects SET size = size + 1 WHERE complete = 1'],
    ['paths of nothing', "UPDATE objects SET path = replace(path, '/data/', '/dada/')"],
    ['other paths', "UPDATE objects SET path = substr(path, 1, length(path) - 1) || 'z' WHERE id % 2"],
    ['rows that are gone', 'DELETE FROM objects WHERE id % 2'],
  ])('%s: found, and mended by one --repair', async (_title, sql) => {
    copy(/span|complete = 0/.test(sql) ? partly : synced).sql(sql);
    const found = await verify();
    expect(verifyExitCode(found)).toBe(3);
    expect(wrongBytes()).toEqual([]);
    const code = verifyExitCode(await repair());
    expect(code).toBe(0);
    const status = await expectWhole();
    expect(status.builds[0]?.held).toEqual(status.builds[0]?.wanted);
  });
});

test('a build is restored by what the version services said, which an earlier --repair asked again', async () => {
  copy().sql('DELETE FROM answers');
  expect(verifyExitCode(await repair())).toBe(0);
  damageLedger(store.root, "UPDATE builds SET product = 'wo7'");
  expect(verifyExitCode(await repair())).toBe(0);
  expect(await expectWhole()).toMatchObject({ builds: [{ product: 'wow' }] });
});

test.each([
  ['damaged', 'UPDATE builds SET wanted_entries = wanted_entries * 60'],
  ['gone', 'DELETE FROM builds'],
])('the row of a build is %s, and an archive was forgotten before that was known: one --repair', async (_what, sql) => {
  const { archives } = copy().objects();
  damageLedger(store.root, sql);
  rmSync(store.file(archives[0] as string));
  mkdirSync(store.file(archives[0] as string));
  expect(verifyExitCode(await verify())).toBe(3);
  expect(verifyExitCode(await repair())).toBe(0);
  const status = await expectWhole();
  expect(status.builds[0]?.held).toEqual(status.builds[0]?.wanted);
});

describe('bytes behind the end', () => {
  test.each(['archives', 'indices', 'configs', 'loose'] as const)(
    'of %s that are whole: found, and never served again',
    async (kind) => {
      const [path] = copy().objects()[kind] as [string];
      appendFileSync(store.file(path), 'more');
      const found = await verify();
      expect(found.bad).toEqual([expect.objectContaining({ name: path, code: 'E_INTEGRITY' })]);
      expect(verifyExitCode(found)).toBe(3);
      expect(wrongBytes()).toEqual([]);
      expect(verifyExitCode(await repair())).toBe(0);
      await expectWhole();
    },
  );
});

describe('something else where an object belongs', () => {
  test.each(['archives', 'indices', 'configs', 'loose'] as const)(
    'a folder, of %s: told by its path, and makes way for what --repair fetches',
    async (kind) => {
      const [path] = copy().objects()[kind] as [string];
      rmSync(store.file(path));
      mkdirSync(join(store.file(path), 'more'), { recursive: true });
      const found = await verify();
      expect(found.bad.map(({ name }) => name.split(' ')[0])).toContain(path);
      expect(verifyExitCode(found)).toBe(3);
      expect(verifyExitCode(await repair())).toBe(0);
      await expectWhole();
    },
  );

  test('a link to itself, of an archive: it cannot be read, is told, and all else is checked', async () => {
    const [path, ...others] = copy().objects().archives as [string, ...string[]];
    rmSync(store.file(path));
    symlinkSync(store.file(path), store.file(path));
    for (const other of others) flip(other, 50, 5000);
    const names = (await verify()).bad.map(({ name }) => name.split(' ')[0]);
    expect(new Set(names)).toEqual(new Set([path, ...others]));
  });

  test('a folder where a file belongs that is derived of others: it makes way', async () => {
    const { root } = copy();
    const folder = join(root, 'manifests');
    const [name = ''] = readdirSync(folder);
    rmSync(join(folder, name));
    mkdirSync(join(folder, name, 'more'), { recursive: true });
    expect((await verify()).bad).toMatchObject([{ name: `manifests/${name}` }]);
    expect(verifyExitCode(await repair())).toBe(0);
    expect(verifyExitCode(await verify())).toBe(0);
    await expectWhole();
  });

  test('a file where the folder of an object belongs', async () => {
    const [path] = copy().objects().archives as [string];
    const folder = dirname(store.file(path));
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'no folder');
    expect(verifyExitCode(await verify())).toBe(3);
    expect(verifyExitCode(await repair())).toBe(0);
    await expectWhole();
  });
});
