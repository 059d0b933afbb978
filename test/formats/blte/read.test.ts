import * as crypto from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { deflate } from '../../../src/codecs/compression/inflate.ts';
import { concatBytes, fromHex } from '../../../src/core/bytes.ts';
import { isPakratError } from '../../../src/core/errors.ts';
import { md5, md5Hex } from '../../../src/core/hash.ts';
import { decodeBlte } from '../../../src/formats/blte/decode.ts';
import { type EncodedBlte, encodeBlte } from '../../../src/formats/blte/encode.ts';
import { decodeBlteHeader, encodeBlteHeader } from '../../../src/formats/blte/header.ts';
import {
  type ReadBlteOptions,
  type ReadRange,
  readBlte,
  readBlteHeader,
  readBltePart,
} from '../../../src/formats/blte/read.ts';
import { words } from '../../codecs/ciphers/words.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { foreignBltes, foreignKey, foreignKeys as keys } from './gencdn.ts';

const MiB = 0x100000;
const wireName = '3ecb6a12785050fa';
const secret = `e:{${wireName},01020304`;
const code = (name: string) => expect.objectContaining({ code: name });

/** Reads out of memory, and counts. */
function reader(bytes: Uint8Array) {
  const asked: { offset: number; size: number }[] = [];
  const read: ReadRange = async (offset, size) => {
    if (offset < 0 || offset + size > bytes.length) throw new Error(`${size} bytes asked at ${offset}`);
    asked.push({ offset, size });
    return bytes.slice(offset, offset + size);
  };
  return { read, asked };
}

/** Digest and largest piece of what an object decodes to. */
async function summary(bytes: Uint8Array, options: ReadBlteOptions = {}) {
  const hash = crypto.createHash('md5');
  let size = 0;
  let largest = 0;
  for await (const piece of readBlte(reader(bytes).read, bytes.length, options)) {
    hash.update(piece);
    size += piece.length;
    largest = Math.max(largest, piece.length);
  }
  return { md5: hash.digest('hex'), size, largest };
}

/** Bytes that no codec makes smaller. */
function noise(size: number): Uint8Array {
  const cipher = crypto.createCipheriv('aes-128-ctr', new Uint8Array(16), new Uint8Array(16));
  return new Uint8Array(cipher.update(new Uint8Array(size)));
}

/** More than a chunk may have to be held whole. */
const large = noise(8 * MiB + 12345);
const largeMd5 = md5Hex(large);
const fast = { zlib: 'fast', keys } as const;

const encodedLarge = new Map<string, EncodedBlte>();
/** The large content as a spec says, made once for each spec: a copy, to be damaged at will. */
function largeAs(spec: string): EncodedBlte {
  const { bytes, ekey } = encodedLarge.get(spec) ?? encodeBlte(large, spec, fast);
  encodedLarge.set(spec, { bytes, ekey });
  return { bytes: bytes.slice(), ekey };
}
/** The large content as one zlib stream. */
const zlibLarge = (): Uint8Array => largeAs('z:1').bytes.subarray(8 + 1);

describeConformance('readBlte on objects of others', () => {
  test('a real object', async () => {
    const bytes = conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.blte');
    const known = { ekey: '2a6f1a538227094c04a4c364b1dda995', ckey: '04ca19154f0c48b1a0ed06dc342fa6b1' };
    expect(await summary(bytes, known)).toMatchObject({ md5: known.ckey, size: 14641 });
  });

  test('all that gencdn.py makes, with the size known or not', async () => {
    for (const { bytes, ekey, content } of foreignBltes()) {
      const ckey = md5Hex(content);
      const found = { md5: ckey, size: content.length };
      expect(await summary(bytes, { keys, ekey, ckey, decodedSize: content.length })).toMatchObject(found);
      expect(await summary(bytes, { keys })).toMatchObject(found);
    }
  });
});

/** Ways to encode the large content. */
const shapes = [
  ['one large plain chunk', 'b:{*=n}'],
  ['one large zlib chunk', 'b:{*=z:1}'],
  ['one large encrypted plain chunk', `b:{100=n,*=${secret},n}}`],
  ['one large encrypted zlib chunk', `b:{100=n,*=${secret},z:1}}`],
  ['one large chunk encrypted twice', `b:{100=n,*=${secret},e:{${wireName},0000000000000001,z:0}}}`],
  ['no table, plain', 'n'],
  ['no table, zlib', 'z:1'],
  ['no table, encrypted', `${secret},z:0}`],
  ['no table, a nested object', 'e:{3ecb6a12785050fa,01020304,b:{1M*=z:0}}'],
  ['a large nested object', 'b:{5=n,*=b:{1M*=z:0}}'],
  ['middling chunks', 'b:{5M*=n}'],
  ['small chunks', 'b:{64K*=z:0}'],
] as const;

describe('readBlte', () => {
  test.each(shapes)('%s comes out whole, in small pieces', async (_name, spec) => {
    const { bytes, ekey } = largeAs(spec);
    const found = { md5: largeMd5, size: large.length };
    const known = await summary(bytes, { keys, ekey, ckey: largeMd5, decodedSize: large.length });
    expect(known).toMatchObject(found);
    expect(known.largest).toBeLessThanOrEqual(4 * MiB);
    expect(await summary(bytes, { keys })).toMatchObject(found);
  });

  test('a small chunk may decode to much', async () => {
    const zeros = new Uint8Array(17 * MiB);
    const bomb = concatBytes([Uint8Array.of(0x5a), deflate(zeros, { level: 9 })]);
    const { bytes } = objectOf([{ encoded: bomb, decodedSize: zeros.length }]);
    const found = await summary(bytes, { ckey: md5Hex(zeros) });
    expect(found.size).toBe(zeros.length);
    expect(found.largest).toBeLessThanOrEqual(4 * MiB);
  });

  test.each(shapes)('%s comes out whole of memory that is used again', async (_name, spec) => {
    const { bytes, ekey } = largeAs(spec);
    const memory = new Uint8Array(bytes.length);
    const read: ReadRange = async (offset, size) => {
      // Nothing of what was read before is there any more.
      memory.fill(0xee);
      memory.set(bytes.subarray(offset, offset + size));
      return memory.subarray(0, size);
    };
    const content = crypto.createHash('md5');
    for await (const piece of readBlte(read, bytes.length, { ekey, keys, isReused: true })) content.update(piece);
    expect(content.digest('hex')).toBe(largeMd5);
  });

  test('reads each byte about once, and ahead over small chunks', async () => {
    for (const spec of ['b:{*=n}', 'b:{64K*=n}', 'n', 'b:{3M*=n}']) {
      const { bytes } = largeAs(spec);
      const { read, asked } = reader(bytes);
      for await (const _piece of readBlte(read, bytes.length));
      const total = asked.reduce((sum, { size }) => sum + size, 0);
      expect(asked.length).toBeLessThan(50);
      expect(Math.max(...asked.map(({ size }) => size))).toBeLessThanOrEqual(8 * MiB);
      expect(total / bytes.length).toBeLessThan(1.15);
    }
  });

  test('a chunk of 3 GiB begins to come out at once', async () => {
    const encodedSize = 3 * 1024 * MiB;
    const row = { encodedSize, decodedSize: encodedSize - 1, md5: new Uint8Array(16), decodedMd5: new Uint8Array(16) };
    const header = encodeBlteHeader({ format: 0x0f, rows: [row] });
    let asked = 0;
    const read: ReadRange = async (offset, size) => {
      asked += size;
      const bytes = new Uint8Array(size).fill(0x4e);
      if (offset === 0) bytes.set(header);
      return bytes;
    };
    let given = 0;
    for await (const piece of readBlte(read, header.length + encodedSize)) {
      given += piece.length;
      if (given > 2 * MiB) break;
    }
    expect(given).toBeGreaterThan(2 * MiB);
    expect(asked).toBeLessThan(5 * MiB);
  });

  test('a small object is one read', async () => {
    const { bytes } = encodeBlte(words(5000), 'b:{1K*=z}');
    const { read, asked } = reader(bytes);
    for await (const _piece of readBlte(read, bytes.length));
    expect(asked).toEqual([{ offset: 0, size: bytes.length }]);
  });

  describe('damage', () => {
    const shapes = [
      ['small chunks', words(50_000), 'b:{1K*=z}'],
      ['a large plain chunk', large, 'b:{*=n}'],
      ['a large zlib chunk', large, 'b:{*=z:1}'],
      ['a large encrypted zlib chunk', large, `b:{*=${secret},z:1}}`],
      ['no table, plain', words(50_000), 'n'],
      ['no table, zlib', words(50_000), 'z'],
      ['no table, large', large, 'z:1'],
    ] as const;

    test.each(shapes)('in %s is E_INTEGRITY, wherever it lies', async (_name, content, spec) => {
      const { bytes, ekey } = content === large ? largeAs(spec) : encodeBlte(content, spec, fast);
      const { dataOffset } = decodeBlteHeader(bytes, bytes.length);
      for (const offset of [dataOffset, dataOffset + 1, bytes.length >> 1, bytes.length - 1]) {
        bytes[offset]! ^= 0x10;
        await expect(summary(bytes, { keys, ekey })).rejects.toMatchObject({ code: 'E_INTEGRITY' });
        bytes[offset]! ^= 0x10;
      }
    });

    test('in a chunk of up to 8 MiB gives nothing of that chunk out', async () => {
      const { bytes } = largeAs('b:{5M=n,*=n}');
      bytes[5 * MiB - 100]! ^= 1;
      let given = 0;
      await expect(async () => {
        for await (const piece of readBlte(reader(bytes).read, bytes.length)) given += piece.length;
      }).rejects.toMatchObject({ code: 'E_INTEGRITY', data: { index: 0 } });
      expect(given).toBe(0);
    });

    test('that hashes right is E_FORMAT', async () => {
      const packed = concatBytes([Uint8Array.of(0x5a), zlibLarge()]);
      const wrongSize = objectOf([{ encoded: packed, decodedSize: large.length + 1 }]);
      await expect(summary(wrongSize.bytes)).rejects.toMatchObject({ code: 'E_FORMAT_TRUNCATED' });
      const tooSmall = objectOf([{ encoded: packed, decodedSize: large.length - 1 }]);
      await expect(summary(tooSmall.bytes)).rejects.toMatchObject({ code: 'E_FORMAT_RANGE' });
      const trailing = objectOf([{ encoded: concatBytes([packed, words(10)]), decodedSize: large.length }]);
      await expect(summary(trailing.bytes)).rejects.toMatchObject({ code: 'E_FORMAT' });
      const plain = objectOf([{ encoded: concatBytes([Uint8Array.of(0x4e), large]), decodedSize: large.length - 1 }]);
      let given = 0;
      await expect(async () => {
        for await (const piece of readBlte(reader(plain.bytes).read, plain.bytes.length)) given += piece.length;
      }).rejects.toMatchObject({ code: 'E_FORMAT' });
      expect(given).toBeLessThan(large.length);
      const unknown = objectOf([{ encoded: concatBytes([Uint8Array.of(0x58), large]), decodedSize: large.length }]);
      await expect(summary(unknown.bytes)).rejects.toMatchObject({ code: 'E_FORMAT' });
    });
  });

  test('a wrong ekey, ckey or size is E_INTEGRITY', async () => {
    const content = words(50_000);
    const other = '00'.repeat(16);
    for (const spec of ['b:{1K*=z}', 'z']) {
      const { bytes } = encodeBlte(content, spec);
      await expect(summary(bytes, { ekey: other })).rejects.toMatchObject({ code: 'E_INTEGRITY' });
      await expect(summary(bytes, { ckey: other })).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    }
    const { bytes } = encodeBlte(content, 'b:{1K*=z}');
    await expect(summary(bytes, { decodedSize: 49_999 })).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    await expect(summary(encodeBlte(content, 'n').bytes, { decodedSize: 1 })).rejects.toMatchObject({
      code: 'E_FORMAT',
    });
  });

  test('the MD5 of decoded chunks in format 0x10 is checked, large or small', async () => {
    for (const content of [words(5000), large]) {
      const { bytes } = encodeBlte(content, 'b:{*=z:0}', { ...fast, table: '0x10' });
      expect(await summary(bytes)).toMatchObject({ md5: md5Hex(content) });
      bytes[12 + 24]! ^= 1;
      await expect(summary(bytes)).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    }
  });

  test('a missing key is named', async () => {
    const content = large.subarray(0, 2 * MiB);
    const missing = { code: 'E_KEY_MISSING', data: expect.objectContaining({ keyName: foreignKey.name }) };
    for (const spec of [`b:{100=n,*=${secret},n}}`, `b:{1M*=${secret},z}}`, `${secret},n}`]) {
      const { bytes } = encodeBlte(content, spec, fast);
      await expect(summary(bytes)).rejects.toMatchObject(missing);
    }
  });

  test('an error of the reader comes through as it is', async () => {
    const { bytes } = largeAs('b:{*=z:1}');
    const read: ReadRange = async (offset, size) => {
      if (offset > 3 * MiB) throw Object.assign(new Error('disk gone'), { code: 'EIO' });
      return bytes.slice(offset, offset + size);
    };
    await expect(async () => {
      for await (const _piece of readBlte(read, bytes.length));
    }).rejects.toMatchObject({ code: 'EIO' });
    const short: ReadRange = async (offset, size) => bytes.slice(offset, offset + size - 1);
    await expect(async () => {
      for await (const _piece of readBlte(short, bytes.length));
    }).rejects.toMatchObject({ code: 'E_FORMAT_TRUNCATED' });
  });

  test('encryption around encryption ends somewhere', async () => {
    for (const [layers, code] of [
      [4, undefined],
      [5, 'E_FORMAT_RANGE'],
    ] as const) {
      const spec = [`${secret},`.repeat(layers), 'n', '}'.repeat(layers)].join('');
      const { bytes } = encodeBlte(words(100), spec, fast);
      const run = summary(bytes, { keys });
      await (code ? expect(run).rejects.toMatchObject({ code }) : expect(run).resolves.toMatchObject({ size: 100 }));
    }
  });

  test('a nested object that is too large to hold is not supported', async () => {
    const encodedSize = 65 * MiB;
    const row = { encodedSize, decodedSize: encodedSize, md5: new Uint8Array(16), decodedMd5: new Uint8Array(16) };
    const header = encodeBlteHeader({ format: 0x0f, rows: [row] });
    let asked = 0;
    const read: ReadRange = async (offset, size) => {
      asked = Math.max(asked, offset + size);
      const bytes = new Uint8Array(size).fill(0x46);
      if (offset === 0) bytes.set(header);
      return bytes;
    };
    await expect(async () => {
      for await (const _piece of readBlte(read, header.length + encodedSize));
    }).rejects.toMatchObject({ code: 'E_UNSUPPORTED' });
    expect(asked).toBeGreaterThan(64 * MiB);
  });

  test('agrees with decodeBlte on hostile input', async () => {
    const inputs: Uint8Array[] = [];
    for (const spec of ['b:{1K*=z}', `b:{1K*=${secret},z}}`, 'z']) {
      const { bytes } = encodeBlte(words(3000), spec, fast);
      expectHostileSafe((input) => decodeBlte(inputs[inputs.push(input) - 1]!, { keys }), bytes, { samples: 20 });
    }
    for (const input of inputs) {
      expect(await outcome(() => summary(input, { keys }))).toEqual(
        await outcome(async () => ({ md5: md5Hex(decodeBlte(input, { keys })) })),
      );
    }
  });
});

describe('readBlteHeader', () => {
  test('asks for little', async () => {
    const { bytes } = encodeBlte(large, 'b:{2K*=n}');
    const { read, asked } = reader(bytes);
    expect(await readBlteHeader(read, bytes.length)).toMatchObject({ count: 4103, decodedSize: large.length });
    expect(asked.map(({ size }) => size)).toEqual([65_536, 12 + 24 * 4103]);
  });

  test('refuses a header longer than the object, without reading it', async () => {
    const bytes = concatBytes([fromHex('424c54457fff0000'), new Uint8Array(100)]);
    bytes[4] = 0x10;
    const { read } = reader(bytes);
    await expect(readBlteHeader(read, bytes.length)).rejects.toEqual(code('E_FORMAT_TRUNCATED'));
    await expect(readBlteHeader(reader(bytes.subarray(0, 5)).read, 5)).rejects.toEqual(code('E_FORMAT_TRUNCATED'));
  });
});

describe('readBltePart', () => {
  /** The part of an object, and what was asked for. */
  async function partOf({ bytes, ekey }: EncodedBlte, offset: number, size: number) {
    const { read, asked } = reader(bytes);
    const pieces: Uint8Array[] = [];
    for await (const piece of readBltePart(read, bytes.length, { offset, size }, { ekey, keys })) pieces.push(piece);
    return { part: concatBytes(pieces), bytesRead: asked.reduce((sum, one) => sum + one.size, 0) };
  }

  test.each(['b:{256K*=n}', 'b:{256K*=z}', 'n', 'z', `b:{100K=n,1=z,*=${secret},n}}`, 'b:{*=z}'])(
    'gives what a slice of the whole is: %s',
    async (spec) => {
      const object = largeAs(spec);
      const end = large.length;
      for (const [from, to] of [
        [0, 1],
        [0, end],
        [262_144, 262_145],
        [262_143, 600_000],
        [5_000_000, 5_000_000],
        [end - 1, end],
        [end - 10, end + 10],
        [end, end + 1],
      ] as const) {
        const { part } = await partOf(object, from, to - from);
        expect(md5Hex(part)).toBe(md5Hex(large.subarray(from, to)));
      }
    },
  );

  test('reads the header and the chunks that hold it', async () => {
    const { part, bytesRead } = await partOf(largeAs('b:{256K*=n}'), 4 * MiB + 10, 20);
    expect(part).toEqual(large.subarray(4 * MiB + 10, 4 * MiB + 30));
    expect(bytesRead).toBe(65_536 + 256 * 1024 + 1);
    const small = await partOf(largeAs('b:{2K*=n}'), MiB + 10, 20);
    expect(small.part).toEqual(large.subarray(MiB + 10, MiB + 30));
    expect(small.bytesRead).toBe(65_536 + 12 + 24 * 4103 + 2049);
  });

  test('refuses a damaged header and a damaged chunk; one that it does not need may be damaged', async () => {
    const { bytes, ekey } = largeAs('b:{256K*=n}');
    const damaged = (at: number) => ({ bytes: bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)), ekey });
    const chunk = (index: number) => decodeBlteHeader(bytes, bytes.length).chunk(index).offset + 5;
    for (const at of [30, chunk(16)])
      await expect(partOf(damaged(at), 4 * MiB + 10, 20)).rejects.toEqual(code('E_INTEGRITY'));
    expect((await partOf(damaged(chunk(15)), 4 * MiB + 10, 20)).part).toHaveLength(20);
  });
});

/** The MD5 of what came out, or the family of the error. */
async function outcome(run: () => Promise<{ md5: string }>): Promise<string> {
  try {
    return (await run()).md5;
  } catch (error) {
    return isPakratError(error) ? error.code.slice(0, 'E_FORMAT'.length) : 'not ours';
  }
}

/** An object of chunks that were encoded by hand. */
function objectOf(chunks: { encoded: Uint8Array; decodedSize: number }[]) {
  const rows = chunks.map(({ encoded, decodedSize }) => ({
    encodedSize: encoded.length,
    decodedSize,
    md5: md5(encoded),
    decodedMd5: new Uint8Array(16),
  }));
  return { bytes: concatBytes([encodeBlteHeader({ format: 0x0f, rows }), ...chunks.map(({ encoded }) => encoded)]) };
}
