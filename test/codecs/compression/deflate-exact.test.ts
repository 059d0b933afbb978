import { expect, test } from '@jest/globals';
import * as pako from 'pako';
import { deflateExact, deflateExactInSteps } from '../../../src/codecs/compression/deflate-exact.ts';
import { inflate } from '../../../src/codecs/compression/inflate.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { randomSource } from '../../support/hostile.ts';

const text = new TextEncoder().encode('the same bytes everywhere, the same bytes again; '.repeat(100));

// What zlib 1.2.13 makes (python3, zlib.compressobj).
test.each([
  [1, 15, '0f2d3295afceb433259af98e48e2b906'],
  [6, 15, '251c0608ce01146bac96177d0cb2d1f3'],
  [9, 12, '86027994fa0759f3e81653d5ce31a863'],
])('level %i with a window of %i bits makes the bytes of the original zlib', (level, windowBits, expected) => {
  const stream = deflateExact(text, { level, windowBits });
  expect(md5Hex(stream)).toBe(expected);
  expect(inflate(stream, { size: text.length, maxSize: text.length, what: 'test' })).toEqual(text);
});

test('small contents, one after the other, are deflated as if each were alone', () => {
  const random = randomSource(7);
  for (let i = 0; i < 300; i++) {
    const level = [1, 6, 9][Math.floor(random() * 3)] ?? 6;
    const size = i === 0 ? 0 : Math.floor(random() * 20_000);
    // Every third is noise, which gets no smaller.
    const bytes = Uint8Array.from({ length: size }, (_, at) => (i % 3 === 0 ? random() * 256 : 97 + ((at * at) % 7)));
    expect(md5Hex(deflateExact(bytes, { level }))).toBe(md5Hex(pako.deflate(bytes, { level, legacyHash: true })));
  }
});

test.each([0, 1, 1 << 18, (1 << 18) + 1, 1_500_000])('%i bytes in steps are the same bytes', async (size) => {
  const random = randomSource(size);
  // Words, so that matches reach over the ends of steps.
  const words = Array.from({ length: 500 }, () =>
    random()
      .toString(36)
      .slice(2, 3 + random() * 9),
  );
  const bytes = Buffer.alloc(
    size,
    Array.from({ length: 50_000 }, () => words[Math.floor(random() ** 3 * 500)]).join(' '),
  );
  for (const level of [1, 6, 9]) {
    expect(Buffer.compare(await deflateExactInSteps(bytes, { level }), deflateExact(bytes, { level }))).toBe(0);
  }
});

test('what goes in steps can be interrupted', async () => {
  const stop = new AbortController();
  const made = deflateExactInSteps(new Uint8Array(50 << 20), { level: 9 }, stop.signal);
  setTimeout(() => stop.abort(), 50);
  await expect(made).rejects.toMatchObject({ code: 'E_ABORTED' });
});
