import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { killAgainAndAgain } from '../support/interrupt.ts';
import { freePort } from '../support/loopback.ts';
import { describeNginx, type Nginx, startNginx } from '../support/nginx.ts';
import { type CutPlan, cutPowerAgainAndAgain, describePowerCut } from '../support/power-cut.ts';
import { pakratJson } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { makeTree } from '../support/synthetic-cdn.ts';

/*
 * A sync of 200 MB that is interrupted many times. Minutes, not seconds; `npm run soak` runs it.
 */

jest.setTimeout(20 * 60_000);
const scratch = scratchFolder();
const mebibyte = 1024 * 1024;
/** What one interruption may cost. */
const costBytes = 16 * mebibyte;

describeNginx('a sync of 200 MB', () => {
  describe('of a tree', () => {
    const root = scratch('tree');
    const www = join(root, 'www');
    let server: Nginx;

    beforeAll(async () => {
      const port = await freePort();
      makeTree(root, port, ['--files', '1500', '--total-bytes', '260M', '--seed', 'soak', '--archives', '8']);
      // Eight transfers at a time: slow enough that every run is interrupted, whatever was held before.
      server = await startNginx({ folder: www, port, bytesPerSecond: mebibyte });
    });
    afterAll(() => server?.close());

    const syncArgs = (store: string): string[] => ['sync', 'wow', '--store', store, '--patch-url', server.url];

    /** Goes on to the end, where everything is held and right. @returns bytes wanted */
    async function finish(store: string): Promise<number> {
      const { status, value } = await pakratJson<SyncReport>(syncArgs(store));
      expect({ status, value }).toMatchObject({ status: 0, value: { missing: { entries: 0, bytes: 0 } } });
      expect(checkHeldBytes(store, www).wrong).toEqual([]);
      return value.wanted.bytes;
    }

    test('ends right after thirty kills, with nothing wrong held on the way', async () => {
      const [store, kills, before] = [scratch('killed'), 30, await server.bytesSent()];
      const plan = { args: syncArgs(store), store, www, kills, betweenMs: [400, 1500], seed: Date.now() } as const;
      const { interrupted, wrong } = await killAgainAndAgain(plan);
      const wanted = await finish(store);
      const served = (await server.bytesSent()) - before;
      console.log({ ...plan, args: undefined, wanted, served, perKill: (served - wanted) / kills });
      expect({ wrong, interrupted }).toEqual({ wrong: [], interrupted: kills });
      expect(wanted).toBeGreaterThan(150 * mebibyte);
      expect(served).toBeLessThanOrEqual(wanted + kills * costBytes);
    });

    describePowerCut('of which the power is cut', () => {
      const plan = { args: syncArgs, www, betweenMs: [500, 2500], diskMegabytes: 700 } as const;

      test('ends right after twenty cuts, with nothing wrong held on the way and nothing lost', async () => {
        const [cuts, seed, before] = [20, Date.now(), await server.bytesSent()];
        let wanted = 0;
        const { interrupted, wrong, lost, heldBytes } = await cutPowerAgainAndAgain(
          { ...plan, cuts, seed },
          async (store) => {
            wanted = await finish(store);
          },
        );
        const served = (await server.bytesSent()) - before;
        console.log({ seed, wanted, served, heldBytes, perCut: (served - wanted) / cuts });
        expect({ wrong, lost, interrupted }).toEqual({ wrong: [], lost: [], interrupted: cuts });
        expect(served).toBeLessThanOrEqual(wanted + cuts * costBytes);
      });

      // A proof of the test above: with flushes left out it must fail.
      test.each([
        ['of objects', 'objects', 'wrong'],
        ['altogether', 'all', 'lost'],
      ] as const)('is found out when flushes %s are left out', async (_title, which, finding) => {
        const env = { LD_PRELOAD: shimWithoutFlushes(), WITHOUT_FLUSHES: which };
        const outcome = await cutPowerAgainAndAgain({
          ...(plan as Omit<CutPlan, 'cuts' | 'seed'>),
          cuts: 6,
          seed: 5,
          env,
          betweenMs: [2500, 4000],
        });
        console.log({ which, wrong: outcome.wrong.length, lost: outcome.lost.length, heldBytes: outcome.heldBytes });
        expect(outcome[finding].length).toBeGreaterThan(0);
      });
    });
  });
});

/** A library that makes fsync and fdatasync do nothing: for every file, or for all but the ledger. */
function shimWithoutFlushes(): string {
  const [source, library] = [scratch('shim.c'), scratch('shim.so')];
  writeFileSync(
    source,
    `#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int left_out(int fd) {
  const char *which = getenv("WITHOUT_FLUSHES");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  path[size < 0 ? 0 : size] = 0;
  return which && (!strcmp(which, "all") || !strstr(path, "ledger.db"));
}
int fsync(int fd) { return left_out(fd) ? 0 : syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return left_out(fd) ? 0 : syscall(SYS_fdatasync, fd); }
`,
  );
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source]);
  return library;
}
