import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import type { ExtractResult } from '../../src/sources/extract/extract.ts';
import { Sqlite } from '../../src/store/ledger/sqlite.ts';
import { freePort } from '../support/loopback.ts';
import { type LyingServer, lyingServer } from '../support/lying-server.ts';
import { pakratJson, runPakrat, runShell, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type SyntheticCdn, syntheticCdn } from '../support/synthetic-cdn.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(60_000);
const scratch = scratchFolder();

interface Failed {
  error: { code: string; message: string; hint: string | null; data: Record<string, number & string[]> };
}

describe('sync', () => {
  let cdn: SyntheticCdn;
  /** Has nothing. */
  let empty: LyingServer;
  let deadHost: string;
  beforeAll(async () => {
    cdn = await syntheticCdn();
    empty = await lyingServer();
    deadHost = `127.0.0.1:${await freePort()}`;
  });
  afterAll(() => Promise.all([cdn.close(), empty.close()]));

  const at = (store: string): string[] => ['--store', scratch(store), '--patch-url', cdn.url];
  const sync = (store: string, ...more: string[]) =>
    pakratJson<SyncReport & Failed>(['sync', 'wow', ...at(store), ...more]);

  test('all that was fetched is counted, manifests too: at first everything, then the rest, then nothing', async () => {
    const none = { entries: 0, bytes: 0 };
    const plan = (await sync('counts', '--dry-run')).value;
    expect(plan.fetched.entries).toBe(plan.held.entries);
    expect(plan.fetched.entries).toBeGreaterThan(0);
    expect(plan.held.entries + plan.missing.entries).toBe(plan.wanted.entries);
    expect(plan.held.bytes + plan.missing.bytes).toBe(plan.wanted.bytes);
    const part = (await sync('counts', '--tags', 'Windows,x86_64,enUS')).value;
    expect(part).toMatchObject({ held: part.wanted, missing: none });
    expect(part.fetched.entries + plan.fetched.entries).toBe(part.wanted.entries);
    const rest = (await sync('counts')).value;
    expect(rest.fetched.entries).toBe(rest.wanted.entries - part.wanted.entries);
    expect((await sync('counts')).value.fetched).toEqual({ ...none, requests: 0 });
    const fresh = (await sync('fresh')).value;
    expect(fresh.fetched.entries).toBe(fresh.wanted.entries);
  });

  test('what no host has is told once, with amounts that add up', async () => {
    expect((await sync('lacks', '--tags', 'Windows,x86_64,enUS')).status).toBe(0);
    const { status, value } = await sync('lacks', '--cdn-host', empty.host);
    expect({ status, code: value.error.code }).toEqual({ status: 9, code: 'E_INCOMPLETE' });
    const { wantedEntries, heldEntries, missingEntries, wantedBytes, heldBytes, missingBytes } = value.error.data;
    expect(missingEntries).toBeGreaterThan(0);
    expect(heldEntries! + missingEntries!).toBe(wantedEntries);
    expect(heldBytes! + missingBytes!).toBe(wantedBytes);
    expect(value.error.message).toMatch(/entries are still missing .*: no host has \S+; and \d+ objects more$/);
    expect(value.error.message.length).toBeLessThan(200);
  });

  test('--cdn-host is for one run: the store goes on with the hosts of the CDN', async () => {
    expect((await sync('once', '--cdn-host', deadHost)).status).toBe(1);
    // A build that is named is looked up in the ledger.
    expect((await sync('once', '--tags', 'Windows,x86_64,enUS')).status).toBe(0);
    expect((await sync('once', '--cdn-host', deadHost)).status).toBe(9);
    const everything = ['extract', 'wow@11.2.0.60100', '--to', scratch('all'), ...at('once')];
    const { files, failed } = (await pakratJson<ExtractResult>(everything)).value;
    expect(files).toBeGreaterThan(100);
    expect(failed.filter(({ code }) => code !== 'E_KEY_MISSING')).toEqual([]);
  });

  test.each(['not a host', 'ftp://mirror', 'http://'])('--cdn-host %j is a mistake, not a bug', async (host) => {
    expect(await sync('typo', '--cdn-host', host)).toMatchObject({
      status: 2,
      value: { error: { code: 'E_USAGE', hint: expect.any(String) } },
    });
  });

  test('a flag whose value is empty is a mistake, not everything: a script has its variable unset', async () => {
    const usage = { status: 2, value: { error: { code: 'E_USAGE' } } };
    for (const tags of ['', ' , ']) expect(await sync('unset', '--tags', tags)).toMatchObject(usage);
    expect(await pakratJson(['status', '--store', ''])).toMatchObject(usage);
    expect(await pakratJson(['extract', 'wow', ...at('unset'), '--to', ''])).toMatchObject(usage);
  });

  test('status of a product that was never synced says so, not that nothing was', async () => {
    expect((await sync('other', '--tags', 'enUS')).status).toBe(0);
    const { stdout } = runPakrat(['status', 'fenris', '--store', scratch('other')]);
    expect(stdout).toMatch(/ held, no build of fenris was synced\n$/);
  });

  test('an interruption says how much is held', async () => {
    const run = startPakrat(['sync', 'wow', ...at('stopped'), '--limit-rate', '300K', '--json']);
    for (let tries = 0; tries < 200; tries++) {
      const { builds = [] } = (await pakratJson<{ builds?: unknown[] }>(['status', '--store', scratch('stopped')]))
        .value;
      if (builds.length > 0) break;
      await sleep(50);
    }
    run.child.kill('SIGINT');
    const { status, stdout } = await run.ended;
    const { error } = JSON.parse(stdout) as Failed;
    expect({ status, code: error.code }).toEqual({ status: 130, code: 'E_ABORTED' });
    expect(error.message).toMatch(/^interrupted: .* of .* are held$/);
    expect(error.data.heldBytes!).toBeLessThan(error.data.wantedBytes!);
  });

  test('an answer of the version service from a time to come is not taken for a recent one', async () => {
    const asked = (): number => cdn.requests().filter(({ path }) => path.endsWith('/versions')).length;
    const ls = (): void => {
      expect(runPakrat(['ls', 'wow', ...at('clock')]).status).toBe(0);
    };
    expect((await sync('clock')).status).toBe(0);
    const before = asked();
    ls();
    expect(asked()).toBe(before);
    const ledger = new Sqlite(scratch('clock', 'ledger.db'));
    ledger.run('UPDATE answers SET last_time = ?', Date.now() + 400 * 86_400_000);
    ledger.close();
    ls();
    expect(asked()).toBe(before + 1);
  });

  test('names: nothing that matches is said, and what helps', async () => {
    expect((await sync('names')).status).toBe(0);
    const ls = (...more: string[]) => runPakrat(['ls', 'wow', '*.m2', ...at('names'), ...more]);
    expect(ls()).toMatchObject({ status: 0, stdout: '', stderr: expect.stringContaining('listfile import') });
    expect(ls('--json').stdout).toBe('[]\n');
    expect(ls('--quiet').stderr).toBe('');
    const extract = await pakratJson(['extract', 'wow', '*.m2', '--to', scratch('x'), ...at('names')]);
    const hint = expect.stringContaining('listfile import');
    expect(extract).toMatchObject({ status: 4, value: { error: { code: 'E_NOT_FOUND', hint } } });
    const rows = readFileSync(join(cdn.root, 'listfile.csv'), 'utf8').split('\n');
    const row = rows.find((line) => line.startsWith('146;')) ?? '';
    const name = row.replace(/^\d+;/, '');
    const base = basename(name);
    writeFileSync(scratch('list.csv'), `${row}\n`);
    expect(runPakrat(['listfile', 'import', scratch('list.csv'), '--store', scratch('names')]).status).toBe(0);
    const cat = runPakrat(['cat', 'wow', base.toUpperCase(), ...at('names')]);
    expect(cat).toMatchObject({ status: 4, stderr: expect.stringContaining(`Did you mean ${name}?`) });
    const wrong = await pakratJson(['extract', 'wow', `other\\${base}`, '--to', scratch('x'), ...at('names')]);
    expect(wrong).toMatchObject({ status: 4, value: { error: { hint: `Did you mean ${name}?` } } });
    const other = runPakrat(['ls', 'wow', '*.none', ...at('names')]);
    expect(other).toMatchObject({ status: 0, stderr: 'Note: no name matches *.none.\n' });
  });

  test('output that goes to a full disk is told as that, by every command', async () => {
    expect((await sync('full')).status).toBe(0);
    const store = `--store '${scratch('full')}' --offline`;
    for (const command of ['ls wow', 'ls wow --json', 'cat wow fdid:146', 'status', 'status --json', 'info wow']) {
      const { status, stderr } = runShell(`pakrat ${command} ${store} > /dev/full`);
      expect({ command, status, stderr }).toEqual({
        command,
        status: 1,
        stderr: expect.stringMatching(/^Error: the disk is full.*\nCode: E_STORE_FULL\n/),
      });
    }
  });
});
