import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { ImportReport } from '../../src/app/import.ts';
import type { Pakrat } from '../../src/pakrat.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { claimedBytes } from '../support/interrupt.ts';
import { freePort } from '../support/loopback.ts';
import { makeTree } from '../support/own-cdn.ts';
import { cutPowerAgainAndAgain, describePowerCut } from '../support/power-cut.ts';
import { pakratJson, runPakrat, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { describeTmpfs, withTmpfs } from '../support/tmpfs.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// The built program, beside others, and ended at any moment.
jest.setTimeout(120_000);
const scratch = scratchFolder();
const www = join(scratch('tree'), 'www');
let server: StaticServer;

beforeAll(async () => {
  const port = await freePort();
  makeTree(scratch('tree'), port, ['--files', '300', '--total-bytes', '12M', '--archives', '4', '--seed', 'import']);
  server = await serveFolder(www, { port, bytesPerSecond: 5_000_000 });
});
afterAll(() => server?.close());

const importInto = (store: string, signal?: AbortSignal): Promise<ImportReport> =>
  withPakrat({ store, patchUrl: server.url, offline: true }, (pakrat) => pakrat.import(www, { signal }));
const heldBytes = (store: string): number => {
  const { bytes, wrong } = checkHeldBytes(store, www);
  expect(wrong).toEqual([]);
  return bytes;
};

test('killed again and again: nothing that was held is lost, none of it is wrong, and the last run takes the rest', async () => {
  const store = scratch('killed');
  let held = 0;
  for (const ms of [450, 600, 700]) {
    const { child, ended } = startPakrat(['import', www, '--store', store, '--offline', '--quiet']);
    await Promise.race([ended, sleep(ms)]);
    child.kill('SIGKILL');
    await ended;
    const now = heldBytes(store);
    expect(now).toBeGreaterThanOrEqual(held);
    held = now;
  }
  const { status, value } = await pakratJson<ImportReport>(['import', www, '--store', store, '--offline']);
  expect({ status, damaged: value.damaged }).toEqual({ status: 0, damaged: [] });
  expect(heldBytes(store)).toBe(value.taken.bytes + value.held.bytes);
  expect(await withPakrat({ store }, (pakrat) => pakrat.verify())).toMatchObject({ bad: [] });
});

test('interrupted: what was taken stays', async () => {
  const store = scratch('interrupted');
  const controller = new AbortController();
  const ended = importInto(store, controller.signal);
  while (claimedBytes(store) < 1_000_000) await sleep(5);
  controller.abort();
  await expect(ended).rejects.toMatchObject({ code: 'E_ABORTED' });
  expect(heldBytes(store)).toBeGreaterThan(1_000_000);
});

test('beside a sync of another process: both end well, and neither spoils what the other writes', async () => {
  const store = scratch('beside');
  const { ended, child } = startPakrat(['sync', 'wow', '--all', '--store', store, '--patch-url', server.url, '--json']);
  while (claimedBytes(store) < 500_000 && child.exitCode === null) await sleep(10);
  expect(child.exitCode).toBeNull();
  const report = await importInto(store);
  expect(report).toMatchObject({ damaged: [], unknown: [] });
  const { status, stdout } = await ended;
  expect({ status, missing: (JSON.parse(stdout) as { missing: unknown }).missing }).toEqual({
    status: 0,
    missing: { entries: 0, bytes: 0 },
  });
  heldBytes(store);
  expect(await withPakrat({ store }, (pakrat) => pakrat.verify())).toMatchObject({ bad: [] });
  expect((await importInto(store)).taken.bytes).toBe(0);
});

test('beside gc, verify and another import: nothing is called damaged, and all is there in the end', async () => {
  const store = scratch('crowd');
  const beside = <Result>(work: (pakrat: Pakrat) => Promise<Result>): Promise<Result> =>
    withPakrat({ store, offline: true }, work);
  // Modules are loaded one after the other: the loader of the tests knows no other way.
  await beside(async (pakrat) => {
    await pakrat.import(join(www, 'tpr/configs'));
    await pakrat.verify();
    await pakrat.gc();
  });
  const [first, second, verified] = await Promise.all([
    importInto(store),
    beside((pakrat) => pakrat.import(www, { link: true })),
    beside((pakrat) => pakrat.verify()),
    beside((pakrat) => pakrat.gc()),
  ]);
  expect([first.damaged, second.damaged, verified.bad]).toEqual([[], [], []]);
  const last = await importInto(store);
  expect(last.taken.bytes + last.held.bytes).toBe(heldBytes(store));
  expect((await beside((pakrat) => pakrat.verify())).bad).toEqual([]);
  const { builds } = await beside((pakrat) => pakrat.status());
  for (const { wanted, held } of builds) expect(held).toEqual(wanted);
});

describePowerCut('a power cut', () => {
  test('twice, in the middle of loose objects that come to disk together: nothing that was called held is wrong or lost, and the last run takes the rest', async () => {
    const root = scratch('loose');
    makeTree(root, 1, ['--files', '4000', '--total-bytes', '24M', '--loose', '.8', '--archives', '4', '--seed', 'cut']);
    const mirror = join(root, 'www');
    const args = (store: string): string[] => ['import', mirror, '--store', store, '--offline', '--json'];
    const plan = { args, www: mirror, cuts: 2, betweenMs: [600, 1500], seed: 3, diskMegabytes: 160 } as const;
    const {
      interrupted,
      wrong,
      lost,
      heldBytes: held,
    } = await cutPowerAgainAndAgain(plan, async (store) => {
      const { status, value } = await pakratJson<ImportReport>(args(store));
      expect({ status, damaged: value.damaged, unknown: value.unknown }).toEqual({
        status: 0,
        damaged: [],
        unknown: [],
      });
      expect(checkHeldBytes(store, mirror)).toEqual({ wrong: [], bytes: value.taken.bytes + value.held.bytes });
    });
    expect({ wrong, lost }).toEqual({ wrong: [], lost: [] });
    expect(interrupted).toBeGreaterThan(0);
    expect(held.at(-1)).toBeGreaterThan(0);
  });
});

describeTmpfs('a small disk', () => {
  test.each(['2m', '6m'])('of %s: E_STORE_FULL and exit 1, and it goes on when there is room', async (size) => {
    await withTmpfs(size, async (folder, resize) => {
      const store = join(folder, 'store');
      const { status, stdout } = runPakrat(['import', www, '--store', store, '--offline', '--json', '--quiet']);
      expect({ status, error: (JSON.parse(stdout) as { error: { code: string } }).error.code }).toEqual({
        status: 1,
        error: 'E_STORE_FULL',
      });
      const held = heldBytes(store);
      expect(held).toBeGreaterThan(50_000);
      resize('64m');
      const report = await importInto(store);
      expect(report.held.bytes).toBeGreaterThan(held / 2);
      expect(heldBytes(store)).toBe(report.held.bytes + report.taken.bytes);
    });
  });

  test('is another file system: no hard link leads there, which is told, and all is copied', async () => {
    await withTmpfs('64m', async (folder) => {
      const notes: string[] = [];
      const report = await withPakrat({ store: join(folder, 'store'), offline: true }, (pakrat) =>
        pakrat.import(www, {
          link: true,
          onProgress: (event) => {
            if (event.type === 'note') notes.push(event.text);
          },
        }),
      );
      expect(report.linked.objects).toBe(0);
      expect(report.taken.entries).toBeGreaterThan(100);
      expect(notes.filter((text) => text.includes('hard links'))).toHaveLength(1);
    });
  });
});
