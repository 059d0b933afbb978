import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { openPakrat, type Pakrat } from '../../src/pakrat.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import type { ExtractResult } from '../../src/sources/extract/extract.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { claimedBytes } from '../support/interrupt.ts';
import { freePort } from '../support/loopback.ts';
import { makeTree } from '../support/own-cdn.ts';
import { pakratJson, type Run, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type Expected, expectedFiles, readTruth, wrongFiles } from '../support/truth.ts';

// Many processes at once; the machine may be busy.
jest.setTimeout(240_000);
const scratch = scratchFolder();
const root = scratch('tree');
const www = join(root, 'www');
const lists = 5;
let expected: Expected[];
let server: StaticServer;

beforeAll(async () => {
  const port = await freePort();
  makeTree(root, port, ['--files', '160', '--total-bytes', '4M', '--archives', '4', '--seed', 'several']);
  const readable = expectedFiles(readTruth(root, 'b'), 'ekey').filter(({ lockedBy }) => lockedBy === undefined);
  // Made once, for they are compared with what every process wrote.
  expected = readable.map((file) => {
    const bytes = file.content();
    return { ...file, content: () => bytes };
  });
  server = await serveFolder(www, { port, bytesPerSecond: 1_500_000 });
}, 120_000);
afterAll(() => server?.close());

const service = (store: string): string[] => ['--store', store, '--patch-url', server.url];

/** Chooses the files of one of the processes. */
type ListOf = (number: number) => Expected[];
const same: ListOf = () => expected;
/** Three in five, so that each file is asked for by several. */
const some: ListOf = (number) => expected.filter((_, i) => (i + number) % lists > 1);

/** The list of a process, in a file. */
function writeList(listOf: ListOf, number: number): string {
  const list = scratch(`list-${number}.txt`);
  const lines = listOf(number).map(({ query }) => `${query}\n`);
  fs.writeFileSync(list, lines.join(''));
  return list;
}

function startExtract(listOf: ListOf, number: number, store: string): ReturnType<typeof startPakrat> {
  const list = writeList(listOf, number);
  return startPakrat(['extract', 'wow', '--list', list, '--to', `${store}-${number}`, ...service(store), '--json']);
}

/** Does work with a session of this process. */
async function here<Result>(store: string, work: (pakrat: Pakrat) => Promise<Result>): Promise<Result> {
  const pakrat = await openPakrat({ store, patchUrl: server.url, threads: 0 });
  return work(pakrat).finally(() => pakrat.close());
}

/** A store that has the keys and nothing else. */
async function emptyStore(name: string): Promise<string> {
  await here(scratch(name), (pakrat) => pakrat.keys.import([join(root, 'truth/keys.txt')]));
  return scratch(name);
}

/** Bytes that the server sends for work that nobody else does. */
async function bytesAlone(name: string, work: (pakrat: Pakrat, store: string) => Promise<unknown>): Promise<number> {
  const before = server.stats.bytes;
  const store = await emptyStore(name);
  await here(store, (pakrat) => work(pakrat, store));
  return server.stats.bytes - before;
}

function expectRight(listOf: ListOf, number: number, store: string, { status, stdout, stderr }: Run): void {
  const problem = status === 0 ? '' : stdout.slice(0, 500) + stderr.slice(-500);
  expect({ number, status, problem }).toEqual({ number, status: 0, problem: '' });
  const { failed } = JSON.parse(stdout) as ExtractResult;
  expect(wrongFiles(listOf(number), `${store}-${number}`, failed)).toEqual([]);
}

describe('processes that extract from a store that lacks the build', () => {
  test.each([
    ['three, the same files', same, 3],
    ['five, files that overlap', some, lists],
  ])('%s: each ends well, and little is fetched twice', async (what, listOf, processes) => {
    const numbers = Array.from({ length: processes }, (_, i) => i);
    // One after the other: what lies in the gaps of a range comes with it, and is not kept.
    const once = await bytesAlone(`alone ${what}`, async (pakrat, store) => {
      for (const number of numbers) {
        const list = writeList(listOf, number);
        expect((await pakrat.extract('wow', { list, to: `${store}-${number}` })).failed).toEqual([]);
      }
    });

    const before = server.stats.bytes;
    const store = await emptyStore(`beside ${what}`);
    const runs = numbers.map((number) => startExtract(listOf, number, store));
    for (const [i, { ended }] of runs.entries()) expectRight(listOf, i, store, await ended);
    expect(server.stats.bytes - before).toBeLessThan(once * 1.1);
    expect(checkHeldBytes(store, www).wrong).toEqual([]);
  });

  test('when one is killed in the middle, the others end well', async () => {
    const store = await emptyStore('killed');
    const before = server.stats.bytes;
    const runs = [0, 1, 2].map((number) => startExtract(some, number, store));
    while (claimedBytes(store) < 1_000_000 && runs[0]?.child.exitCode === null) await sleep(20);
    runs[0]?.child.kill('SIGKILL');
    for (const [i, { ended }] of runs.entries()) if (i > 0) expectRight(some, i, store, await ended);
    expect(checkHeldBytes(store, www).wrong).toEqual([]);
    expect(server.stats.bytes - before).toBeLessThan(8_000_000);
  });

  test('beside a sync: it ends well, and what it fetches is used', async () => {
    const once = await bytesAlone('plain', (pakrat) => pakrat.sync('wow'));

    const before = server.stats.bytes;
    const store = await emptyStore('synced');
    const sync = pakratJson<SyncReport>(['sync', 'wow', ...service(store)]);
    const runs = [0, 1].map((i) => startExtract(some, i, store));
    for (const [i, { ended }] of runs.entries()) expectRight(some, i, store, await ended);
    const { status, value } = await sync;
    expect({ status, value }).toMatchObject({ status: 0, value: { missing: { entries: 0 } } });
    // What lies in the gaps of a range may come twice.
    expect(server.stats.bytes - before).toBeLessThan(once * 1.3);
    expect(checkHeldBytes(store, www).wrong).toEqual([]);
  });
});
