import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Md5Lanes, type Stretch } from '../../../src/codecs/md5-lanes/index.ts';
import { toHex } from '../../../src/core/bytes.ts';
import { randomBytes } from '../../fetch/archive.ts';

const pageSize = 65536;

/** Puts messages into a memory, and compares their digests with those of a hash that is not ours. */
function check(sizes: readonly number[], seed = 1): void {
  const total = Md5Lanes.reservedBytes + sizes.reduce((sum, size) => sum + size, 0);
  const room = { offset: total, size: 8 * 4096 + 100 };
  const memory = new WebAssembly.Memory({ initial: Math.ceil((total + room.size) / pageSize) });
  const lanes = new Md5Lanes(memory);
  const content = randomBytes(total, seed);
  let offset = Md5Lanes.reservedBytes;
  const messages = sizes.map((size): Stretch => {
    const message = { offset, size };
    offset += size;
    return message;
  });
  new Uint8Array(memory.buffer).set(content.subarray(Md5Lanes.reservedBytes), Md5Lanes.reservedBytes);
  const expected = messages.map(({ offset: from, size }) =>
    createHash('md5')
      .update(content.subarray(from, from + size))
      .digest('hex'),
  );
  expect(toHex(lanes.digest(messages))).toEqual(expected.join(''));
  // What was hashed is as it was, and a second time gives the same.
  expect(toHex(lanes.digest(messages))).toEqual(expected.join(''));
  // Brought piece by piece, to where they are asked for and nowhere else.
  const bytes = new Uint8Array(memory.buffer);
  const streamed = messages.map(({ offset: start, size }) => ({
    size,
    bring(at: number, piece: number, from: number): void {
      expect(from + piece).toBeLessThanOrEqual(size);
      bytes.set(content.subarray(start + from, start + from + piece), at);
    },
  }));
  expect(toHex(lanes.digestStreams(streamed, room))).toEqual(expected.join(''));
  expect(toHex(lanes.digest(messages))).toEqual(expected.join(''));
}

describe('MD5 of many messages', () => {
  test('of every size around the ends of blocks', () => {
    check(Array.from({ length: 300 }, (_, size) => size));
  });

  test('of one size, for any number of them', () => {
    for (let count = 0; count < 20; count++) check(new Array(count).fill(1000 + count));
  });

  test('of very different sizes', () => {
    check([1_000_000, 3, 200_000, 64, 0, 77_777, 500_000, 1, 400_001, 900_000, 65, 128]);
    check([1_000_000, 1, 2, 3]);
    check([1_000_000]);
  });

  test('of any sizes in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 40 }), fc.nat(100), (sizes, seed) =>
        check(sizes, seed),
      ),
      { numRuns: 60 },
    );
  });

  test('one after the other where there is no WebAssembly', () => {
    const module = WebAssembly.Module;
    try {
      Object.defineProperty(WebAssembly, 'Module', {
        configurable: true,
        value: class {
          constructor() {
            throw new WebAssembly.CompileError('no vectors');
          }
        },
      });
      check([100, 2000, 64, 64, 64, 64, 64, 64, 64]);
    } finally {
      Object.defineProperty(WebAssembly, 'Module', { configurable: true, value: module });
    }
  });
});
