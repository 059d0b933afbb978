import * as zlib from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { inflate } from '../../../src/codecs/compression/inflate.ts';
import { Inflater } from '../../../src/codecs/compression/inflater.ts';
import { isPakratError, resultUnless } from '../../../src/core/errors.ts';
import { randomSource } from '../../support/hostile.ts';
import { words } from '../ciphers/words.ts';

const inflater = new Inflater();
const content = words(20_000);
const packed = new Uint8Array(zlib.deflateSync(content));

/** What comes out, with bytes in front and behind that are not to be touched; undefined where it says that it cannot. */
function inflated(stream: Uint8Array, size: number): Uint8Array | undefined {
  const input = new Uint8Array(Buffer.concat([Uint8Array.of(1, 2, 3), stream, Uint8Array.of(4, 5)]));
  const target = new Uint8Array(7 + size + 3).fill(0xee);
  if (!inflater.inflate(input, { at: 3, size: stream.length }, target, { at: 7, size })) return undefined;
  expect(target.subarray(0, 7)).toEqual(new Uint8Array(7).fill(0xee));
  expect(target.subarray(7 + size + 1)).toEqual(new Uint8Array(2).fill(0xee));
  return target.slice(7, 7 + size);
}

/** What the one that tells what is wrong makes of it. */
function expected(stream: Uint8Array, size: number): Uint8Array | undefined {
  return resultUnless(isPakratError, () => inflate(stream, { size, maxSize: 1e6, what: 'sample' }));
}

test('the runtime has the engine', () => {
  expect(inflated(packed, content.length)).toEqual(content);
});

describe('says no to what inflate refuses, and goes on with the next', () => {
  const wrongSum = packed.slice();
  wrongSum[packed.length - 1]! ^= 1;
  const damaged = packed.slice();
  damaged[50]! ^= 0xff;
  const withDictionary = new Uint8Array(zlib.deflateSync(content, { dictionary: Buffer.from('words') }));
  test.each<[string, Uint8Array, number]>([
    ['more than promised', packed, content.length - 1],
    ['less than promised', packed, content.length + 1],
    ['nothing promised', packed, 0],
    ['a byte behind the stream', Uint8Array.from([...packed, 0]), content.length],
    ['a second stream behind it', Uint8Array.from([...packed, ...packed]), content.length],
    ['cut by its last byte', packed.slice(0, -1), content.length],
    ['cut', packed.slice(0, 100), content.length],
    ['no bytes', new Uint8Array(), 0],
    ['a wrong checksum', wrongSum, content.length],
    ['damaged', damaged, content.length],
    ['a dictionary', withDictionary, content.length],
  ])('%s', (_, stream, size) => {
    expect(expected(stream, size)).toBeUndefined();
    expect(inflated(stream, size)).toBeUndefined();
    expect(inflated(packed, content.length)).toEqual(content);
  });

  test('what does not fit, with a byte behind it', () => {
    const target = new Uint8Array(content.length);
    expect(inflater.inflate(packed, { at: 0, size: packed.length }, target, { at: 0, size: content.length })).toBe(
      false,
    );
  });
});

test('of streams with bytes changed at random it gives what inflate gives', () => {
  const random = randomSource(11);
  const whole = (most: number): number => Math.floor(random() * most);
  let right = 0;
  for (let i = 0; i < 3000; i++) {
    const size = whole(300);
    const level = whole(10);
    const stream = new Uint8Array(zlib.deflateSync(content.subarray(0, size), { level }));
    for (let flips = whole(3); flips > 0; flips--) stream[whole(stream.length)]! ^= 1 << whole(8);
    const found = inflated(stream, size);
    expect(found).toEqual(expected(stream, size));
    if (found !== undefined) right += 1;
  }
  expect(right).toBeGreaterThan(800);
  expect(right).toBeLessThan(2200);
});
