import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { HttpClient } from '../../../src/cdn/transport/http.ts';
import { rateLimit, unlimited } from '../../../src/cdn/transport/rate-limit.ts';
import { fetchRange, type RangeTools } from '../../../src/fetch/transfer/fetch-range.ts';
import type { RangeJob } from '../../../src/fetch/transfer/range-job.ts';
import { packJob } from '../../../src/fetch/transfer/range-targets.ts';
import { mergeSpans, type Span, spanBytes } from '../../../src/store/spans.ts';
import { HashBuffer } from '../../../src/verify/hash-buffer.ts';
import { freePort } from '../../support/loopback.ts';
import { always, type Lie, type LyingServer, lyingServer } from '../../support/lying-server.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { describeTmpfs, withTmpfs } from '../../support/tmpfs.ts';
import {
  archiveOf,
  chunkedEntry,
  expectRight,
  jobFor,
  type ListedResult,
  listedResult,
  randomBytes,
  rawEntry,
  type TestArchive,
  wholeEntry,
} from '../archive.ts';

const scratch = scratchFolder();
const path = 'tpr/x/data/aa/bb/archive';
// Four entries of 20 to 60 KB with bytes of nobody between them.
const archive = archiveOf(
  [chunkedEntry(60_000, 10_000, 1), wholeEntry(20_000, 2), chunkedEntry(40_000, 10_000, 3), wholeEntry(20_000, 4)],
  [500, 1000, 0, 3000],
);
const [a, b, c, d] = archive.places as [Place, Place, Place, Place];
type Place = TestArchive['places'][number];

const buffer = new HashBuffer();
let server: LyingServer;
let http: HttpClient;
let number = 0;
let job: RangeJob;
let spans: Span[];
let received: number;
let requests: number;

beforeAll(() => {
  http = new HttpClient({ connectMs: 1000, idleMs: 500, connections: 4 });
});
afterAll(() => http.close());
beforeEach(async () => {
  server = await lyingServer([[path, archive.bytes]]);
  number += 1;
  job = jobFor(archive, { path, file: scratch(`a${number}`, 'archive') });
  spans = [];
  received = 0;
  requests = 0;
});
afterEach(() => server.close());

function run(
  work = job,
  more: Partial<RangeTools> & { signal?: AbortSignal; base?: string } = {},
): Promise<ListedResult> {
  const { base = server.base, ...tools } = more;
  const result = fetchRange(packJob(work), base, {
    http,
    rate: unlimited,
    buffer,
    temporary: scratch('tmp'),
    maxRangeBytes: 1 << 28,
    onSpans: (found) => spans.push(...found),
    onReceived: (bytes) => {
      received += bytes;
    },
    onRequest: () => {
      requests += 1;
    },
    ...tools,
  });
  return result.then(listedResult);
}

const sizes = (work = job): number[] => work.targets.map(({ size }) => size);
/** Bytes of an object that belong to the job's entries. */
const wantedBytes = (work = job): number => sizes(work).reduce((sum, size) => sum + size, 0);

/** Nothing may be reported that is not right on disk, nor outside of what was wanted. */
function expectHonest(result: ListedResult, truth = archive.bytes, work = job): void {
  expectRight(work.file, spans, truth);
  const allowed = work.targets.map(({ offset, size }) => ({ start: offset, end: offset + size }));
  for (const span of mergeSpans(spans)) {
    expect(spanBytes(mergeSpans([...allowed, span]))).toBe(spanBytes(mergeSpans(allowed)));
  }
  work.targets.forEach(({ offset, held }, i) => {
    const verified = result.verified[i]!;
    if (verified <= held) return;
    const known = mergeSpans([...spans, { start: offset, end: offset + held }]);
    expect(spanBytes(mergeSpans([...known, { start: offset, end: offset + verified }]))).toBe(spanBytes(known));
  });
}

describe('an honest host', () => {
  test('gives everything in one request; bytes between entries are not written', async () => {
    fs.mkdirSync(scratch(`a${number}`));
    // What other entries of this archive hold already.
    const before = Buffer.alloc(archive.bytes.length, 0);
    before.set(archive.bytes.subarray(0, a.offset), 0);
    before.fill(0xee, b.offset + b.size, c.offset);
    before.fill(0xee, c.offset + c.size, d.offset);
    fs.writeFileSync(job.file, before);
    const result = await run();
    expect(result).toEqual({ verified: sizes(), wrongBytes: 0, rangeServed: true, error: undefined });
    expect(server.asked.map(({ range }) => range)).toEqual([{ start: job.start, end: job.end }]);
    expect([requests, received]).toEqual([1, job.end - job.start]);
    expectHonest(result);
    expect(spanBytes(mergeSpans(spans))).toBe(wantedBytes());
    const after = fs.readFileSync(job.file);
    expect(after.subarray(0, a.offset).equals(before.subarray(0, a.offset))).toBe(true);
    const gap = after.subarray(c.offset + c.size, d.offset);
    expect(gap.equals(Buffer.alloc(gap.length, 0xee))).toBe(true);
  });

  test('a range larger than allowed comes in several requests', async () => {
    const result = await run(job, { maxRangeBytes: 30_000 });
    expect(result.verified).toEqual(sizes());
    expect(requests).toBe(Math.ceil((job.end - job.start) / 30_000));
    for (const { range } of server.asked) expect(range!.end - range!.start).toBeLessThanOrEqual(30_000);
    expectHonest(result);
  });

  test('in small pieces with pauses gives the same', async () => {
    server.lie = always({ kind: 'drip', bytes: 9001, everyMs: 2 });
    const result = await run();
    expect(result).toMatchObject({ verified: sizes(), error: undefined });
    expectHonest(result);
  });

  test('at a limited rate gives the same, in its time', async () => {
    const started = performance.now();
    const result = await run(job, { rate: rateLimit(400_000) });
    expect(result).toMatchObject({ verified: sizes(), error: undefined });
    // 144 KB at 400 KB/s, of which a quarter of a second may be ahead and the last piece is not waited for.
    expect(performance.now() - started).toBeGreaterThan(50);
  });

  test('patches are checked by the MD5 of their bytes', async () => {
    const patches = archiveOf([rawEntry(5000, 1), rawEntry(7000, 2)], [0, 30]);
    server.objects.set(path, patches.bytes);
    const work = jobFor(patches, { path, file: job.file });
    for (const target of work.targets) target.raw = true;
    const result = await run(work);
    expect(result).toMatchObject({ verified: sizes(work), error: undefined });
    expectHonest(result, patches.bytes, work);
  });

  test('an entry with a chunk of more than 16 MiB goes over a spool', async () => {
    const large = archiveOf([wholeEntry(18_000_000, 1), chunkedEntry(1000, 500, 2)]);
    server.objects.set(path, large.bytes);
    const work = jobFor(large, { path, file: job.file });
    const result = await run(work);
    expect(result).toMatchObject({ verified: sizes(work), error: undefined });
    expectHonest(result, large.bytes, work);
    expect(fs.readdirSync(scratch('tmp'))).toEqual([]);
  });
});

describe('what is held', () => {
  test('the start of an entry that is held is not asked for again; a chunk that is held in part is', async () => {
    await run({ ...job, targets: [job.targets[0]!], end: a.offset + a.size });
    const header = a.size - 60_000 - 6;
    const held = header + 3 * 10_001 + 77;
    spans = [];
    server.asked.length = 0;
    const work = { ...job, targets: [{ ...job.targets[0]!, held }], start: a.offset + held, end: a.offset + a.size };
    // Bytes behind what the ledger knows are gone.
    fs.truncateSync(job.file, a.offset + held);
    const result = await run(work);
    expect(result).toMatchObject({ verified: [a.size], error: undefined });
    expect(server.asked[0]!.range).toEqual({ start: a.offset + header + 3 * 10_001, end: a.offset + a.size });
    expectHonest(result, archive.bytes, work);
  });

  test('bytes on disk that the ledger does not know of are taken over when they are right, without a request', async () => {
    await run();
    spans = [];
    server.asked.length = 0;
    const result = await run();
    expect(result).toMatchObject({ verified: sizes(), error: undefined });
    expect(server.asked).toEqual([]);
    expectHonest(result);
    expect(spanBytes(mergeSpans(spans))).toBe(wantedBytes());
  });

  test('of those that are wrong only the right start is, and the rest is fetched', async () => {
    await run();
    const bytes = fs.readFileSync(job.file);
    bytes[a.offset + 35_000]! ^= 1;
    bytes[b.offset + 100]! ^= 1;
    fs.writeFileSync(job.file, bytes);
    spans = [];
    server.asked.length = 0;
    const result = await run();
    expect(result).toMatchObject({ verified: sizes(), error: undefined });
    expectHonest(result);
    expect(server.asked).toHaveLength(1);
    const { start } = server.asked[0]!.range!;
    expect(start).toBeGreaterThan(a.offset + 20_000);
    expect(start).toBeLessThanOrEqual(a.offset + 35_000);
  });

  test('of hundreds of small entries those that lie on disk are taken over, whatever lies between', async () => {
    const entries = Array.from({ length: 400 }, (_, i) => wholeEntry(100 + i, i));
    const many = archiveOf(entries, [0, 30, 0, 40_000, 7]);
    server.objects.set(path, many.bytes);
    const work = jobFor(many, { path, file: job.file });
    const isThere = (i: number): boolean => i % 3 === 0 && i < 390;
    fs.mkdirSync(dirname(job.file), { recursive: true });
    const file = fs.openSync(job.file, 'w');
    many.places.forEach(({ offset, size }, i) => {
      if (isThere(i)) fs.writeSync(file, many.bytes, offset, size, offset);
    });
    fs.closeSync(file);
    server.lie = () => ({ kind: 'hang up' });
    const cut = await run(work);
    expect(cut.verified).toEqual(many.places.map(({ size }, i) => (isThere(i) ? size : 0)));
    expectHonest(cut, many.bytes, work);
    server.lie = () => undefined;
    const whole = await run(work);
    expect(whole).toMatchObject({ verified: sizes(work), error: undefined });
    expectHonest(whole, many.bytes, work);
  });

  test('what the ledger says and the file has not is fetched again', async () => {
    const work = { ...job, targets: job.targets.map((target) => ({ ...target, held: 5000 })) };
    const result = await run(work);
    expect(result).toMatchObject({ verified: sizes(), error: undefined });
    expectHonest(result, archive.bytes, work);
    expect(spanBytes(mergeSpans(spans))).toBe(wantedBytes());
  });

  test('a job of which all is there asks nobody', async () => {
    await run();
    server.asked.length = 0;
    const result = await run({ ...job, targets: job.targets.map((target) => ({ ...target, held: target.size })) });
    expect(result.verified).toEqual(sizes());
    expect(server.asked).toEqual([]);
  });
});

describe('a host that lies about the whole answer', () => {
  test.each<[string, Lie, string]>([
    ['hangs up', { kind: 'hang up' }, 'E_NETWORK'],
    ['answers 404', { kind: 'status', status: 404 }, 'E_NETWORK_STATUS'],
    ['answers 416', { kind: 'status', status: 416 }, 'E_NETWORK_STATUS'],
    ['answers 500', { kind: 'status', status: 500 }, 'E_NETWORK_STATUS'],
    ['redirects', { kind: 'status', status: 302 }, 'E_NETWORK_STATUS'],
    ['answers a page of HTML with 200', { kind: 'html' }, 'E_NETWORK_RANGE'],
    ['answers the whole object', { kind: 'whole' }, 'E_NETWORK_RANGE'],
    ['leaves Content-Range away', { kind: 'content-range', value: undefined }, 'E_NETWORK_RANGE'],
    ['says another Content-Range', { kind: 'content-range', value: 'bytes 0-9/100' }, 'E_NETWORK_RANGE'],
    ['says no Content-Range', { kind: 'content-range', value: 'bytes */100' }, 'E_NETWORK_RANGE'],
    ['sends another range', { kind: 'other range', by: -500 }, 'E_NETWORK_RANGE'],
    ['promises more', { kind: 'length', off: 10 }, 'E_NETWORK_RANGE'],
    ['promises less', { kind: 'length', off: -10 }, 'E_NETWORK_RANGE'],
    ['packs', { kind: 'gzip' }, 'E_NETWORK_RANGE'],
  ])('%s', async (_, lie, code) => {
    server.lie = always(lie);
    const result = await run();
    expect(result).toMatchObject({ verified: [0, 0, 0, 0], error: { code, message: expect.stringContaining(path) } });
    expect([spans, received, fs.existsSync(job.file)]).toEqual([[], 0, false]);
    expect(server.asked).toHaveLength(1);
  });

  test('says when it can be asked again', async () => {
    server.lie = always({ kind: 'status', status: 503, retryAfter: '7' });
    expect((await run()).error?.data).toMatchObject({ status: 503, retryAfter: 7000 });
    server.lie = always({ kind: 'status', status: 429, retryAfter: new Date(Date.now() + 20_000).toUTCString() });
    expect(Number((await run()).error?.data.retryAfter)).toBeGreaterThan(15_000);
  });

  test('is told from one that knows no ranges', async () => {
    server.lie = always({ kind: 'whole' });
    expect(await run()).toMatchObject({ rangeServed: false, error: { data: { ignoredRange: true } } });
    server.lie = always({ kind: 'flip', offset: a.offset + 100 });
    expect(await run()).toMatchObject({ rangeServed: true });
  });

  test('is not there', async () => {
    const result = await run(job, { base: `http://127.0.0.1:${await freePort()}` });
    expect(result).toMatchObject({ verified: [0, 0, 0, 0], error: { code: 'E_NETWORK' } });
  });
});

describe('a host that breaks off', () => {
  test.each<[string, Lie, string]>([
    ['cuts the connection', { kind: 'cut', after: 500 + 95_000 }, 'E_NETWORK'],
    ['stalls', { kind: 'stall', after: 500 + 95_000 }, 'E_NETWORK_TIMEOUT'],
  ])('%s: what came and was right stays, to the chunk', async (_, lie, code) => {
    server.lie = always(lie);
    const result = await run();
    expect(result.error?.code).toBe(code);
    expectHonest(result);
    // a and b came whole, of c the header and one chunk, of d nothing.
    expect(result.verified.slice(0, 2)).toEqual([a.size, b.size]);
    expect(result.verified[2]).toBeGreaterThan(10_000);
    expect(result.verified[2]).toBeLessThan(c.size);
    expect(result.verified[3]).toBe(0);
    // The next host is only asked for the rest.
    server.lie = () => undefined;
    server.asked.length = 0;
    const targets = job.targets.map((target, i) => ({ ...target, held: result.verified[i]! })).slice(2);
    const rest = await run({ ...job, targets, start: c.offset + result.verified[2]! });
    expect(rest.verified).toEqual([c.size, d.size]);
    expect(server.asked[0]!.range!.start).toBe(c.offset + result.verified[2]!);
    expect(spanBytes(mergeSpans(spans))).toBe(wantedBytes());
    expectRight(job.file, spans, archive.bytes);
  });

  test('never ends: everything is taken, and no more', async () => {
    server.lie = always({ kind: 'endless' });
    const result = await run();
    expect(result.verified).toEqual(sizes());
    expectHonest(result);
    expect(received).toBeLessThan(job.end - job.start + 256 * 1024);
  });

  test('crawls: it is given up', async () => {
    server.lie = always({ kind: 'drip', bytes: 10, everyMs: 20 });
    const impatient = new HttpClient({ connectMs: 1000, idleMs: 5000, connections: 1, slowWindowMs: 300 });
    try {
      const result = await run(job, { http: impatient });
      expect(result.error).toMatchObject({
        code: 'E_NETWORK_TIMEOUT',
        message: expect.stringMatching(/bytes a second/),
      });
      expectHonest(result);
    } finally {
      await impatient.close();
    }
  });
});

describe('a host with wrong bytes', () => {
  test.each<[string, Lie]>([
    ['one byte changed', { kind: 'flip', offset: b.offset + 9000 }],
    ['a right entry of another key', { kind: 'replace', offset: b.offset, bytes: wholeEntry(20_000, 77).bytes }],
    [
      'a page of HTML in the middle',
      { kind: 'replace', offset: b.offset, bytes: new TextEncoder().encode('<html>'.repeat(50)) },
    ],
  ])('%s: the other entries of the range are kept', async (_, lie) => {
    server.lie = always(lie);
    const result = await run();
    expect(result.verified).toEqual([a.size, 0, c.size, d.size]);
    expect(result.error?.code).toMatch(/^E_(INTEGRITY|FORMAT)/);
    expectHonest(result);
  });

  test('of an entry with chunks those before the damage are kept', async () => {
    server.lie = always({ kind: 'flip', offset: a.offset + 35_000 });
    const result = await run();
    expect(result.error).toMatchObject({ code: 'E_INTEGRITY', data: { ekey: a.ekey } });
    expect(result.verified[0]).toBeGreaterThan(25_000);
    expect(result.verified[0]).toBeLessThanOrEqual(35_000);
    expect(result.verified.slice(1)).toEqual([b.size, c.size, d.size]);
    expectHonest(result);
  });

  test('wrong bytes between entries do no harm', async () => {
    server.lie = always({ kind: 'flip', offset: d.offset - 100 });
    const result = await run();
    expect(result).toMatchObject({ verified: sizes(), error: undefined });
    expectHonest(result);
  });

  test('nothing of an answer from another place is taken, and it is not read to its end', async () => {
    const many = archiveOf(Array.from({ length: 200 }, (_, i) => wholeEntry(20_000, i)));
    server.objects.set(path, new Uint8Array([...many.bytes, 0]));
    server.lie = always({ kind: 'shift', by: 1 });
    const work = jobFor(many, { path, file: job.file });
    const result = await run(work);
    expect(result.verified.every((bytes) => bytes === 0)).toBe(true);
    expect([spans, fs.existsSync(job.file)]).toEqual([[], false]);
    expect(received).toBeGreaterThan(3 * 20_000);
    expect(received).toBeLessThan(1_000_000);
  });

  test('every byte of a small entry changed in turn never gets to the disk', async () => {
    const small = archiveOf([chunkedEntry(30, 10, 1)]);
    server.objects.set(path, small.bytes);
    for (let i = 0; i < small.bytes.length; i++) {
      const work = jobFor(small, { path, file: scratch(`flips${number}`, `f${i}`) });
      server.lie = always({ kind: 'flip', offset: i });
      spans = [];
      const result = await run(work);
      expect(result.error?.code).toMatch(/^E_(INTEGRITY|FORMAT)/);
      expect(result.verified[0]).toBeLessThanOrEqual(i);
      expectHonest(result, small.bytes, work);
    }
  });

  test('an entry that no bytes can be right for does not take its neighbours with it', async () => {
    const bad = { ekey: 'f'.repeat(32), offset: b.offset + b.size, size: 5, held: 0 };
    const work = { ...job, targets: [job.targets[0]!, job.targets[1]!, bad] };
    const result = await run({ ...work, end: bad.offset + bad.size });
    expect(result.verified).toEqual([a.size, b.size, 0]);
    expect(result.error).toMatchObject({ code: 'E_INTEGRITY', data: { ekey: bad.ekey } });
  });
});

describe('a host that knows no ranges', () => {
  test('is taken at its word where whole objects are wanted', async () => {
    server.lie = always({ kind: 'whole' });
    const result = await run({ ...job, allowWhole: true });
    expect(result).toEqual({ verified: sizes(), wrongBytes: 0, rangeServed: false, error: undefined });
    expectHonest(result);
    expect(server.asked).toHaveLength(1);
  });

  test('gives a whole object for a range that is all of it', async () => {
    const one = archiveOf([wholeEntry(5000, 1)]);
    server.objects.set(path, one.bytes);
    server.lie = always({ kind: 'whole' });
    const work = jobFor(one, { path, file: job.file });
    expect(await run(work)).toMatchObject({ verified: [one.bytes.length], error: undefined });
  });

  test('is left when all that is wanted is there', async () => {
    server.objects.set(path, new Uint8Array(Buffer.concat([archive.bytes, randomBytes(20_000_000, 9)])));
    server.lie = always({ kind: 'whole' });
    const result = await run({ ...job, allowWhole: true });
    expect(result).toMatchObject({ verified: sizes(), error: undefined });
    expect(received).toBeLessThan(10_000_000);
  });

  test('cannot pass off a page of HTML as the object', async () => {
    server.lie = always({ kind: 'html' });
    const result = await run({ ...job, allowWhole: true });
    expect(result.verified).toEqual([0, 0, 0, 0]);
    expect(result.error?.code).toMatch(/^E_/);
    expect(spans).toEqual([]);
  });
});

test('an interruption ends it; what was right is flushed and reported', async () => {
  server.lie = always({ kind: 'stall', after: 500 + 95_000 });
  const started = performance.now();
  const control = new AbortController();
  const onReceived = (bytes: number) => {
    received += bytes;
    if (received > 94_000) setTimeout(() => control.abort(), 50);
  };
  const result = await run(job, { signal: control.signal, onReceived });
  expect(performance.now() - started).toBeLessThan(15_000);
  expect(result.error?.code).toBe('E_ABORTED');
  expect(result.verified.slice(0, 2)).toEqual([a.size, b.size]);
  expectHonest(result);
  expect(spanBytes(mergeSpans(spans))).toBe(result.verified.reduce((sum, bytes) => sum + bytes));
});

describeTmpfs('a disk that is full', () => {
  test.each([
    ['in the last bytes', [chunkedEntry(30_000, 10_000, 1)], '16k'],
    ['in the middle', Array.from({ length: 8 }, (_, i) => chunkedEntry(600_000, 100_000, i)), '2m'],
    ['in the spool', [wholeEntry(18_000_000, 1)], '2m'],
  ])('%s: E_STORE_FULL, and what could not be written does not count', async (_, entries, size) => {
    await withTmpfs(size, async (folder) => {
      const full = archiveOf(entries);
      server.objects.set(path, full.bytes);
      const work = jobFor(full, { path, file: `${folder}/data/archive` });
      const result = await run(work, { temporary: `${folder}/tmp` });
      expect(result.error).toMatchObject({ code: 'E_STORE_FULL', hint: expect.any(String) });
      expect(result.verified).toEqual(work.targets.map(() => 0));
      expectHonest(result, full.bytes, work);
    });
  });
});

test('a folder that cannot be made is the store’s trouble, not the host’s', async () => {
  fs.writeFileSync(scratch(`file${number}`), '');
  const result = await run({ ...job, file: scratch(`file${number}`, 'archive') });
  expect(result).toMatchObject({ verified: [0, 0, 0, 0], error: { code: 'E_STORE' } });
});
