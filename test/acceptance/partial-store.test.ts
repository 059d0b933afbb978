import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { openPakrat, type Pakrat } from '../../src/pakrat.ts';
import { checkHeldBytes, lostClaims, readClaims, servedObjects, wronglyServed } from '../support/held-bytes.ts';
import { randomSource } from '../support/hostile.ts';
import { killAgainAndAgain } from '../support/interrupt.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { pakratJson, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { readTruth } from '../support/truth.ts';

// Whole processes; the machine may be busy.
jest.setTimeout(180_000);
const scratch = scratchFolder();
let cdn: SyntheticCdn;
let www: string;

beforeAll(async () => {
  cdn = await syntheticCdn({ make: ['--files', '200', '--total-bytes', '5M', '--archives', '8', '--seed', 'partial'] });
  www = join(cdn.root, 'www');
}, 120_000);
afterAll(() => cdn?.close());

const service = (store: string): string[] => ['--store', store, '--patch-url', cdn.url];
const syncArgs = (store: string, ...choice: string[]): string[] => ['sync', 'wow', ...service(store), ...choice];

async function sync(store: string, ...choice: string[]): Promise<SyncReport> {
  const { status, value } = await pakratJson<SyncReport>(syncArgs(store, ...choice));
  expect({ status, value }).toMatchObject({ status: 0 });
  return value;
}

/** Does work with a session of this process, for which no program is started. */
async function here<Result>(store: string, work: (pakrat: Pakrat) => Promise<Result>): Promise<Result> {
  const pakrat = await openPakrat({ store, patchUrl: cdn.url, threads: 0 });
  return work(pakrat).finally(() => pakrat.close());
}

const isData = (path: string): boolean => /\/data\/..\/..\/[0-9a-f]{32}$/.test(path) && !path.includes('configs');

/** Objects that lie apart. */
function apart(store: string): string[] {
  return servedObjects(join(store, 'partial')).map((path) => path.replace(/^partial\//, ''));
}

describe('a store that holds a part', () => {
  test('has nothing in the layout of the CDN that is not what the CDN has, and all of it in the end', async () => {
    const store = scratch('part');
    await sync(store, '--tags', 'Windows,x86_64,enUS');
    const some = servedObjects(store).filter(isData);
    expect(wronglyServed(store, www)).toEqual([]);
    expect(apart(store).length).toBeGreaterThan(0);
    for (const path of apart(store)) expect(some).not.toContain(path);

    await here(store, (pakrat) => pakrat.sync('wow'));
    expect(wronglyServed(store, www)).toEqual([]);
    await sync(store, '--all');
    expect(wronglyServed(store, www)).toEqual([]);
    expect(apart(store)).toEqual([]);
    const whole = new Set(servedObjects(store));
    for (const path of readClaims(store).keys()) expect(whole).toContain(path);
  });

  test('one file that is read brings no archive into the layout', async () => {
    const store = scratch('one');
    const row = readTruth(cdn.root, 'b').rows.find(({ lockedBy }) => lockedBy === undefined);
    const names = [`ekey:${row?.ekeys[0]}`];
    const taken = await here(store, (pakrat) => pakrat.extract('wow', { names, to: scratch('out') }));
    expect(taken).toMatchObject({ files: 1, failed: [] });
    expect(wronglyServed(store, www)).toEqual([]);
    expect(apart(store).length).toBeGreaterThan(0);
    // The folder as a source finds it all the same.
    const folder = `cdn:${join(store, 'tpr/wow')}`;
    const storeless = await openPakrat({ offline: true, threads: 0 });
    const again = storeless.extract(folder, { names, to: scratch('out-of-folder') });
    expect(await again.finally(() => storeless.close())).toMatchObject({ files: 1, failed: [] });
  });
});

describe('kills', () => {
  test('at any moment of a sync: nothing that would be served is wrong, and nothing that was held is fetched again', async () => {
    const store = scratch('killed');
    const plan = { args: syncArgs(store, '--all'), store, www, kills: 4, betweenMs: [300, 1200], seed: 5 } as const;
    const { wrong } = await killAgainAndAgain(plan);
    expect(wrong).toEqual([]);
    const before = readClaims(store);
    await sync(store, '--all');
    expect(lostClaims(before, readClaims(store))).toEqual([]);
    expect(checkHeldBytes(store, www).wrong).toEqual([]);
    expect(apart(store)).toEqual([]);
  });

  test('at any moment of verify --repair over damage: what would be served is right or the damage alone', async () => {
    const store = scratch('repaired');
    await here(store, (pakrat) => pakrat.sync('wow', { all: true }));
    const random = randomSource(9);
    const archives = servedObjects(store).filter((path) => isData(path) && fs.existsSync(join(store, `${path}.index`)));
    for (let kill = 0; kill < 3; kill++) {
      for (const path of archives) flip(join(store, path));
      const damaged = new Set(wronglyServed(store, www));
      const { child, ended } = startPakrat(['verify', '--repair', ...service(store)]);
      setTimeout(() => child.kill('SIGKILL'), 300 + random() * 900);
      await ended;
      for (const path of wronglyServed(store, www)) expect(damaged).toContain(path);
      await here(store, async (pakrat) => {
        const { repaired, bad } = await pakrat.repair();
        expect(repaired).toBe(bad.length);
        await pakrat.sync('wow', { all: true });
      });
      expect(wronglyServed(store, www)).toEqual([]);
      expect(apart(store)).toEqual([]);
    }
  });
});

function flip(file: string): void {
  if (!fs.existsSync(file)) return;
  const fd = fs.openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  fs.readSync(fd, byte, 0, 1, 40);
  fs.writeSync(fd, Buffer.from([byte[0]! ^ 1]), 0, 1, 40);
  fs.closeSync(fd);
}
