import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import type { ExtractResult } from '../../src/sources/extract/extract.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { claimedBytes } from '../support/interrupt.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson, type Run, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { makeTree } from '../support/synthetic-cdn.ts';
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
  makeTree(root, port, ['--files', '300', '--total-bytes', '5M', '--archives', '4', '--seed', 'several']);
  expected = expectedFiles(readTruth(root, 'b'), 'ekey').filter(({ lockedBy }) => lockedBy === undefined);
  server = await serveFolder(www, { port, bytesPerSecond: 1_500_000 });
}, 120_000);
afterAll(() => server?.close());

const service = (store: string): string[] => ['--store', store, '--patch-url', server.url];

/** Chooses the files of one of the processes. */
type ListOf = (number: number) => Expected[];
const same: ListOf = () => expected;
/** Three in five, so that each file is asked for by several. */
const some: ListOf = (number) => expected.filter((_, i) => (i + number) % lists > 1);

function startExtract(listOf: ListOf, number: number, store: string): ReturnType<typeof startPakrat> {
  const list = scratch(`list-${number}.txt`);
  const lines = listOf(number).map(({ query }) => `${query}\n`);
  fs.writeFileSync(list, lines.join(''));
  return startPakrat(['extract', 'wow', '--list', list, '--to', `${store}-${number}`, ...service(store), '--json']);
}

/** A store that has the keys and nothing else. */
async function emptyStore(name: string): Promise<string> {
  await pakratJson(['keys', 'import', join(root, 'truth/keys.txt'), '--store', scratch(name)]);
  return scratch(name);
}

function expectRight(listOf: ListOf, number: number, store: string, { status, stdout, stderr }: Run): void {
  const problem = status === 0 ? '' : stdout.slice(0, 500) + stderr.slice(-500);
  expect({ number, status, problem }).toEqual({ number, status: 0, problem: '' });
  const { failed } = JSON.parse(stdout) as ExtractResult;
  expect(wrongFiles(listOf(number), `${store}-${number}`, failed)).toEqual([]);
}

describe('five processes that extract from a store that lacks the build', () => {
  test.each([
    ['the same files', same],
    ['files that overlap', some],
  ])('%s: each ends well, and little is fetched twice', async (what, listOf) => {
    const before = server.stats.bytes;
    const alone = await emptyStore(`alone ${what}`);
    // One after the other: what lies in the gaps of a range comes with it, and is not kept.
    for (let i = 0; i < lists; i++) expectRight(listOf, i, alone, await startExtract(listOf, i, alone).ended);
    const once = server.stats.bytes - before;

    const store = await emptyStore(`beside ${what}`);
    const runs = Array.from({ length: lists }, (_, i) => startExtract(listOf, i, store));
    for (const [i, { ended }] of runs.entries()) expectRight(listOf, i, store, await ended);
    expect(server.stats.bytes - before - once).toBeLessThan(once * 1.1);
    expect(checkHeldBytes(store, www).wrong).toEqual([]);
  });

  test('when one is killed in the middle, the others end well', async () => {
    const store = await emptyStore('killed');
    const before = server.stats.bytes;
    const runs = Array.from({ length: lists }, (_, i) => startExtract(some, i, store));
    while (claimedBytes(store) < 1_000_000 && runs[0]?.child.exitCode === null) await sleep(20);
    runs[0]?.child.kill('SIGKILL');
    for (const [i, { ended }] of runs.entries()) if (i > 0) expectRight(some, i, store, await ended);
    expect(checkHeldBytes(store, www).wrong).toEqual([]);
    expect(server.stats.bytes - before).toBeLessThan(10_000_000);
  });

  test('beside a sync: it ends well, and what it fetches is used', async () => {
    const before = server.stats.bytes;
    await pakratJson<SyncReport>(['sync', 'wow', ...service(scratch('plain'))]);
    const once = server.stats.bytes - before;

    const store = await emptyStore('synced');
    const sync = pakratJson<SyncReport>(['sync', 'wow', ...service(store)]);
    const runs = [0, 1].map((i) => startExtract(some, i, store));
    for (const [i, { ended }] of runs.entries()) expectRight(some, i, store, await ended);
    const { status, value } = await sync;
    expect({ status, value }).toMatchObject({ status: 0, value: { missing: { entries: 0 } } });
    // What lies in the gaps of a range may come twice.
    expect(server.stats.bytes - before - once).toBeLessThan(once * 1.3);
    expect(checkHeldBytes(store, www).wrong).toEqual([]);
  });
});
