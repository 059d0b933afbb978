import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { verifyExitCode } from '../../src/cli/render/verify.ts';
import type { Pakrat } from '../../src/pakrat.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { killAgainAndAgain } from '../support/interrupt.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type GoodServer, serveWell } from '../support/serve-well.ts';
import { makeTree } from '../support/synthetic-cdn.ts';
import { wrongByEkey } from '../support/truth.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

describe('a sync of the second build with patches', () => {
  const root = scratch('tree');
  const www = join(root, 'www');
  let server: GoodServer;

  beforeAll(async () => {
    const port = await freePort();
    const much = ['--files', '160', '--total-bytes', '5M', '--changed', '.5', '--patches', '200'];
    makeTree(root, port, [...much, '--seed', 'patched-sync', '--zlevel', '9']);
    server = await serveWell(root, port);
    await here(scratch('a'), (pakrat) => pakrat.sync('wow_old'));
  });
  afterAll(() => server?.close());

  const where = (store: string): string[] => ['--store', store, '--patch-url', server.url];

  /** Does work with a session of this process. */
  function here<Result>(
    store: string,
    work: (pakrat: Pakrat) => Promise<Result>,
    { offline = false } = {},
  ): Promise<Result> {
    return withPakrat({ store, patchUrl: server.url, offline }, work);
  }

  /** A store with the first build alone. */
  function copyOfA(name: string): string {
    cpSync(scratch('a'), scratch(name), { recursive: true });
    return scratch(name);
  }

  /** Every file of the truth table must come out right without a network, and every held byte must be the CDN's. */
  async function expectRight(store: string): Promise<void> {
    expect(checkHeldBytes(store, www).wrong).toEqual([]);
    const wrong = await here(
      store,
      async (pakrat) => {
        const verified = await pakrat.verify();
        expect({ exit: verifyExitCode(verified), bad: verified.bad }).toEqual({ exit: 0, bad: [] });
        return wrongByEkey(pakrat, root, join(store, 'out'));
      },
      { offline: true },
    );
    expect(wrong).toEqual([]);
  }

  test('fetches less, says how much, also beforehand, and gives the same build', async () => {
    const plain = await here(copyOfA('plain'), (pakrat) => pakrat.sync('wow'));
    expect(plain).toMatchObject({ missing: { entries: 0 } });
    expect(plain).not.toHaveProperty('patched');

    const dry = await here(copyOfA('dry'), (pakrat) => pakrat.plan('wow', { patch: true }));
    const store = copyOfA('patched');
    const before = await server.bytesSent();
    const { status, value } = await pakratJson<SyncReport>(['sync', 'wow', '--patch', ...where(store)]);
    const served = (await server.bytesSent()) - before;
    expect({ status, value }).toMatchObject({ status: 0, value: { missing: { entries: 0 }, patched: { failed: 0 } } });
    const patched = value.patched!;
    expect(patched.entries).toBeGreaterThan(40);
    expect(value.fetched.bytes).toBeLessThan(plain.fetched.bytes / 2);
    // What is said to be saved is saved; gaps between entries make no more of a difference than this.
    const saved = plain.fetched.bytes - value.fetched.bytes;
    expect(Math.abs(saved - patched.bytesSaved)).toBeLessThan(0.05 * saved);
    // The server also sent the tables of the version service, which are not counted as fetched.
    expect(served - value.fetched.bytes).toBeLessThan(8192);
    expect(value.fetched.entries).toBe(plain.fetched.entries);
    expect({ wanted: value.wanted, held: value.held }).toEqual({ wanted: plain.wanted, held: plain.held });
    expect(dry.patched).toEqual(patched);
    expect(dry.plan!.bytes).toBeLessThan(dry.missing.bytes / 2);
    await expectRight(store);
  });

  test('says it in words', () => {
    const args = ['sync', 'wow', '--patch', '--quiet', ...where(copyOfA('words'))];
    expect(runPakrat([...args, '--dry-run']).stdout).toMatch(
      /patched +\d+ entries would be made from [\d.]+ KiB of patches, [\d.]+ MiB saved/,
    );
    expect(runPakrat(args).stdout).toMatch(/patched +\d+ entries made from [\d.]+ KiB of patches, [\d.]+ MiB saved/);
    const again = runPakrat(args.filter((word) => word !== '--quiet'));
    expect(again.stdout).toMatch(/patched +0 entries made/);
    expect(again.stderr).toMatch(/--patch: nothing is missing/);
  });

  test('killed (-9) again and again: nothing held is wrong, and the next run goes on', async () => {
    const store = copyOfA('killed');
    const args = ['sync', 'wow', '--patch', ...where(store)];
    const plan = { args, store, www, kills: 3, betweenMs: [350, 900], seed: 11 } as const;
    const { interrupted, wrong } = await killAgainAndAgain(plan);
    expect(wrong).toEqual([]);
    // On a busy machine a run may end before it is killed.
    expect(interrupted).toBeGreaterThan(0);
    const { status, value } = await pakratJson<SyncReport>(args);
    expect({ status, value }).toMatchObject({ status: 0, value: { missing: { entries: 0 } } });
    await expectRight(store);
  });

  test('offline, a dry run counts on the lists that are held', async () => {
    const store = copyOfA('offline');
    const planned = (session: { offline: boolean }, patch: boolean): Promise<SyncReport> =>
      here(store, (pakrat) => pakrat.plan('wow', { patch }), session);
    // The build is known and its manifests are held; the lists of patches are not.
    await planned({ offline: false }, false);
    const without = await planned({ offline: true }, true);
    expect(without).toMatchObject({ patched: { entries: 0, patchBytes: 0 } });
    await planned({ offline: false }, true);
    const held = await planned({ offline: true }, true);
    expect(held.patched!.entries).toBeGreaterThan(40);
  });
});
