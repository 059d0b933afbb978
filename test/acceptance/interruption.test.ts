import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { claimedBytes, killAgainAndAgain } from '../support/interrupt.ts';
import { freePort } from '../support/loopback.ts';
import { describeNginx, type Nginx, startNginx } from '../support/nginx.ts';
import { cutPowerAgainAndAgain, describePowerCut } from '../support/power-cut.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { makeTree } from '../support/synthetic-cdn.ts';
import { wrongByEkey } from '../support/truth.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();
const mebibyte = 1024 * 1024;
/** What one interruption may cost: what is under way when it is a kill, what was not flushed yet when it is a power cut. */
const killCostBytes = 2 * mebibyte;
const cutCostBytes = 16 * mebibyte;

describeNginx('an interrupted sync', () => {
  describe('of a tree', () => {
    const root = scratch('tree');
    const www = join(root, 'www');
    let server: Nginx;

    beforeAll(async () => {
      const port = await freePort();
      makeTree(root, port, ['--files', '100', '--total-bytes', '12M', '--seed', 'interruption', '--archives', '6']);
      // Eight transfers at a time: a whole sync takes some seconds.
      // What waits in connections when the program is killed counts as sent: on a busy machine they would be full.
      server = await startNginx({ folder: www, port, bytesPerSecond: 0.35 * mebibyte, sendBuffer: 16_384 });
    });
    afterAll(() => server?.close());

    function syncArgs(store: string): string[] {
      return ['sync', 'wow', '--store', store, '--patch-url', server.url];
    }

    /** Goes on to the end; then everything must be held, and right, and no more fetched than was missing. */
    async function finish(store: string): Promise<SyncReport> {
      const before = checkHeldBytes(store, www);
      expect(before.wrong).toEqual([]);
      return withPakrat({ store, patchUrl: server.url }, async (pakrat) => {
        const report = await pakrat.sync('wow');
        expect(report.missing).toEqual({ entries: 0, bytes: 0 });
        expect(report.fetched.bytes).toBeLessThan(report.wanted.bytes * 1.05 - before.bytes);
        const { bytes, wrong } = checkHeldBytes(store, www);
        expect(wrong).toEqual([]);
        expect(bytes).toBeGreaterThanOrEqual(report.wanted.bytes);
        expect(await wrongByEkey(pakrat, root, join(store, 'out'))).toEqual([]);
        return report;
      });
    }

    test('by kill -9, three times: nothing held is wrong, and little is fetched twice', async () => {
      const store = scratch('killed');
      const before = await server.bytesSent();
      const plan = { args: syncArgs(store), store, www, kills: 3, betweenMs: [450, 1000], seed: 7 } as const;
      const { interrupted, wrong } = await killAgainAndAgain(plan);
      expect(wrong).toEqual([]);
      // On a busy machine a run may end before it is killed.
      expect(interrupted).toBeGreaterThan(1);
      const { wanted } = await finish(store);
      const served = (await server.bytesSent()) - before;
      expect(served).toBeLessThan(wanted.bytes * 1.05 + 3 * killCostBytes);
    });

    test('by Ctrl-C: exit 130 within two seconds, and the next run goes on', async () => {
      const store = scratch('interrupted');
      const { child, ended } = startPakrat(syncArgs(store));
      while (claimedBytes(store) === 0 && child.exitCode === null) await sleep(50);
      const started = performance.now();
      child.kill('SIGINT');
      const { status, stderr } = await ended;
      expect({ status, stderr }).toMatchObject({ status: 130, stderr: expect.stringContaining('again') });
      expect(performance.now() - started).toBeLessThan(15_000);
      expect(checkHeldBytes(store, www).bytes).toBeGreaterThan(0);
      await finish(store);
    });

    describePowerCut('by a power cut', () => {
      test('twice: nothing that was called held is wrong or lost', async () => {
        const before = await server.bytesSent();
        const cuts = 2;
        let wanted = 0;
        const plan = { args: syncArgs, www, cuts, betweenMs: [800, 2500], seed: 11, diskMegabytes: 160 } as const;
        const { interrupted, wrong, lost, heldBytes } = await cutPowerAgainAndAgain(plan, async (store) => {
          wanted = (await finish(store)).wanted.bytes;
        });
        const served = (await server.bytesSent()) - before;
        expect({ wrong, lost }).toEqual({ wrong: [], lost: [] });
        expect(interrupted).toBeGreaterThan(0);
        expect(heldBytes.at(-1)).toBeGreaterThan(0);
        expect(served).toBeLessThan(wanted * 1.05 + cuts * cutCostBytes);
      });
    });
  });
});
