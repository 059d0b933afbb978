import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { Sqlite } from '../../src/store/ledger/sqlite.ts';
import { freePort } from '../support/loopback.ts';
import { type LyingServer, lyingServer } from '../support/lying-server.ts';
import { pakratJson, runPakrat, runShell, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type SyncedStore, syncedStore } from '../support/synced-store.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(60_000);
const scratch = scratchFolder();

interface Failed {
  error: { code: string; message: string; hint: string | null; data: Record<string, number & string[]> };
}

describe('sync', () => {
  let synced: SyncedStore;
  let cdn: SyncedStore['cdn'];
  /** Has nothing. */
  let empty: LyingServer;
  let deadHost: string;
  beforeAll(async () => {
    synced = await syncedStore(scratch('whole'), ['--files', '150', '--total-bytes', '600K']);
    cdn = synced.cdn;
    empty = await lyingServer();
    deadHost = `127.0.0.1:${await freePort()}`;
  });
  afterAll(() => Promise.all([cdn.close(), empty.close()]));

  const at = (store: string): string[] => ['--store', scratch(store), '--patch-url', cdn.url];
  const session = (store: string) => ({ store: scratch(store), patchUrl: cdn.url });
  /** Brings a part of the build into a store. */
  const tags = ['Windows', 'x86_64', 'enUS'];
  const syncPart = (store: string) => withPakrat(session(store), (pakrat) => pakrat.sync('wow', { tags }));
  const sync = (store: string, ...more: string[]) =>
    pakratJson<SyncReport & Failed>(['sync', 'wow', ...at(store), ...more]);

  test('case of tags does not matter, and one that is misspelt is told with the nearest', async () => {
    const plan = (...of: string[]) => withPakrat(session('case'), (pakrat) => pakrat.plan('wow', { tags: of }));
    const { wanted } = await plan(...tags);
    expect((await plan('windows', 'X86_64', 'enus')).wanted).toEqual(wanted);
    await expect(plan('Widnows')).rejects.toMatchObject({
      code: 'E_USAGE',
      hint: expect.stringMatching(/^Did you mean Windows\? Its tags are: .*OSX/),
    });
  });

  test('all that was fetched is counted, manifests too: at first everything, then the rest, then nothing', async () => {
    const none = { entries: 0, bytes: 0 };
    const plan = await withPakrat(session('counts'), (pakrat) => pakrat.plan('wow'));
    expect(plan.fetched.entries).toBe(plan.held.entries);
    expect(plan.fetched.entries).toBeGreaterThan(0);
    expect(plan.held.entries + plan.missing.entries).toBe(plan.wanted.entries);
    expect(plan.held.bytes + plan.missing.bytes).toBe(plan.wanted.bytes);
    const part = await syncPart('counts');
    expect(part).toMatchObject({ held: part.wanted, missing: none });
    expect(part.fetched.entries + plan.fetched.entries).toBe(part.wanted.entries);
    const rest = (await sync('counts')).value;
    expect(rest.fetched.entries).toBe(rest.wanted.entries - part.wanted.entries);
    await withPakrat(session('counts'), async (pakrat) => {
      expect((await pakrat.sync('wow')).fetched).toEqual({ ...none, requests: 0 });
    });
    const fresh = await withPakrat(session('fresh'), (pakrat) => pakrat.sync('wow'));
    expect(fresh.fetched.entries).toBe(fresh.wanted.entries);
  });

  test('what no host has is told once, with amounts that add up', async () => {
    await syncPart('lacks');
    const { status, value } = await sync('lacks', '--cdn-host', empty.host);
    expect({ status, code: value.error.code }).toEqual({ status: 9, code: 'E_INCOMPLETE' });
    const { wantedEntries, heldEntries, missingEntries, wantedBytes, heldBytes, missingBytes } = value.error.data;
    expect(missingEntries).toBeGreaterThan(0);
    expect(heldEntries! + missingEntries!).toBe(wantedEntries);
    expect(heldBytes! + missingBytes!).toBe(wantedBytes);
    expect(value.error.message).toMatch(
      /entries are still missing .*: no host has \S+: \S+ said so; and \d+ objects more$/,
    );
    expect(value.error.message.length).toBeLessThan(200);
  });

  test('a host of one’s own is for one run: the store goes on with the hosts of the CDN', async () => {
    const dead = () => withPakrat({ ...session('once'), cdnHost: deadHost }, (pakrat) => pakrat.sync('wow'));
    await expect(dead()).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED' });
    // A build that is named is looked up in the ledger.
    await syncPart('once');
    await expect(dead()).rejects.toMatchObject({ code: 'E_INCOMPLETE' });
    const everything = { to: scratch('all') };
    const { files, failed } = await withPakrat(session('once'), (pakrat) =>
      pakrat.extract('wow@11.2.0.60100', everything),
    );
    expect(files).toBeGreaterThan(100);
    expect(failed.filter(({ code }) => code !== 'E_KEY_MISSING')).toEqual([]);
  });

  test('--cdn-host that is no host is a mistake, not a bug', async () => {
    const mistake = { code: 'E_USAGE', hint: expect.any(String) };
    const typo = await sync('typo', '--cdn-host', 'not a host');
    expect(typo).toMatchObject({ status: 2, value: { error: mistake } });
    for (const cdnHost of ['ftp://mirror', 'http://']) {
      const work = withPakrat({ ...session('typo'), cdnHost }, (pakrat) => pakrat.sync('wow'));
      await expect(work).rejects.toMatchObject(mistake);
    }
  });

  test('a flag whose value is empty is a mistake, not everything: a script has its variable unset', async () => {
    const usage = { status: 2, value: { error: { code: 'E_USAGE' } } };
    expect(await sync('unset', '--tags', '')).toMatchObject(usage);
    expect(await pakratJson(['status', '--store', ''])).toMatchObject(usage);
    expect(await pakratJson(['extract', 'wow', ...at('unset'), '--to', ''])).toMatchObject(usage);
  });

  test('status of a product that was never synced says so, not that nothing was', async () => {
    const { stdout } = runPakrat(['status', 'fenris', '--store', scratch('whole')]);
    expect(stdout).toMatch(/ held, no build of fenris was synced\n$/);
  });

  /** True when the ledger of a store says how much is wanted of a build. */
  const isSyncing = async (store: string): Promise<boolean> => {
    if (!existsSync(scratch(store, 'ledger.db'))) return false;
    const ledger = new Sqlite(scratch(store, 'ledger.db'), { readonly: true });
    try {
      return ledger.all('SELECT id FROM builds WHERE wanted_bytes > 0').length > 0;
    } catch {
      // Its tables are not made yet.
      return false;
    } finally {
      ledger.close();
    }
  };

  test('an interruption says how much is held', async () => {
    const run = startPakrat(['sync', 'wow', ...at('stopped'), '--limit-rate', '100K', '--json']);
    while (run.child.exitCode === null && !(await isSyncing('stopped'))) await sleep(20);
    run.child.kill('SIGINT');
    const { status, stdout } = await run.ended;
    const { error } = JSON.parse(stdout) as Failed;
    expect({ status, code: error.code }).toEqual({ status: 130, code: 'E_ABORTED' });
    expect(error.message).toMatch(/^interrupted: .* of .* are held$/);
    expect(error.data.heldBytes!).toBeLessThan(error.data.wantedBytes!);
  });

  test('an answer of the version service from a time to come is not taken for a recent one', async () => {
    const asked = (): number => cdn.requests().filter(({ path }) => path.endsWith('/versions')).length;
    const ls = () => withPakrat(session('clock'), async (pakrat) => (await pakrat.open('wow')).info());
    synced.copyTo(scratch('clock'));
    await ls();
    const before = asked();
    await ls();
    expect(asked()).toBe(before);
    const ledger = new Sqlite(scratch('clock', 'ledger.db'));
    ledger.run('UPDATE answers SET last_time = ?', Date.now() + 400 * 86_400_000);
    ledger.close();
    await ls();
    expect(asked()).toBe(before + 1);
  });

  test('names: nothing that matches is said, and what helps', async () => {
    const names = synced.copyTo(scratch('names'));
    const ls = (...more: string[]) => runPakrat(['ls', 'wow', '*.m2', ...at('names'), ...more]);
    expect(ls()).toMatchObject({ status: 4, stdout: '', stderr: expect.stringContaining('listfile import') });
    const extract = (name: string) =>
      names.with((pakrat) => pakrat.extract('wow', { names: [name], to: scratch('x') }));
    const hint = expect.stringContaining('listfile import');
    await expect(extract('*.m2')).rejects.toMatchObject({ code: 'E_NOT_FOUND', hint });
    const rows = readFileSync(join(cdn.root, 'listfile.csv'), 'utf8').split('\n');
    const row = rows.find((line) => line.startsWith('146;')) ?? '';
    const name = row.replace(/^\d+;/, '');
    const base = basename(name);
    writeFileSync(scratch('list.csv'), `${row}\n`);
    await names.with((pakrat) => pakrat.listfile.import(scratch('list.csv')));
    const cat = runPakrat(['cat', 'wow', base.toUpperCase(), ...at('names')]);
    expect(cat).toMatchObject({ status: 4, stderr: expect.stringContaining(`Did you mean ${name}?`) });
    const meant = { code: 'E_NOT_FOUND', hint: `Did you mean ${name}?` };
    await expect(extract(`other\\${base}`)).rejects.toMatchObject(meant);
    const other = runPakrat(['ls', 'wow', '*.none', ...at('names')]);
    expect(other).toMatchObject({
      status: 4,
      stderr: expect.stringMatching(/^Error: no file of wow .* matches \*\.none\nCode: E_NOT_FOUND\n$/),
    });
  });

  test('output that goes to a full disk is told as that, by every command', async () => {
    const store = `--store '${scratch('whole')}' --offline`;
    for (const command of ['ls wow -R', 'ls wow -R --json', 'cat wow fdid:146', 'status', 'status --json']) {
      const { status, stderr } = runShell(`pakrat ${command} ${store} > /dev/full`);
      expect({ command, status, stderr }).toEqual({
        command,
        status: 1,
        stderr: expect.stringMatching(/^Error: the disk is full.*\nCode: E_STORE_FULL\n/),
      });
    }
  });
});
