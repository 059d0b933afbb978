import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, jest, test } from '@jest/globals';
import type { WatchEvent } from '../../src/app/watch.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { storeLayout } from '../../src/store/layout.ts';
import { Ledger } from '../../src/store/ledger/ledger.ts';
import { type FamilyFile, familyFiles, publishFamily } from '../support/family.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { randomSource } from '../support/hostile.ts';
import { freePort } from '../support/loopback.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

jest.setTimeout(7_200_000);
const scratch = scratchFolder();
const builds = Number(process.env.PAKRAT_BUILDS ?? 200);
const keep = 10;
const random = randomSource(Number(process.env.PAKRAT_SEED ?? 5));
const filesOf = (version: number): FamilyFile[] => familyFiles(version, { count: 120, changed: 4, bytes: 12_000 });
let server: StaticServer | undefined;
afterAll(() => server?.close());

function filesBelow(folder: string): { size: number; blocks: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)));
}
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const objectBlocks = (store: string): number =>
  sum(['tpr', 'partial'].flatMap((name) => filesBelow(join(store, name))).map(({ blocks }) => blocks * 512));

/** Bytes of the blocks that the spans of a store touch. */
function neededBlocks(store: string): number {
  const ledger = new Ledger(storeLayout(store).ledger);
  const touched = [...ledger.objects()].map(({ path }) =>
    ledger.spans(path).reduce(
      ({ blocks, next }, { start, end }) => {
        const first = Math.max(next, Math.floor(start / 4096));
        return { blocks: blocks + Math.max(0, Math.ceil(end / 4096) - first), next: Math.ceil(end / 4096) };
      },
      { blocks: 0, next: 0 },
    ),
  );
  ledger.close();
  return sum(touched.map(({ blocks }) => blocks * 4096));
}

test(`${builds} builds through watch --keep ${keep}, with faults on the way: at the end exactly the kept ones, whole, in the room that they need`, async () => {
  const port = await freePort();
  const [out, store] = [scratch('cdn'), scratch('store')];
  const url = `http://127.0.0.1:${port}`;
  const events: WatchEvent[] = [];
  const memory: number[] = [];
  const start = () => {
    const args = ['watch', 'game', '--keep', String(keep), '--every', '0.01m', '--store', store, '--patch-url', url];
    const run = startPakrat([...args, '--json', '--quiet']);
    let text = '';
    run.child.stdout?.on('data', (piece) => {
      text += String(piece);
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      events.push(...lines.filter(Boolean).map((line) => JSON.parse(line) as WatchEvent));
    });
    return run;
  };
  await publishFamily(0, { out, port, files: filesOf(0) });
  server = await serveFolder(out, { port });
  let watch = start();
  const isSynced = (version: number) => (event: WatchEvent) =>
    event.event === 'synced' && event.build.name === `1.${version}`;
  for (let version = 0; version < builds; version++) {
    if (version > 0) await publishFamily(version, { out, port, files: filesOf(version) });
    if (random() < 0.1) {
      await sleep(random() * 1500);
      watch.child.kill('SIGKILL');
      await watch.ended;
      watch = start();
    }
    if (random() < 0.05) {
      await server.close();
      await sleep(random() * 3000);
      server = await serveFolder(out, { port });
    }
    while (!events.some(isSynced(version)) && !(await isHeld(store, version))) await sleep(50);
    const status = readdirSync('/proc').includes(String(watch.child.pid)) ? statusOf(watch.child.pid) : undefined;
    if (status !== undefined) memory.push(status);
  }
  // The last look gives back what the last build pushed out.
  await sleep(5000);
  watch.child.kill('SIGTERM');
  expect((await watch.ended).status).toBe(0);

  expect(checkHeldBytes(store, out).wrong).toEqual([]);
  const fetched = sum(events.map((event) => (event.event === 'synced' ? event.fetched.bytes : 0)));
  const published = sum(filesBelow(join(out, 'tpr')).map(({ size }) => size));
  const [needed, used] = [neededBlocks(store), objectBlocks(store)];
  console.log({ fetched, published, needed, used, memory: [memory.slice(0, 5), memory.slice(-5)] });
  await withPakrat({ store, offline: true }, async (pakrat) => {
    const names = (await pakrat.status()).builds.map(({ name }) => name);
    expect(names).toEqual(Array.from({ length: keep }, (_, i) => `1.${builds - 1 - i}`));
    for (const name of names) {
      await using build = await pakrat.open(`game@${name}`);
      for (const { name: file, bytes } of filesOf(Number(name.slice(2))))
        expect(bytes.equals(await build.bytes(file))).toBe(true);
    }
    expect(await pakrat.verify()).toMatchObject({ bad: [] });
    expect(await pakrat.gc()).toMatchObject({ objects: 0 });
  });
  expect(used).toBeLessThan(needed * 1.03);
  expect(fetched).toBeLessThan(published * 1.03);
});

async function isHeld(store: string, version: number): Promise<boolean> {
  return withPakrat({ store, offline: true }, async (pakrat) =>
    (await pakrat.status().catch(() => ({ builds: [] }))).builds.some(
      ({ name, wanted, held }) => name === `1.${version}` && wanted.entries > 0 && held.entries >= wanted.entries,
    ),
  );
}

/** Megabytes of a process; undefined for one that has just ended. */
function statusOf(pid: number | undefined): number | undefined {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
  } catch {
    return undefined;
  }
}
