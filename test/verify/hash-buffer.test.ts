import { expect, test } from '@jest/globals';
import { md5 } from '../../src/core/hash.ts';
import { HashBuffer, type HashStream } from '../../src/verify/hash-buffer.ts';
import { randomBytes } from '../fetch/archive.ts';
import { randomSource } from '../support/hostile.ts';
import { Kept } from './kept.ts';

const KiB = 1024;

interface Transfer {
  content: Uint8Array;
  unitSize: number;
  sink: Kept;
  stream: HashStream;
  at: number;
}

/** A step of a transfer: its next piece, the end of a unit with it, and the beginning of the next. */
function step(transfer: Transfer, size: number, onHashed: (isRight: boolean) => boolean): void {
  const { content, unitSize, stream, at } = transfer;
  const start = at - (at % unitSize);
  const end = Math.min(content.length, start + unitSize);
  if (at === start) expect(stream.begin(end - start)).toBe(true);
  const to = Math.min(end, at + size);
  stream.append(content.subarray(at, to));
  transfer.at = to;
  if (to === end) stream.submit({ position: start, md5: md5(content.subarray(start, end)), onHashed });
}

test.each([
  ['a memory that grows', undefined],
  ['that of a thread', 2],
])('the bytes of transfers that come side by side are right, from a few to more than %s holds', (_, threads) => {
  const random = randomSource(1);
  const buffer = new HashBuffer(threads);
  const sizes = [3, 70 * KiB, 900 * KiB, 5000 * KiB, 20_000 * KiB, 60_000 * KiB];
  const transfers = sizes.map((size, i): Transfer => {
    const sink = new Kept(size);
    const unitSize = [KiB, 50 * KiB, 300 * KiB][i % 3]!;
    return { content: randomBytes(size, i), unitSize, sink, stream: buffer.open(sink), at: 0 };
  });
  const outcomes = { right: 0, wrong: 0 };
  const onHashed = (isRight: boolean): boolean => {
    outcomes[isRight ? 'right' : 'wrong'] += 1;
    return isRight;
  };
  for (let left = transfers; left.length > 0; left = left.filter(({ content, at }) => at < content.length))
    for (const transfer of left) step(transfer, 1 + Math.floor(random() * 200 * KiB), onHashed);
  for (const { stream } of transfers) stream.flush();
  expect(outcomes.wrong).toBe(0);
  expect(outcomes.right).toBeGreaterThan(100);
  for (const { content, sink } of transfers) expect(Buffer.compare(sink.bytes, content)).toBe(0);
});
