import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Hosts } from '../../../src/cdn/hosts/hosts.ts';
import { type Cdn, fetchObject } from '../../../src/cdn/transport/fetch-object.ts';
import { HttpClient } from '../../../src/cdn/transport/http.ts';
import { unlimited } from '../../../src/cdn/transport/rate-limit.ts';
import { fromHex } from '../../../src/core/bytes.ts';
import { type Engine, rangeEngine } from '../../../src/fetch/transfer/engine.ts';
import type { RangeJob, RangeResult, RangeTarget } from '../../../src/fetch/transfer/range-job.ts';
import { type PackedJob, packJob } from '../../../src/fetch/transfer/range-targets.ts';
import { type TransferOptions, transfer } from '../../../src/fetch/transfer/transfer.ts';
import { mergeSpans, type Span, spanBytes } from '../../../src/store/spans.ts';
import { freePort } from '../../support/loopback.ts';
import { always, atFirst, type Lie, type LyingServer, lyingServer } from '../../support/lying-server.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { describeTmpfs, withTmpfs } from '../../support/tmpfs.ts';
import { archiveOf, chunkedEntry, expectRight, jobFor, listed, type TestArchive, wholeEntry } from '../archive.ts';

const scratch = scratchFolder();
/** Bodies in small pieces, over a few hundred milliseconds. */
const drip = always({ kind: 'drip', bytes: 8192, everyMs: 6 });
const limits = { connectMs: 1000, idleMs: 600, connections: 8 };
/** Six objects of four entries each. */
const objects = new Map<string, TestArchive>(
  Array.from({ length: 6 }, (_, i) => [
    `tpr/x/data/archive${i}`,
    archiveOf(
      [
        chunkedEntry(30_000, 8000, i * 4),
        wholeEntry(9000, i * 4 + 1),
        chunkedEntry(12_000, 4000, i * 4 + 2),
        wholeEntry(7000, i * 4 + 3),
      ],
      [50, 100, 0, 2000],
    ),
  ]),
);

let servers: LyingServer[] = [];
let engines: Engine[] = [];
let number = 0;
let spans: Map<string, Span[]>;
let done: string[];

beforeEach(() => {
  number += 1;
  spans = new Map();
  done = [];
});
afterEach(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  await Promise.all(servers.map((server) => server.close()));
  engines = [];
  servers = [];
});

/** Starts one host for each lie; all have the same objects. */
async function startHosts(...lies: (LyingServer['lie'] | undefined)[]): Promise<Hosts> {
  for (const lie of lies) {
    const server = await lyingServer([...objects].map(([path, { bytes }]) => [path, bytes]));
    if (lie !== undefined) server.lie = lie;
    servers.push(server);
  }
  return new Hosts(servers.map(({ base }) => ({ base, fallback: false })));
}

function engine(): Engine {
  const started = rangeEngine(
    { limits, temporary: scratch('tmp'), maxRangeBytes: 1 << 28 },
    { onReceived: () => {}, onRequest: () => {} },
  );
  engines.push(started);
  return started;
}

const fileOf = (path: string): string => scratch(`run${number}`, path);
const jobs = (more: Partial<RangeJob> = {}): RangeJob[] =>
  [...objects].map(([path, archive]) => jobFor(archive, { path, file: fileOf(path), ...more }));

function* packedLater(work: Iterable<RangeJob>): Generator<PackedJob> {
  for (const job of work) yield packJob(job);
}

function run(
  hosts: Hosts,
  more: Partial<Omit<TransferOptions, 'engine'>> & { work?: Iterable<RangeJob>; engine?: Engine } = {},
): ReturnType<typeof transfer> {
  const { work = jobs(), engine: given, ...options } = more;
  let started = given;
  return transfer(packedLater(work), {
    hosts,
    engine: async () => (started ??= engine()),
    jobs: 4,
    attemptsPerHost: 3,
    kind: 'data',
    onSpans: (path, found) => spans.set(path, [...(spans.get(path) ?? []), ...found]),
    onDone: ({ targets }, index) => done.push(targets.ekey(index)),
    ...options,
  });
}

const requests = (): number => servers.reduce((sum, { asked }) => sum + asked.length, 0);
const entries = [...objects.values()].flatMap(({ places }) => places);
const wanted = entries.reduce((sum, { size }) => sum + size, 0);

/** Everything that was reported is right, and so much of it there is. */
function expectHeld(bytes: number): void {
  let held = 0;
  for (const [path, found] of spans) {
    expectRight(fileOf(path), found, objects.get(path)!.bytes);
    held += spanBytes(mergeSpans(found));
  }
  expect(held).toBe(bytes);
}

describe('honest hosts', () => {
  test('all carry, and every entry is told once when it is on disk', async () => {
    const hosts = await startHosts(undefined, undefined, undefined);
    const failures = await run(hosts, {
      onDone(job, index) {
        const target = job.targets.at(index);
        const bytes = fs.readFileSync(job.file).subarray(target.offset, target.offset + target.size);
        expect(
          bytes.equals(Buffer.from(objects.get(job.path)!.bytes.subarray(target.offset, target.offset + target.size))),
        ).toBe(true);
        done.push(target.ekey);
      },
    });
    expect(failures).toEqual([]);
    expectHeld(wanted);
    expect(done.toSorted()).toEqual(entries.map(({ ekey }) => ekey).toSorted());
    expect(requests()).toBe(objects.size);
    for (const { asked } of servers) expect(asked.length).toBeGreaterThan(0);
  });

  test('nothing to do asks nobody, and starts nothing', async () => {
    expect(await run(await startHosts(undefined), { work: [] })).toEqual([]);
    expect(requests()).toBe(0);
    expect(engines).toEqual([]);
  });
});

describe('hosts that lie', () => {
  const lies: [string, Lie][] = [
    ['hangs up', { kind: 'hang up' }],
    ['has nothing', { kind: 'status', status: 404 }],
    ['is broken', { kind: 'status', status: 500 }],
    ['answers a page of HTML with 200', { kind: 'html' }],
    ['knows no ranges', { kind: 'whole' }],
    ['leaves Content-Range away', { kind: 'content-range', value: undefined }],
    ['promises more', { kind: 'length', off: 5 }],
    ['cuts at once', { kind: 'cut', after: 0 }],
    ['stalls', { kind: 'stall', after: 10_000 }],
    ['changes a byte', { kind: 'flip', offset: 20_000 }],
    ['sends another place', { kind: 'shift', by: -8 }],
    ['packs', { kind: 'gzip' }],
    ['never ends', { kind: 'endless' }],
  ];

  test.each(lies)('one of three that %s: the others carry it', async (_, lie) => {
    const hosts = await startHosts(always(lie), undefined, undefined);
    expect(await run(hosts)).toEqual([]);
    expectHeld(wanted);
    expect(done).toHaveLength(entries.length);
    // No job is asked of the liar twice.
    expect(servers[0]!.asked.length).toBeLessThanOrEqual(objects.size);
    expect(requests()).toBeLessThanOrEqual(objects.size + servers[0]!.asked.length);
  });

  test.each(lies)('two of three that %s: the third one carries it', async (_, lie) => {
    const hosts = await startHosts(always(lie), undefined, always(lie));
    expect(await run(hosts)).toEqual([]);
    expectHeld(wanted);
    expect(requests()).toBeLessThanOrEqual(3 * objects.size);
  });

  test.each(lies.filter(([name]) => name !== 'never ends' && name !== 'knows no ranges'))(
    'a host that %s for a moment is asked again',
    async (_, lie) => {
      const hosts = await startHosts(atFirst(lie));
      // One that says it has not got it is believed: only another run asks it again.
      const failures = await run(hosts);
      if (failures.length > 0) {
        expect(lie.kind).toBe('status');
        expect(await run(new Hosts(hosts.all), { work: jobs() })).toEqual([]);
      }
      expectHeld(wanted);
    },
  );

  test('only what was damaged is asked again, from another host', async () => {
    const [path, archive] = [...objects][0]!;
    const damaged = archive.places[2]!;
    const hosts = await startHosts(
      always({ kind: 'flip', offset: damaged.offset + 9000 }),
      always({ kind: 'flip', offset: damaged.offset + 9000 }),
      undefined,
    );
    expect(await run(hosts, { work: [jobFor(archive, { path, file: fileOf(path) })] })).toEqual([]);
    expectHeld(archive.places.reduce((sum, { size }) => sum + size, 0));
    expect(done.toSorted()).toEqual(archive.places.map(({ ekey }) => ekey).toSorted());
    const asked = servers.flatMap((server) => server.asked).sort((x, y) => x.at - y.at);
    for (const { range } of asked.slice(1)) {
      // The chunks before the damage are kept, so not even the whole entry is asked again.
      expect(range!.start).toBeGreaterThan(damaged.offset + 4000);
      expect(range!.end).toBe(damaged.offset + damaged.size);
    }
    expect(new Set(asked.map(({ range }) => range!.start)).size).toBeLessThanOrEqual(2);
    // Each of the two liars at most once.
    expect(asked.length).toBeLessThanOrEqual(3);
  });

  test('a dead host costs a moment', async () => {
    const alive = await startHosts(undefined, undefined);
    const hosts = new Hosts([{ base: `http://127.0.0.1:${await freePort()}`, fallback: false }, ...alive.all]);
    const started = performance.now();
    expect(await run(hosts)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(15_000);
    expectHeld(wanted);
    expect(requests()).toBe(objects.size);
  });

  test('a host without configs still serves data, and one without data still serves configs', async () => {
    const hosts = await startHosts(undefined, undefined);
    const config = new TextEncoder().encode('a config');
    servers[1]!.objects.set('tpr/x/config/c', config);
    const http = new HttpClient(limits);
    const cdn: Cdn = { http, hosts, rate: unlimited, attemptsPerHost: 3 };
    for (let i = 0; i < 6; i++) {
      await fetchObject(cdn, { path: 'tpr/x/config/c', kind: 'config', maxSize: 100, check: () => {} });
    }
    const without = servers[0]!;
    expect(without.asked.length).toBeLessThanOrEqual(3);
    without.asked.length = 0;
    expect(await run(hosts)).toEqual([]);
    expect(without.asked.length).toBeGreaterThan(0);
    await http.close();
  });

  test('Retry-After is waited for', async () => {
    const hosts = await startHosts((_, count) =>
      count === 1 ? { kind: 'status', status: 503, retryAfter: '1' } : undefined,
    );
    expect(await run(hosts, { work: jobs().slice(0, 1) })).toEqual([]);
    const [first, second] = servers[0]!.asked;
    expect(second!.at - first!.at).toBeGreaterThan(950);
    expect(requests()).toBe(2);
  });

  test('a host that broke off and is right in between comes to its end, chunk by chunk', async () => {
    const hosts = await startHosts(always({ kind: 'cut', after: 12_000 }));
    expect(await run(hosts, { attemptsPerHost: 5 })).toEqual([]);
    expectHeld(wanted);
  });
});

describe('no host is right', () => {
  test('what is missing is named, the rest is held, and nobody is asked for ever', async () => {
    const lie = always({ kind: 'flip', offset: 20_000 });
    const failures = await run(await startHosts(lie, lie), { attemptsPerHost: 2, withKeys: true });
    expect(failures).toHaveLength(objects.size);
    for (const failure of failures) {
      const { places } = objects.get(failure.path)!;
      expect(failure).toMatchObject({ code: 'E_NETWORK_EXHAUSTED', keys: Uint8Array.from(fromHex(places[0]!.ekey)) });
    }
    expect(done).toHaveLength(entries.length - objects.size);
    for (const [path, found] of spans) expectRight(fileOf(path), found, objects.get(path)!.bytes);
    // Two hosts, two tries each, and one more for the part of the first entry that was right.
    expect(requests()).toBeLessThanOrEqual(objects.size * (2 * 2 + 1));
  });

  test('a damaged stretch costs itself alone, however small the pieces of an answer are', async () => {
    const path = 'tpr/x/data/long';
    const long = archiveOf(Array.from({ length: 60 }, (_, i) => wholeEntry(12_000, 100 + i)));
    const bytes = long.bytes.slice();
    const right = long.places.toSpliced(12, 30);
    bytes.fill(0x5a, long.places[12]!.offset, long.places[42]!.offset);
    for (const hostCount of [1, 2]) {
      done = [];
      const hosts = await startHosts(...Array.from({ length: hostCount }, () => drip));
      for (const server of servers.slice(-hostCount)) server.objects.set(path, bytes);
      const work = [jobFor(long, { path, file: scratch(`long${hostCount}`) })];
      const failures = await run(hosts, { work, withKeys: true });
      const keys = long.places.slice(12, 42).map(({ ekey }) => ekey);
      expect(failures).toMatchObject([{ path, keys: Uint8Array.from(fromHex(keys.join(''))) }]);
      expect(done.toSorted()).toEqual(right.map(({ ekey }) => ekey).toSorted());
    }
  });

  test('what nobody has is not found, after one question to each', async () => {
    const lie = always({ kind: 'status', status: 404 });
    const failures = await run(await startHosts(lie, lie, lie));
    expect(failures.map(({ code }) => code)).toEqual(new Array(objects.size).fill('E_NOT_FOUND'));
    expect(requests()).toBe(3 * objects.size);
    expect(spans.size).toBe(0);
  });

  test('when none knows ranges that is found out soon, and whole objects are taken when allowed', async () => {
    const hosts = await startHosts(always({ kind: 'whole' }), always({ kind: 'html' }));
    const failures = await run(hosts);
    expect(failures).toHaveLength(objects.size);
    expect(hosts.noneKnowsRanges('data')).toBe(true);
    expect(requests()).toBeLessThanOrEqual(4 * objects.size);
    expect(await run(hosts, { work: jobs({ allowWhole: true }) })).toEqual([]);
    expectHeld(wanted);
  });
});

test('an only host that brings a tiny entry now and then is given up after its tries, and what came is right', async () => {
  const tiny = archiveOf(Array.from({ length: 400 }, (_, i) => wholeEntry(10, i)));
  const path = 'tpr/x/data/tiny';
  const hosts = await startHosts(always({ kind: 'drip', bytes: 5, everyMs: 50 }));
  servers[0]!.objects.set(path, tiny.bytes);
  const impatient = rangeEngine(
    { limits: { ...limits, slowWindowMs: 900 }, temporary: scratch('tmp'), maxRangeBytes: 1 << 28 },
    { onReceived: () => {}, onRequest: () => {} },
  );
  engines.push(impatient);
  const work = [jobFor(tiny, { path, file: fileOf(path) })];
  const failures = await run(hosts, { work, engine: impatient });
  expect(failures).toMatchObject([{ message: expect.stringMatching(/only \d+ bytes a second/) }]);
  expect(requests()).toBeLessThanOrEqual(3);
  const held = spans.get(path) ?? [];
  expect(spanBytes(mergeSpans(held))).toBeGreaterThan(0);
  expectRight(fileOf(path), held, tiny.bytes);
});

describe('an interruption', () => {
  /** A signal that is aborted as soon as something is true. */
  function abortedWhen(isTrue: () => boolean): AbortSignal {
    const controller = new AbortController();
    const timer = setInterval(() => {
      if (!isTrue()) return;
      clearInterval(timer);
      controller.abort();
    }, 5);
    return controller.signal;
  }
  const heldBytes = (): number => [...spans.values()].reduce((sum, found) => sum + spanBytes(mergeSpans(found)), 0);

  test('ends soon, with E_ABORTED, and what was right stays', async () => {
    const hosts = await startHosts(always({ kind: 'drip', bytes: 3000, everyMs: 100 }));
    const started = performance.now();
    const signal = abortedWhen(() => heldBytes() > 8000);
    await expect(run(hosts, { signal })).rejects.toMatchObject({ code: 'E_ABORTED' });
    expect(performance.now() - started).toBeLessThan(15_000);
    for (const [path, found] of spans) expectRight(fileOf(path), found, objects.get(path)!.bytes);
    expect(heldBytes()).toBeGreaterThan(8000);
    expect(heldBytes()).toBeLessThan(wanted);
    // No job that had not begun was begun.
    expect(requests()).toBeLessThanOrEqual(4);
  });

  test('lets what is nearly there come to its end', async () => {
    const hosts = await startHosts(always({ kind: 'drip', bytes: 20_000, everyMs: 30 }));
    const signal = abortedWhen(() => requests() > 0);
    await expect(run(hosts, { signal, jobs: 1 })).rejects.toMatchObject({ code: 'E_ABORTED' });
    expect(done).toHaveLength(4);
    expect(requests()).toBe(1);
  });

  test('ends at once while a host asked to be left alone', async () => {
    const hosts = await startHosts(always({ kind: 'status', status: 503, retryAfter: '20' }));
    const started = performance.now();
    await expect(run(hosts, { signal: AbortSignal.timeout(200) })).rejects.toMatchObject({ code: 'E_ABORTED' });
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  test('before it began does nothing', async () => {
    await expect(run(await startHosts(undefined), { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'E_ABORTED',
    });
    expect(requests()).toBe(0);
  });
});

describeTmpfs('a full disk', () => {
  test('ends it all with E_STORE_FULL; no entry is called done that is not on disk', async () => {
    const hosts = await startHosts(undefined, undefined);
    await withTmpfs('64k', async (folder) => {
      const work = jobs().map((job) => ({ ...job, file: `${folder}/${job.path}` }));
      const onDone = (job: PackedJob, index: number): void => {
        const target = job.targets.at(index);
        const bytes = fs.readFileSync(job.file).subarray(target.offset, target.offset + target.size);
        const right = objects.get(job.path)!.bytes.subarray(target.offset, target.offset + target.size);
        if (!bytes.equals(Buffer.from(right))) throw new Error('called done, but not on disk');
      };
      await expect(run(hosts, { work, onDone, jobs: 2 })).rejects.toMatchObject({ code: 'E_STORE_FULL' });
      expect(requests()).toBeLessThanOrEqual(4);
    });
  });
});

describe('the order of work', () => {
  /** An engine that does nothing, but as asked. */
  function fakeEngine(
    answer: (job: RangeJob, base: string) => Partial<RangeResult> | Promise<Partial<RangeResult>>,
  ): Engine & { signals: Set<AbortSignal> } {
    return {
      signals: new Set(),
      async run(job, base, { signal }) {
        this.signals.add(signal);
        const given = await answer(listed(job), base);
        const verified = job.targets.map(({ size }) => size);
        return { verified, wrongBytes: 0, rangeServed: true, error: undefined, ...given };
      },
      close: async () => {},
    };
  }
  const hosts = (): Hosts =>
    new Hosts([
      { base: 'http://a', fallback: false },
      { base: 'http://b', fallback: false },
    ]);
  const job = (i: number, targets: RangeTarget[]): RangeJob => ({
    path: `p${i}`,
    file: `f${i}`,
    targets,
    start: targets[0]!.offset,
    end: Math.max(...targets.map(({ offset, size }) => offset + size)),
  });
  const keyOf = (i: number): string => `e${i}`.padStart(32, '0');
  const target = (i: number, held = 0): RangeTarget => ({ ekey: keyOf(i), offset: i * 100, size: 100, held });

  test('so many at a time and no more, in the order given, each made when its turn comes', async () => {
    let made = 0;
    let running = 0;
    let most = 0;
    const order: string[] = [];
    function* make(): Generator<RangeJob> {
      for (let i = 0; i < 50; i++) {
        made += 1;
        expect(made - order.length).toBeLessThanOrEqual(8);
        yield job(i, [target(0)]);
      }
    }
    const busy = fakeEngine(async ({ path }) => {
      order.push(path);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running -= 1;
      return {};
    });
    expect(await run(hosts(), { work: make(), engine: busy, jobs: 3 })).toEqual([]);
    expect(most).toBe(3);
    expect(order).toEqual(Array.from({ length: 50 }, (_, i) => `p${i}`));
  });

  test('neighbours that are left are asked in one range, others apart, and starts that are verified not again', async () => {
    const asked: RangeJob[] = [];
    const wrong = { code: 'E_INTEGRITY', message: 'wrong', hint: undefined, data: {} };
    const picky = fakeEngine((given) => {
      asked.push(given);
      if (asked.length > 1) return {};
      return { verified: [100, 30, 0, 100, 60], error: wrong };
    });
    const targets = [0, 1, 2, 3, 4].map((i) => target(i));
    expect(await run(hosts(), { work: [job(0, targets)], engine: picky })).toEqual([]);
    expect(asked.slice(1)).toMatchObject([
      { path: 'p0', file: 'f0', start: 130, end: 300, targets: [target(1, 30), target(2)] },
      { path: 'p0', file: 'f0', start: 460, end: 500, targets: [target(4, 60)] },
    ]);
    expect(done).toEqual([0, 3, 1, 2, 4].map(keyOf));
  });

  test('wrong bytes are read past when a host is asked again, and few where nothing came right', async () => {
    const size = 40 << 20;
    const large = (i: number): RangeJob => job(i, [{ ...target(i), offset: 0, size }]);
    const wrong = { code: 'E_INTEGRITY', message: 'wrong', hint: undefined, data: {} };
    const given: (number | undefined)[] = [];
    const bad = fakeEngine(({ patience }) => {
      given.push(patience);
      return { verified: [0], wrongBytes: patience ?? 0, error: wrong };
    });
    const one = new Hosts([{ base: 'http://a', fallback: false }]);
    const options = { attemptsPerHost: 3, jobs: 1 };
    expect(await run(one, { ...options, work: [large(0), large(1), large(2)], engine: bad })).toHaveLength(3);
    expect(given.slice(0, 3)).toEqual([0, size, 24 << 20]);
    expect(given.slice(3).every((patience) => patience === 0)).toBe(true);
    expect(given.length).toBeGreaterThan(3);
  });

  test('trouble of this machine ends the others, and no new one begins', async () => {
    let runs = 0;
    const full = fakeEngine(() => {
      runs += 1;
      return { verified: [0], error: { code: 'E_STORE_FULL', message: 'full', hint: 'Free some.', data: {} } };
    });
    const work = Array.from({ length: 40 }, (_, i) => job(i, [target(0)]));
    await expect(run(hosts(), { work, engine: full, jobs: 4 })).rejects.toMatchObject({
      code: 'E_STORE_FULL',
      hint: 'Free some.',
    });
    expect([...full.signals].map(({ aborted }) => aborted)).toEqual([true]);
    expect(runs).toBeLessThanOrEqual(8);
  });

  test('one that ends leaves alone what others do with the same engine, then and afterwards', async () => {
    let finish = (): void => {};
    const full = { code: 'E_STORE_FULL', message: 'full', hint: undefined, data: {} };
    const shared = fakeEngine(async ({ path }): Promise<Partial<RangeResult>> => {
      if (path === 'p2')
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
      return path === 'p1' ? { verified: [0], error: full } : {};
    });
    const beside = run(hosts(), { work: [job(2, [target(0)])], engine: shared });
    await expect(run(hosts(), { work: [job(1, [target(0)])], engine: shared })).rejects.toMatchObject({
      code: 'E_STORE_FULL',
    });
    expect(await run(hosts(), { work: [job(3, [target(0)])], engine: shared })).toEqual([]);
    finish();
    expect(await beside).toEqual([]);
    expect([...shared.signals].map(({ aborted }) => aborted)).toEqual([false, true, false]);
  });

  test('a bug comes out as it is', async () => {
    const bug = new TypeError('a bug');
    const broken = fakeEngine(() => Promise.reject(bug));
    await expect(run(hosts(), { work: [job(0, [target(0)])], engine: broken })).rejects.toBe(bug);
  });
});
