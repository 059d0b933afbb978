import { afterEach, expect, test } from '@jest/globals';
import { RangeReceiver } from '../../../src/fetch/transfer/range-receiver.ts';
import { SpanWriter } from '../../../src/fetch/transfer/span-writer.ts';
import { HashBuffer } from '../../../src/verify/hash-buffer.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { archiveOf, chunkedEntry, jobFor } from '../archive.ts';

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
  const receiver = new RangeReceiver(job, writer, { buffer, crypt: (bytes) => bytes });
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
    const receiver = new RangeReceiver(job, writer, { buffer, crypt: (bytes) => bytes });
    open.push({ receiver, writer });
    receiver.push(0, archive.bytes);
    receiver.close();
    expect(receiver.verified()).toEqual([archive.places[0]!.size, 0, archive.places[2]!.size]);
    expect(receiver.problem).toMatchObject({ code: 'E_INTEGRITY' });
  },
);
