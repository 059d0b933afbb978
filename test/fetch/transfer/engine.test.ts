import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { rateLimit } from '../../../src/cdn/transport/rate-limit.ts';
import type { Engine, EngineEvents, EngineOptions } from '../../../src/fetch/transfer/engine.ts';
import * as source from '../../../src/fetch/transfer/engine.ts';
import type { RangeJob } from '../../../src/fetch/transfer/range-job.ts';
import { packJob } from '../../../src/fetch/transfer/range-targets.ts';
import { mergeSpans, type Span, spanBytes } from '../../../src/store/spans.ts';
import { builtModule } from '../../support/built-module.ts';
import { always, type LyingServer, lyingServer } from '../../support/lying-server.ts';
import { scratchFolder } from '../../support/scratch.ts';
import {
  archiveOf,
  chunkedEntry,
  expectRight,
  jobFor,
  type ListedJob,
  type ListedResult,
  listedResult,
  type TestArchive,
  wholeEntry,
} from '../archive.ts';

const scratch = scratchFolder();
const archives = new Map<string, TestArchive>(
  Array.from({ length: 8 }, (_, i) => [
    `data/a${i}`,
    // All together are work for two threads.
    archiveOf([chunkedEntry(2_000_000, 50_000, i), wholeEntry(30_000, 50 + i)], [10, 20]),
  ]),
);
const total = [...archives.values()].reduce(
  (sum, { places }) => sum + places.reduce((all, { size }) => all + size, 0),
  0,
);

const never = new AbortController().signal;
const unheard = { onSpans: (): void => {}, signal: never };
const workerUrl = new URL(builtModule('src/fetch/transfer/transfer-worker.ts'));

const kinds: [string, (options: EngineOptions, events: EngineEvents) => Promise<Engine>][] = [
  ['in this thread', async (options, events) => source.rangeEngine(options, events)],
  ['in two threads', async (options, events) => source.threadEngine(2, { ...options, workerUrl }, events)],
];

describe.each(kinds)('an engine %s', (kind, make) => {
  let server: LyingServer;
  let engine: Engine;
  let spans: Map<string, Span[]>;
  let received: number;
  let requests: number;
  let number = 0;

  beforeEach(async () => {
    number += 1;
    server = await lyingServer([...archives].map(([path, { bytes }]) => [path, bytes]));
    spans = new Map();
    received = 0;
    requests = 0;
    engine = await make(
      {
        limits: { connectMs: 1000, idleMs: 2000, connections: 8 },
        temporary: scratch('tmp'),
        maxRangeBytes: 1 << 28,
      },
      {
        onReceived: (bytes) => {
          received += bytes;
        },
        onRequest: () => {
          requests += 1;
        },
      },
    );
  });
  afterEach(async () => {
    await engine.close();
    await server.close();
  });
  const run = async (job: RangeJob, signal = never): Promise<ListedResult> => {
    const onSpans = (found: Span[]): void => void spans.set(job.path, [...(spans.get(job.path) ?? []), ...found]);
    return listedResult(await engine.run(packJob(job), server.base, { onSpans, signal }));
  };
  const fileOf = (path: string): string => scratch(`${kind}${number}`, path);
  const jobs = (): ListedJob[] => [...archives].map(([path, archive]) => jobFor(archive, { path, file: fileOf(path) }));

  test('runs jobs side by side; spans come before the result, and the counts are right', async () => {
    await Promise.all(
      jobs().map(async (job) => {
        const result = await run(job);
        const verified = job.targets.map(({ size }) => size);
        expect(result).toEqual({ verified, wrongBytes: 0, rangeServed: true, error: undefined });
        const found = mergeSpans(spans.get(job.path)!);
        expect(spanBytes(found)).toBe(job.targets.reduce((sum, { size }) => sum + size, 0));
        expectRight(job.file, found, archives.get(job.path)!.bytes);
      }),
    );
    expect([requests, received]).toEqual([archives.size, total + 20 * archives.size]);
  });

  test('says what a host did wrong, with the facts', async () => {
    server.lie = always({ kind: 'status', status: 503, retryAfter: '9' });
    expect(await run(jobs()[0]!)).toMatchObject({
      verified: [0, 0],
      rangeServed: false,
      error: { code: 'E_NETWORK_STATUS', data: { status: 503, retryAfter: 9000 } },
    });
  });

  test('says what is wrong here, and goes on with other jobs', async () => {
    const [first, second] = jobs();
    const impossible = { ...first!, file: `${first!.file}\0` };
    expect((await run(impossible)).error).toBeDefined();
    const hostile = { ...first!, targets: [{ ekey: 'a'.repeat(32), offset: 0, size: 1, held: 0 }], start: 0, end: 1 };
    expect((await run(hostile)).error).toMatchObject({ code: 'E_INTEGRITY' });
    expect(await run(second!)).toMatchObject({ error: undefined });
  });

  test('an abort ends all that is under its signal, and nothing else; what was right is reported', async () => {
    server.lie = always({ kind: 'stall', after: 150_000 });
    const end = new AbortController();
    const running = jobs().map((job) => run(job, end.signal));
    while (server.asked.length < archives.size) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 200));
    server.lie = () => undefined;
    const beside = run({ ...jobs()[0]!, file: fileOf('other') });
    const started = performance.now();
    end.abort();
    for (const result of await Promise.all(running)) {
      expect(result.error?.code).toBe('E_ABORTED');
      expect(result.verified[0]).toBeGreaterThan(50_000);
    }
    expect(performance.now() - started).toBeLessThan(15_000);
    for (const [path, found] of spans) expectRight(fileOf(path), found, archives.get(path)!.bytes);
    expect(spanBytes([...spans.values()].flat())).toBeGreaterThan(50_000 * archives.size);
    expect(await beside).toMatchObject({ error: undefined });
    expect(await run(jobs()[1]!)).toMatchObject({ error: undefined });
    // Under its signal nothing is begun any more.
    const late = await run(jobs()[0]!, end.signal).catch((error: unknown) => ({ error: error as { code: string } }));
    expect(late.error?.code).toBe('E_ABORTED');
  });
});

/** An engine in threads of another program, which asks nobody. */
function threadsOf(threads: number, workerUrl: URL): Engine {
  const limits = { connectMs: 1000, idleMs: 1000, connections: 2 };
  const options = { limits, temporary: scratch('tmp'), maxRangeBytes: 1 << 28, workerUrl };
  return source.threadEngine(threads, options, { onReceived: () => {}, onRequest: () => {} });
}

test('threads that cannot start fail what they are given, at once and whenever it comes, and can be closed', async () => {
  const engine = threadsOf(2, new URL('file:///nowhere/transfer-worker.js'));
  const [[path, archive]] = [...archives] as [[string, TestArchive]];
  const run = (): Promise<unknown> =>
    engine.run(packJob(jobFor(archive, { path, file: scratch('none') })), 'http://127.0.0.1:9', unheard);
  await expect(run()).rejects.toThrow('a transfer thread died');
  await new Promise((resolve) => setTimeout(resolve, 500));
  await expect(run()).rejects.toThrow('a transfer thread died');
  await engine.close();
});

/** A thread that answers each job after a moment, with its own number in place of bytes. */
const numberedThread = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from 'node:worker_threads';
    parentPort.on('message', ({ type, id }) => {
      if (type === 'close') parentPort.close();
      const result = { verified: [threadId], rangeServed: true };
      if (type === 'run') setTimeout(() => parentPort.postMessage({ type: 'result', id, result }), 100);
    });`)}`,
);

describe('an engine of three threads', () => {
  let engine: Engine;

  beforeEach(() => {
    engine = threadsOf(3, numberedThread);
  });
  afterEach(() => engine.close());

  /** How many threads do so many jobs at a time, each of so many bytes and entries. */
  const atWork = async (jobs: number, bytes: number, entries = 1): Promise<number> => {
    const targets = Array.from({ length: entries }, (_, i) => ({ ekey: 'a'.repeat(32), offset: i, size: 1, held: 0 }));
    const job = packJob({ path: 'data/a', file: scratch('none'), start: 0, end: bytes, targets });
    const all = Array.from({ length: jobs }, () => engine.run(job, 'http://127.0.0.1:9', unheard));
    return new Set((await Promise.all(all)).map(({ verified }) => verified[0])).size;
  };

  test('does what is little in one, and starts more for what is much', async () => {
    expect(await atWork(8, 1 << 20)).toBe(1);
    expect(await atWork(2, 16 << 20)).toBe(2);
    expect(await atWork(9, 16 << 20)).toBe(3);
    // What has ended is no load any more, and threads that are there share what comes.
    expect(await atWork(3, 1)).toBe(3);
  });

  test('takes many small entries for much, too', async () => {
    expect(await atWork(2, 10_000, 10_000)).toBe(2);
  });
});

test('a limited rate is kept by all jobs together', async () => {
  const server = await lyingServer([...archives].map(([path, { bytes }]) => [path, bytes]));
  const engine = source.rangeEngine(
    {
      limits: { connectMs: 1000, idleMs: 5000, connections: 8 },
      temporary: scratch('tmp'),
      maxRangeBytes: 1 << 28,
    },
    { onReceived: () => {}, onRequest: () => {} },
    rateLimit(13_000_000),
  );
  try {
    const started = performance.now();
    await Promise.all(
      [...archives].map(([path, archive]) =>
        engine.run(packJob(jobFor(archive, { path, file: scratch('rate', path) })), server.base, unheard),
      ),
    );
    // 16.2 MB, of which a quarter of a second may be ahead and the last pieces are not waited for.
    expect(performance.now() - started).toBeGreaterThan(400);
  } finally {
    await engine.close();
    await server.close();
  }
});

afterAll(() => archives.clear());
