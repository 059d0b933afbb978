import * as zlib from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { deflateExact } from '../../../src/codecs/compression/deflate-exact.ts';
import { deflate, deflateBlock, inflate, inflatePieces } from '../../../src/codecs/compression/inflate.ts';
import { isAllZero } from '../../../src/core/bytes.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { words } from '../ciphers/words.ts';

const what = 'sample';
const content = words(50_000);
const packed = new Uint8Array(zlib.deflateSync(content));
const longer = new Uint8Array([...packed, 0]);

async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return new Uint8Array(Buffer.concat(parts));
}

/** Every way in must answer alike, so each case runs through all of them. */
const ways = {
  'all at once': async (bytes: Uint8Array, options: { size?: number; maxSize: number }) =>
    inflate(bytes, { ...options, what }),
  'in pieces of 7': (bytes: Uint8Array, options: { size?: number; maxSize: number }) =>
    gather(inflatePieces(inPieces(bytes, 7), { ...options, what })),
  'in one piece': (bytes: Uint8Array, options: { size?: number; maxSize: number }) =>
    gather(inflatePieces(inPieces(bytes, bytes.length + 1), { ...options, what })),
};

describe.each(Object.entries(ways))('inflate %s', (_name, run) => {
  test('gives the content, with the size known or not', async () => {
    expect(await run(packed, { size: content.length, maxSize: 1e6 })).toEqual(content);
    expect(await run(packed, { maxSize: 1e6 })).toEqual(content);
    expect(await run(packed, { maxSize: content.length })).toEqual(content);
  });

  test('gives an empty content', async () => {
    const empty = new Uint8Array(zlib.deflateSync(''));
    expect(await run(empty, { size: 0, maxSize: 0 })).toEqual(new Uint8Array(0));
    expect(await run(empty, { maxSize: 10 })).toEqual(new Uint8Array(0));
  });

  test.each([
    ['output longer than promised', packed, { size: content.length - 1, maxSize: 1e6 }, 'E_FORMAT_RANGE'],
    ['output longer than allowed', packed, { maxSize: content.length - 1 }, 'E_FORMAT_RANGE'],
    ['output shorter than promised', packed, { size: content.length + 1, maxSize: 1e6 }, 'E_FORMAT_TRUNCATED'],
    ['a byte behind the stream', longer, { size: content.length, maxSize: 1e6 }, 'E_FORMAT'],
    ['a byte behind the stream, size unknown', longer, { maxSize: 1e6 }, 'E_FORMAT'],
    ['input cut short', packed.slice(0, -5), { size: content.length, maxSize: 1e6 }, 'E_FORMAT_TRUNCATED'],
    [
      'the last checksum byte missing',
      packed.slice(0, -1),
      { size: content.length, maxSize: 1e6 },
      'E_FORMAT_TRUNCATED',
    ],
    [
      'a wrong Adler-32',
      withByte(packed, packed.length - 1),
      { size: content.length, maxSize: 1e6 },
      'E_FORMAT_CHECKSUM',
    ],
    ['no zlib at all', Uint8Array.of(1, 2, 3, 4), { maxSize: 1e6 }, 'E_FORMAT'],
    ['nothing at all', new Uint8Array(0), { maxSize: 1e6 }, 'E_FORMAT_TRUNCATED'],
  ] as const)('refuses %s', async (_case, bytes, options, code) => {
    await expect(run(bytes, options)).rejects.toMatchObject({ name: 'PakratError', code });
  });

  test('a bomb ends at the bound, not at its end', async () => {
    const bomb = new Uint8Array(zlib.deflateSync(new Uint8Array(50_000_000)));
    // Whoever inflates it to its end finds this instead.
    bomb[bomb.length - 1]! ^= 1;
    await expect(run(bomb, { maxSize: 1_000_000 })).rejects.toMatchObject({ code: 'E_FORMAT_RANGE' });
    await expect(run(bomb, { size: 1_000_000, maxSize: 1e9 })).rejects.toMatchObject({ code: 'E_FORMAT_RANGE' });
  });
});

describe('inflate', () => {
  test('does not ask for memory that the input cannot fill', () => {
    expect(() => inflate(packed, { size: 2 ** 31, maxSize: 2 ** 32, what })).toThrow(/cannot hold the promised/);
  });

  test('takes the densest stream there is', () => {
    const zeros = new Uint8Array(4_000_000);
    const densest = deflate(zeros, { level: 9 });
    expect(zeros.length / densest.length).toBeGreaterThan(1000);
    expect(isAllZero(inflate(densest, { size: zeros.length, maxSize: zeros.length, what }))).toBe(true);
  });

  test('the result copies on slice, as arrays do', () => {
    const result = inflate(packed, { maxSize: 1e6, what });
    result.slice()[0]! ^= 1;
    expect(result).toEqual(content);
  });

  test('survives hostile input', () => {
    expectHostileSafe((bytes) => inflate(bytes, { size: content.length, maxSize: 1e6, what }), packed, { samples: 60 });
    expectHostileSafe((bytes) => inflate(bytes, { maxSize: 1e6, what }), packed, { samples: 60 });
  });
});

describe('inflatePieces', () => {
  test('passes an error of its source on', async () => {
    async function* broken() {
      yield packed.subarray(0, 100);
      throw Object.assign(new Error('disk gone'), { code: 'EIO' });
    }
    await expect(gather(inflatePieces(broken(), { maxSize: 1e6, what }))).rejects.toMatchObject({ code: 'EIO' });
  });

  test('closes its source when the reader leaves early', async () => {
    const closed = new Promise<void>((resolve) => {
      const noise = deflate(
        Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * i) >> 7),
        { level: 1 },
      );
      async function* source() {
        try {
          yield* inPieces(noise, 1000);
        } finally {
          resolve();
        }
      }
      void (async () => {
        for await (const _piece of inflatePieces(source(), { maxSize: 1e9, what })) break;
      })();
    });
    await closed;
  });
});

describe('deflate', () => {
  test.each([
    ['deflate', deflate],
    ['deflateExact', deflateExact],
  ] as const)('%s makes what another inflater reads', (_name, squeeze) => {
    for (const windowBits of [8, 9, 15]) {
      const made = squeeze(content, { level: 9, windowBits });
      expect(new Uint8Array(zlib.inflateSync(made))).toEqual(content);
      expect(made[0]! >> 4).toBe(Math.max(windowBits, 9) - 8);
    }
    expect(squeeze(content, { level: 9 })[1]).toBe(0xda);
  });

  // Digests of what zlib 1.2.13 made of the same bytes.
  test.each([
    [1, 15, '1d0e10c5535ba9e7b3cd35b121932f8f'],
    [6, 15, '8c0ca647fa28e7697040875d3673dd56'],
    [9, 15, 'a789b107869dd80c6954695b0d536544'],
    [6, 14, '655f32b5ce21b94b47c630e0fc223863'],
    [9, 9, 'eeb82eb964e99c4a96d7baedf844ac26'],
  ])('deflateExact at level %i with window %i makes the bytes of the original zlib', (level, windowBits, digest) => {
    expect(md5Hex(deflateExact(content, { level, windowBits }))).toBe(digest);
  });
});

function withByte(bytes: Uint8Array, offset: number): Uint8Array {
  const changed = bytes.slice();
  changed[offset]! ^= 1;
  return changed;
}

test('a stream made on a thread is the one that is made here', async () => {
  const bytes = new TextEncoder().encode('a block of a PAK, '.repeat(1000));
  for (const level of [1, 9]) {
    const stream = await deflateBlock(bytes, level);
    expect(Buffer.compare(stream, deflate(bytes, { level }))).toBe(0);
    expect(inflate(stream, { size: bytes.length, maxSize: bytes.length, what: 'test' })).toEqual(bytes);
  }
});
