import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RangeReceiver } from '../../../src/fetch/transfer/range-receiver.ts';
import { packJob } from '../../../src/fetch/transfer/range-targets.ts';
import { SpanWriter } from '../../../src/fetch/transfer/span-writer.ts';
import { mergeSpans, type Span } from '../../../src/store/spans.ts';
import { HashBuffer } from '../../../src/verify/hash-buffer.ts';
import { SmallEntries } from '../../../src/verify/small-entries.ts';
import { scratchFolder } from '../../support/scratch.ts';
import {
  archiveOf,
  chunkedEntry,
  expectRight,
  jobFor,
  type TestArchive,
  type TestEntry,
  wholeEntry,
} from '../archive.ts';

const scratch = scratchFolder();
const buffer = new HashBuffer();
let open: { receiver: RangeReceiver; writer: SpanWriter }[] = [];

afterEach(async () => {
  for (const { receiver, writer } of open) {
    receiver.close();
    await writer.finish();
  }
  open = [];
});

test('an entry that is found wrong while another transfer flushes leaves nothing in the buffer for the next entry', () => {
  const archive = archiveOf([chunkedEntry(40_000, 10_000, 1), chunkedEntry(30_000, 10_000, 2)]);
  const [first, second] = [archive.places[0]!, archive.places[1]!];
  const job = jobFor(archive, { path: 'tpr/x/data/aa/bb/archive', file: scratch('archive') });
  const writer = new SpanWriter(job, scratch('tmp'), () => {});
  const receiver = new RangeReceiver(packJob(job), writer, { buffer, crypt: (bytes) => bytes });
  open.push({ receiver, writer });
  const bytes = archive.bytes.slice();
  // A wrong byte in the first chunk, then the half of the second: it waits in the buffer when the first turns out wrong.
  bytes[first.offset + 5000]! ^= 1;
  const half = first.offset + 15_000;
  receiver.push(0, bytes.subarray(0, half));
  buffer.flush();
  // The rest of the first entry and the whole of the second come in one piece.
  receiver.push(half, bytes.subarray(half));
  receiver.close();
  expect(receiver.verified()[0]).toBeLessThan(first.size);
  expect(receiver.verified()[1]).toBe(second.size);
  expect(receiver.problem).toMatchObject({ code: 'E_INTEGRITY' });
});

test.each([0, 5])(
  'an entry of %i bytes is told of, for no bytes can be right for it, and its neighbours are taken',
  (size) => {
    const archive = archiveOf([1, 2, 3].map((seed) => chunkedEntry(40_000, 10_000, seed)));
    const job = jobFor(archive, { path: 'tpr/x/data/aa/bb/archive', file: scratch(`impossible${size}`) });
    job.targets = job.targets.map((target, i) => (i === 1 ? { ...target, size } : target));
    const writer = new SpanWriter(job, scratch('tmp'), () => {});
    const receiver = new RangeReceiver(packJob(job), writer, { buffer, crypt: (bytes) => bytes });
    open.push({ receiver, writer });
    receiver.push(0, archive.bytes);
    receiver.close();
    expect([...receiver.verified()]).toEqual([archive.places[0]!.size, 0, archive.places[2]!.size]);
    expect(receiver.problem).toMatchObject({ code: 'E_INTEGRITY' });
  },
);

describe('small entries that come together', () => {
  const small = SmallEntries.create(65_536);
  const kinds = ['one chunk', 'no table', 'chunks', 'large'] as const;
  const entryOf = (kind: (typeof kinds)[number], seed: number): TestEntry => {
    if (kind === 'no table') return wholeEntry(1 + (seed % 300), seed);
    if (kind === 'chunks') return chunkedEntry(600, 200, seed);
    return chunkedEntry(kind === 'large' ? 9000 : 1 + (seed % 200), 10_000, seed);
  };
  let number = 0;

  /** Receives an archive in pieces of some sizes; gives back what was verified, and what is on disk. */
  async function receive(archive: TestArchive, bytes: Uint8Array, sizes: readonly number[], patience?: number) {
    number += 1;
    const job = jobFor(archive, { path: 'tpr/x/data/aa/bb/archive', file: scratch(`small${number}`) });
    const spans: Span[] = [];
    const writer = new SpanWriter(job, scratch('tmp'), (found) => spans.push(...found));
    const packed = { ...packJob(job), ...(patience !== undefined && { patience }) };
    const receiver = new RangeReceiver(packed, writer, { buffer, small, crypt: (given) => given });
    let error: unknown;
    try {
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = sizes[i % sizes.length]!;
        receiver.push(at, bytes.subarray(at, at + size));
        at += size;
      }
    } catch (thrown) {
      error = thrown;
    }
    receiver.close();
    await writer.finish();
    expectRight(job.file, spans, archive.bytes);
    const { problem, wrongBytes } = receiver;
    return { verified: [...receiver.verified()], problem, wrongBytes, error, spans: mergeSpans(spans) };
  }

  test('are verified as any, in pieces of any sizes, with others and with gaps between', async () => {
    const entries = fc.array(fc.tuple(fc.constantFrom(...kinds), fc.nat(5000)), { minLength: 1, maxLength: 30 });
    const gaps = fc.array(fc.nat(40), { maxLength: 30 });
    const pieces = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(entries, gaps, pieces, async (chosen, between, sizes) => {
        const archive = archiveOf(
          chosen.map(([kind, seed]) => entryOf(kind, seed)),
          between,
        );
        const { verified, problem, spans } = await receive(archive, archive.bytes, sizes);
        expect(problem).toBeUndefined();
        expect(verified).toEqual(archive.places.map(({ size }) => size));
        expect(spans).toEqual(
          mergeSpans(archive.places.map(({ offset, size }) => ({ start: offset, end: offset + size }))),
        );
      }),
      { numRuns: 40 },
    );
  });

  test('are taken out of a piece that is larger than what is hashed together', async () => {
    const archive = archiveOf(Array.from({ length: 2000 }, (_, i) => entryOf('one chunk', i)));
    expect(archive.bytes.length).toBeGreaterThan(2 * small!.pieceBytes);
    const { verified, problem } = await receive(archive, archive.bytes, [archive.bytes.length]);
    expect(problem).toBeUndefined();
    expect(verified).toEqual(archive.places.map(({ size }) => size));
  });

  test('one that is wrong is told of, and costs itself alone', async () => {
    const archive = archiveOf(Array.from({ length: 50 }, (_, i) => entryOf(kinds[i % 3]!, i + 100)));
    for (const index of [0, 7, 8, 49]) {
      const { offset, size, ekey } = archive.places[index]!;
      const bytes = archive.bytes.slice();
      bytes[offset + size - 1]! ^= 1;
      const { verified, problem, error } = await receive(archive, bytes, [65_536]);
      expect(error).toBeUndefined();
      expect(problem).toMatchObject({ code: 'E_INTEGRITY', data: { ekey } });
      expect(verified[index]).toBeLessThan(size);
      expect(verified.filter((bytes, i) => bytes === archive.places[i]!.size)).toHaveLength(49);
    }
  });

  test('three wrong ones in a row end the answer', async () => {
    const archive = archiveOf(Array.from({ length: 50 }, (_, i) => entryOf('one chunk', i + 100)));
    const bytes = archive.bytes.slice();
    for (const { offset } of archive.places.slice(10, 13)) bytes[offset + 20]! ^= 1;
    const { verified, error } = await receive(archive, bytes, [65_536]);
    expect(error).toMatchObject({ code: 'E_INTEGRITY', data: { ekey: archive.places[10]!.ekey } });
    expect(verified.slice(0, 10)).toEqual(archive.places.slice(0, 10).map(({ size }) => size));
    expect(verified.slice(10, 13)).toEqual([0, 0, 0]);
  });

  test('wrong ones in a row are read past as far as there is patience for their bytes', async () => {
    for (const kind of kinds) {
      const archive = archiveOf(Array.from({ length: 50 }, (_, i) => entryOf(kind, i + 100)));
      const sizes = archive.places.map(({ size }) => size);
      const bytes = archive.bytes.slice();
      const damaged = archive.places.slice(10, 30);
      for (const { offset, size } of damaged) bytes.fill(0x5a, offset, offset + size);
      const wrong = damaged.reduce((sum, { size }) => sum + size, 0);
      const { verified, error, wrongBytes, problem } = await receive(archive, bytes, [100], wrong);
      expect(error).toBeUndefined();
      expect(problem).toMatchObject({ code: expect.any(String) });
      expect(wrongBytes).toBe(wrong);
      expect(verified).toEqual(sizes.map((size, i) => (i >= 10 && i < 30 ? 0 : size)));
      // Others wait for their hashes, and all of the answer is in by then.
      if (kind !== 'one chunk') continue;
      const less = await receive(archive, bytes, [65_536], wrong - 1);
      expect(less.error).toBeDefined();
      expect(less.verified.slice(0, 10)).toEqual(sizes.slice(0, 10));
    }
  });
});
