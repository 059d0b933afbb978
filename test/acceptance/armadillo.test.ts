import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { openPakrat, type Pakrat } from '../../src/pakrat.ts';
import { Sqlite } from '../../src/store/ledger/sqlite.ts';
import { makeEncryptedTree, writeTreeKey } from '../support/armadillo-tree.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { claimedBytes } from '../support/interrupt.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { ServedTree } from '../support/served-cdn.ts';
import { serveTree } from '../support/synthetic-cdn.ts';
import { expectedFiles, readTruth, wrongFiles } from '../support/truth.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

interface Verified {
  bad: { name: string; code: string; message: string }[];
}

describe('a product whose objects are encrypted one by one', () => {
  const root = scratch('tree');
  const www = join(root, 'www');
  const keyFile = scratch('TestKey.ak');
  let server: ServedTree;

  beforeAll(async () => {
    const port = await freePort();
    const make = [
      '--files',
      '80',
      '--total-bytes',
      '600K',
      '--archives',
      '2',
      '--patches',
      '5',
      '--install-files',
      '6',
    ];
    makeEncryptedTree(root, port, make);
    writeTreeKey(keyFile);
    server = await serveTree(root, [], port);
  });
  afterAll(() => server?.close());

  const at = (store: string): string[] => ['--store', scratch(store), '--patch-url', server.url];
  /** Does work with a session of this process. */
  async function here<Result>(
    store: string,
    work: (pakrat: Pakrat) => Promise<Result>,
    { offline = false } = {},
  ): Promise<Result> {
    const pakrat = await openPakrat({ store: scratch(store), patchUrl: server.url, offline, threads: 0 });
    return work(pakrat).finally(() => pakrat.close());
  }
  async function importKeys(store: string): Promise<void> {
    const keys = [keyFile, join(root, 'truth/keys.txt'), join(root, 'truth/keys-withheld.txt')];
    await here(store, (pakrat) => pakrat.keys.import(keys));
  }

  test('without the key it says which file is missing, and asks for nothing that it could not check', async () => {
    const before = server.requests().length;
    const { status, value } = await pakratJson(['sync', 'wow', ...at('none')]);
    expect(status).toBe(7);
    expect(value).toMatchObject({
      error: {
        code: 'E_KEY_MISSING',
        message: expect.stringContaining('TestKey.ak'),
        hint: expect.stringContaining('pakrat keys import TestKey.ak'),
      },
    });
    const asked = server.requests().slice(before);
    expect(asked.filter(({ path }) => path.startsWith('/tpr/wow/'))).toEqual([]);
  });

  test('with a wrong key nothing is taken, and the key is suspected', async () => {
    const wrong = Buffer.alloc(16, 7);
    const checksum = createHash('md5').update(wrong).digest().subarray(0, 4);
    mkdirSync(scratch('wrong'));
    writeFileSync(scratch('wrong', 'TESTKEY.AK'), Buffer.concat([wrong, checksum]));
    await here('mistaken', (pakrat) => pakrat.keys.import([scratch('wrong', 'TESTKEY.AK')]));
    const { status, value } = await pakratJson(['sync', 'wow', ...at('mistaken')]);
    expect(status).toBe(9);
    expect(JSON.stringify(value)).toContain('the key may be a wrong one');
    expect(existsSync(join(scratch('mistaken'), 'tpr/wow'))).toBe(false);
  });

  test('with it: sync, verify, ls, extract; the store has the bytes of the CDN', async () => {
    await importKeys('all');
    const synced = await pakratJson<SyncReport>(['sync', 'wow', '--all', ...at('all')]);
    expect(synced).toMatchObject({ status: 0, value: { missing: { entries: 0 } } });
    const held = checkHeldBytes(scratch('all'), www);
    expect(held.wrong).toEqual([]);
    const data = join(scratch('all'), 'tpr/wow/data');
    expect(readdirSync(data, { recursive: true, encoding: 'utf8' }).length).toBeGreaterThan(4);
    const config = join(scratch('all'), configPath(synced.value.build.buildConfig));
    expect(readFileSync(config).includes('encoding')).toBe(false);

    expect((await here('all', (pakrat) => pakrat.verify())).bad).toEqual([]);
    const to = scratch('all-out');
    await here(
      'all',
      async (pakrat) => {
        expect((await pakrat.extract('wow', { to })).failed).toEqual([]);
        const shown = await pakrat.inspect(synced.value.build.buildConfig);
        expect(shown).toMatchObject({ format: 'build config' });
      },
      { offline: true },
    );
    const expected = expectedFiles(readTruth(root, 'b'), 'fdid').map((file) => ({ ...file, lockedBy: undefined }));
    expect(wrongFiles(expected, to, [])).toEqual([]);
  });

  const configPath = (hash: string): string => `tpr/wow/config/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;

  test('one file from an empty store: its range and no more, decrypted', async () => {
    await importKeys('one');
    const file = readTruth(root, 'b').rows.find((row) => row.locale === '-' && row.archive !== 'loose')!;
    const args = ['extract', 'wow', `fdid:${file.fileDataId}`, '--to', scratch('one-out'), ...at('one')];
    expect(await pakratJson(args)).toMatchObject({ status: 0, value: { files: 1, failed: [] } });
    const [name] = readdirSync(scratch('one-out'));
    expect(readFileSync(join(scratch('one-out'), name!)).equals(file.content())).toBe(true);
    expect(checkHeldBytes(scratch('one'), www).wrong).toEqual([]);
  });

  test('a sync that was killed goes on; without its ledger it takes over what is on disk', async () => {
    await importKeys('cut');
    const slow = startPakrat(['sync', 'wow', '--limit-rate', '200K', ...at('cut')]);
    while (claimedBytes(scratch('cut')) === 0 && slow.child.exitCode === null) await sleep(20);
    slow.child.kill('SIGKILL');
    await slow.ended;
    expect(checkHeldBytes(scratch('cut'), www).wrong).toEqual([]);
    const whole = await here('cut', (pakrat) => pakrat.sync('wow'));
    expect(whole).toMatchObject({ missing: { entries: 0 } });
    expect(checkHeldBytes(scratch('cut'), www).wrong).toEqual([]);

    for (const name of ['ledger.db', 'ledger.db-wal', 'ledger.db-shm'])
      rmSync(join(scratch('cut'), name), { force: true });
    await importKeys('cut');
    const before = server.requests().length;
    const again = await here('cut', (pakrat) => pakrat.sync('wow'));
    expect(again).toMatchObject({ missing: { entries: 0 } });
    const ranges = server
      .requests()
      .slice(before)
      .filter(({ status }) => status === 206);
    const fetched = ranges.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(fetched).toBeLessThan(whole.wanted.bytes / 10);
    expect(checkHeldBytes(scratch('cut'), www).wrong).toEqual([]);
  });

  test('verify finds what is damaged, and repairs it; without the key it forgets nothing', async () => {
    await importKeys('bad');
    await here('bad', (pakrat) => pakrat.sync('wow'));
    const data = join(scratch('bad'), 'tpr/wow/data');
    const paths = readdirSync(data, { recursive: true, encoding: 'utf8' }).map((name) => join(data, name));
    const archive = paths.find((path) => existsSync(`${path}.index`))!;
    const loose = paths.find((path) => /[0-9a-f]{32}$/.test(path) && !existsSync(`${path}.index`))!;
    for (const paths of [[archive, loose], [`${archive}.index`]]) {
      for (const path of paths) damage(path);
      const found = await here('bad', (pakrat) => pakrat.repair());
      expect(found.repaired).toBe(paths.length);
      expect(found.bad).toHaveLength(paths.length);
    }
    expect((await here('bad', (pakrat) => pakrat.verify())).bad).toEqual([]);
    expect(checkHeldBytes(scratch('bad'), www).wrong).toEqual([]);

    forgetKey(join(scratch('bad'), 'ledger.db'));
    const locked = await pakratJson<Verified>(['verify', ...at('bad')]);
    expect(locked.status).toBe(7);
    expect(locked.value.bad).toEqual([
      { name: 'tpr/wow', code: 'E_KEY_MISSING', message: expect.stringContaining('TestKey.ak') },
    ]);
    await importKeys('bad');
    expect((await here('bad', (pakrat) => pakrat.sync('wow'))).fetched.entries).toBe(0);
  });
});

function damage(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 0x20;
  writeFileSync(path, bytes);
}

function forgetKey(ledger: string): void {
  const db = new Sqlite(ledger);
  expect(db.run("DELETE FROM keys WHERE name = 'testkey.ak'").changes).toBe(1);
  db.close();
}
