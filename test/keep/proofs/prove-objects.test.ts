import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { VerifyOptions, VerifyResult } from '../../../src/app/verify.ts';
import { knownObjects } from '../../../src/keep/known-objects.ts';
import { proofTask } from '../../../src/keep/proofs/plan-proof.ts';
import type { ProofTask } from '../../../src/keep/proofs/proof-tasks.ts';
import { proveBatches, proveObjects, startProofs } from '../../../src/keep/proofs/prove-objects.ts';
import { openPakrat } from '../../../src/pakrat.ts';
import { openStore } from '../../../src/store/store.ts';
import type { Proof } from '../../../src/verify/entry-columns.ts';
import { builtModule } from '../../support/built-module.ts';
import { randomSource } from '../../support/hostile.ts';
import { damageStore } from '../../support/random-damage.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { someOf } from '../../support/some-of.ts';
import {
  flipBytes,
  partlySyncedStore,
  type StoreCopy,
  type SyncedStore,
  syncedStore,
} from '../../support/synced-store.ts';

/* What threads prove is what this one would have found right, and whatever else is told is the same. */

const scratch = scratchFolder();
const built = builtModule('src/keep/proofs/proof-worker.ts');
const started = scratch('started');
let workerUrl: URL;
let whole: SyncedStore;
let partly: SyncedStore;
let number = 0;

beforeAll(async () => {
  const program = scratch('program');
  fs.mkdirSync(program);
  fs.writeFileSync(join(program, 'package.json'), '{"type":"module"}');
  const lines = [
    "import { appendFileSync } from 'node:fs';",
    `appendFileSync(${JSON.stringify(started)}, 'a thread\\n');`,
    `await import(${JSON.stringify(built)});`,
  ];
  fs.writeFileSync(join(program, 'proof-worker.js'), lines.join('\n'));
  workerUrl = new URL(`file://${program}/any.js`);
  whole = await syncedStore(scratch('original'), ['--files', '150', '--total-bytes', '3M', '--archives', '4']);
  partly = await partlySyncedStore(scratch('part'), whole.cdn);
});
afterAll(() => whole.cdn.close());

const threadsStarted = (): number =>
  fs.existsSync(started) ? fs.readFileSync(started, 'utf8').split('\n').length - 1 : 0;
const copyOf = (of: SyncedStore): StoreCopy => {
  number += 1;
  return of.copyTo(scratch(`copy${number}`));
};

async function verify(
  root: string,
  { threads, ...options }: VerifyOptions & { threads?: number },
  threadsFrom = workerUrl,
): Promise<VerifyResult> {
  const pakrat = await openPakrat({ store: root, offline: true, workerUrl: threadsFrom, threads });
  try {
    return await pakrat.verify(undefined, options);
  } finally {
    await pakrat.close();
  }
}

/** Verifies a store and copies of it, here, in one thread and in two. */
async function bothWays(store: StoreCopy): Promise<VerifyResult> {
  const [other, third] = [scratch(`other${number}`), scratch(`third${number}`)];
  // Node copies no pipes.
  for (const copy of [other, third]) execFileSync('cp', ['-a', store.root, copy]);
  const before = threadsStarted();
  const here = await verify(other, { threads: 0 });
  expect(threadsStarted()).toBe(before);
  // As on a machine with one core.
  const one = await verify(third, { jobs: 1 });
  expect(threadsStarted()).toBe(before + 1);
  expect(JSON.parse(JSON.stringify(one).replaceAll(third, other))).toEqual(here);
  const threads = await verify(store.root, { jobs: 2 });
  expect(threadsStarted()).toBe(before + 3);
  expect(JSON.parse(JSON.stringify(threads).replaceAll(store.root, other))).toEqual(here);
  return threads;
}

/** Proves what a store holds, in two threads. */
async function prove(store: StoreCopy): Promise<{ tasks: ProofTask[]; proofs: Map<string, Proof> }> {
  const opened = openStore(store.root, { create: false });
  try {
    const tasks = knownObjects(opened).objects.flatMap((object) => proofTask(opened, object) ?? []);
    const proofs = new Map<string, Proof>();
    for await (const { path, ...proof } of proveObjects(tasks, { threads: 2, workerUrl })) proofs.set(path, proof);
    return { tasks, proofs };
  } finally {
    opened.close();
  }
}

test.each([
  ['whole', () => whole],
  ['held in part', () => partly],
])('all archives and loose objects of a store that is %s are proven', async (_, of) => {
  const store = copyOf(of());
  const { archives, loose } = store.objects();
  const { tasks, proofs } = await prove(store);
  expect([...proofs.keys()]).toEqual(expect.arrayContaining([...archives, ...loose]));
  expect(tasks.filter(({ index }) => index !== undefined).length).toBeGreaterThan(4);
  expect([...proofs.keys()].sort()).toEqual(tasks.map(({ path }) => path).sort());
  const { bad, checked } = await bothWays(store);
  expect(bad).toEqual([]);
  const entries = [...proofs.values()].reduce((sum, proof) => sum + proof.entries, 0);
  expect(checked.entries).toBeGreaterThanOrEqual(entries);
  expect(entries).toBeGreaterThan(100);
});

test('whoever takes long over the first answer is given all others, though the threads are through', async () => {
  const { tasks } = await prove(copyOf(whole));
  const pool = startProofs({ bytes: 1, objects: tasks.length }, { threads: 2, workerUrl });
  const proven: string[] = [];
  for await (const { task, proof } of proveBatches(pool!, tasks.map((each) => [each]).values(), undefined)) {
    if (proven.length === 0) await sleep(1_000);
    if (proof !== undefined) proven.push(task.path);
  }
  expect(proven.sort()).toEqual(tasks.map(({ path }) => path).sort());
});

describe('what is not as it should be is not proven, and told as ever', () => {
  const archiveOf = (store: StoreCopy): string => store.objects().archives[0]!;
  test.each<[string, (store: StoreCopy) => string]>([
    [
      'a flipped bit in an archive',
      (store) => {
        const path = archiveOf(store);
        fs.writeFileSync(store.file(path), flipBytes(fs.readFileSync(store.file(path)), 300));
        return path;
      },
    ],
    [
      'an archive that was cut',
      (store) => {
        const path = archiveOf(store);
        fs.truncateSync(store.file(path), fs.statSync(store.file(path)).size - 1);
        return path;
      },
    ],
    [
      'an archive with a byte behind its end',
      (store) => {
        const path = archiveOf(store);
        fs.appendFileSync(store.file(path), 'x');
        return path;
      },
    ],
    [
      'an archive that is gone',
      (store) => {
        const path = archiveOf(store);
        fs.rmSync(store.file(path));
        return path;
      },
    ],
    [
      'a folder in place of an archive',
      (store) => {
        const path = archiveOf(store);
        fs.rmSync(store.file(path));
        fs.mkdirSync(store.file(path));
        return path;
      },
    ],
    [
      'an index that is gone',
      (store) => {
        const path = archiveOf(store);
        fs.rmSync(store.file(`${path}.index`));
        return path;
      },
    ],
    [
      'a damaged index',
      (store) => {
        const path = archiveOf(store);
        const file = store.file(`${path}.index`);
        fs.writeFileSync(file, flipBytes(fs.readFileSync(file), 40));
        return path;
      },
    ],
    [
      'a loose object with a flipped bit',
      (store) => {
        const path = store.objects().loose[0]!;
        fs.writeFileSync(store.file(path), flipBytes(fs.readFileSync(store.file(path)), 30));
        return path;
      },
    ],
  ])('%s', async (_, damage) => {
    const store = copyOf(whole);
    const path = damage(store);
    const { tasks, proofs } = await prove(store);
    expect(proofs.has(path)).toBe(false);
    expect(proofs.size).toBe(tasks.length - 1);
    const { bad, unchecked = [] } = await bothWays(store);
    expect([...bad, ...unchecked].length).toBeGreaterThan(0);
  });

  test('claims of the ledger where no entry lies', async () => {
    const store = copyOf(partly);
    const { tasks } = await prove(store);
    const path = tasks.find(({ index }) => index !== undefined)?.path;
    const last = `SELECT max("end") FROM spans WHERE object = objects.id`;
    store.sql(
      `INSERT INTO spans SELECT id, (${last}) + 100000, (${last}) + 100100 FROM objects WHERE path = '${path}'`,
    );
    const { proofs } = await prove(store);
    expect(proofs.size).toBe(tasks.length - 1);
    const { bad } = await bothWays(store);
    expect(bad.map(({ name }) => name)).toContain(path);
  });

  test('random damage', async () => {
    const random = randomSource(20261123);
    let found = 0;
    const rounds = someOf([0, 1, 2, 3, 4, 5, 6, 7], (round) => round < 4);
    for (const round of rounds) {
      const store = copyOf(round % 2 === 0 ? whole : partly);
      for (let i = 0; i < 4; i++) damageStore(store.root, random, 'answers');
      found += (await bothWays(store)).bad.length;
    }
    expect(found).toBeGreaterThan(rounds.length);
  });
});

test('an interruption ends threads that are at work, and the check', async () => {
  const store = copyOf(whole);
  const program = scratch('busy');
  fs.mkdirSync(program);
  fs.writeFileSync(join(program, 'package.json'), '{"type":"module"}');
  fs.writeFileSync(
    join(program, 'proof-worker.js'),
    `await import('${new URL('proof-worker.js', workerUrl)}'); for (;;);`,
  );
  const before = threadsStarted();
  const abort = new AbortController();
  const poll = setInterval(() => threadsStarted() === before + 2 && abort.abort(), 20);
  try {
    const busy = { jobs: 2, signal: abort.signal };
    await expect(verify(store.root, busy, new URL(`file://${program}/any.js`))).rejects.toMatchObject({
      code: 'E_ABORTED',
    });
  } finally {
    clearInterval(poll);
  }
  expect((await bothWays(store)).bad).toEqual([]);
});
