import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { concatBytes, fromHex } from '../../../../src/core/bytes.ts';
import { md5 } from '../../../../src/core/hash.ts';
import { ByteWriter } from '../../../../src/core/writer.ts';
import { CipherStream, packCipherKey } from '../../../../src/paks/nadeo/entries/cipher-stream.ts';
import type { KnownMix } from '../../../../src/paks/nadeo/entries/entry-reader.ts';
import type { EntryMethod } from '../../../../src/paks/nadeo/gbx/gbx-entry.ts';
import { GbxScanner, mixOfId } from '../../../../src/paks/nadeo/gbx/gbx-feedback.ts';
import { decodeGbxHeader } from '../../../../src/paks/nadeo/gbx/gbx-header.ts';
import { nodeClasses } from '../../../../src/paks/nadeo/gbx/node-classes.ts';
import { openNadeoPak } from '../../../../src/paks/nadeo/open.ts';
import { expectHostileSafe } from '../../../support/hostile.ts';
import { baseKey, collect, digestOf, gbxFile, type MixedPack, noise, packWithMixes } from '../synthetic.ts';

const root = 0x01001000;
const challenge = 0x03043000;
const bodyOffset = 25;

async function openMixed(parts: MixedPack) {
  return openNadeoPak(bytesSource(await packWithMixes(parts)), { keys: [baseKey] });
}

/** Offsets behind each node's class id, in a file of gbxFile. */
function nodeOffsets(content: Uint8Array, inline: readonly number[]): number[] {
  const view = new DataView(content.buffer);
  return inline.map((classId, i) => {
    for (let at = bodyOffset; ; at++) {
      if (view.getUint32(at, true) === i + 1 && view.getUint32(at + 4, true) === classId) return at + 8;
    }
  });
}

function mixesAt(offsets: readonly number[], ids: readonly (number | undefined)[]): KnownMix[] {
  return offsets.flatMap((offset, i) => (ids[i] === undefined ? [] : [{ offset, bytes: mixOfId(ids[i]!) }]));
}

describe('the scanner', () => {
  const inline = [0x0304f000, 0x07006000, 0x0900d000];

  test('finds the same places however the bytes come', () => {
    const content = gbxFile({ classId: challenge, inline });
    const wanted = [bodyOffset, ...nodeOffsets(content, inline)];
    for (const step of [1, 7, 256, content.length]) {
      const scanner = new GbxScanner({ classes: nodeClasses(3), packVersion: 3, size: content.length });
      const offsets: number[] = [];
      for (let end = step; end < content.length + step; end += step) {
        const seen = content.subarray(0, end);
        for (const place of scanner.next(seen)) {
          expect(place.offset).toBeLessThanOrEqual(seen.length);
          expect(place.offset).toBeGreaterThan(end - step);
          offsets.push(place.offset);
        }
      }
      expect(offsets).toEqual(wanted);
    }
  });

  test('takes no external for a node, and nothing in a compressed body or in text', () => {
    const placesOf = (content: Uint8Array) =>
      new GbxScanner({ classes: nodeClasses(3), packVersion: 3, size: content.length }).next(content);
    const withExternals = gbxFile({ classId: challenge, inline, externals: ['a.gbx', 'b.gbx'] });
    expect(placesOf(withExternals)).toHaveLength(4);
    expect(decodeGbxHeader(withExternals).externals.map(({ path }) => path)).toEqual(['a.gbx', 'b.gbx']);
    expect(placesOf(gbxFile({ classId: challenge, inline, format: 'BUCR' }))).toEqual([]);
    expect(placesOf(gbxFile({ classId: challenge, inline, format: 'TUUR' }))).toEqual([]);
    expect(placesOf(noise(500))).toEqual([]);
  });

  test('chunks with a mix of their own', () => {
    const box = new ByteWriter().u32le(0x0900f004).u32le(3).u32le(0xffffffff);
    const floats = new DataView(new ArrayBuffer(24));
    for (const [i, value] of [10, 0, 0, 2.5, 1, 1].entries()) floats.setFloat32(4 * i, value, true);
    const boxChunk = box.raw(new Uint8Array(floats.buffer)).bytes();
    const content = gbxFile({ classId: challenge, inline: [0x0900d000], chunk: boxChunk, filler: 40 });
    const scan = (bytes: Uint8Array, packVersion: number) =>
      new GbxScanner({ classes: nodeClasses(packVersion), packVersion, size: bytes.length }).next(bytes);
    const mixed = new Uint8Array(4);
    new DataView(mixed.buffer).setFloat32(0, 7.5, true);
    expect(scan(content, 3)).toContainEqual({ offset: bodyOffset + 40 + boxChunk.length, choices: [mixed, undefined] });

    const name = new ByteWriter()
      .u32le(0x090eb000)
      .u32le(3)
      .u32le(0x40000000)
      .u32le(6)
      .text('Tuning')
      .u32le(0xffffffff);
    const nameChunk = name.u32le(0).bytes();
    const tuned = gbxFile({ classId: 0x090ed000, inline: [0x09006000], chunk: nameChunk, filler: 40 });
    const place = {
      offset: bodyOffset + 40 + nameChunk.length,
      choices: [new TextEncoder().encode('Tuni'), undefined],
    };
    expect(scan(tuned, 12)).toContainEqual(place);
    expect(scan(tuned, 3)).not.toContainEqual(place);
  });

  test('nodes in skippable chunks mix nothing in version 18, at first', () => {
    const skippable = new ByteWriter().u32le(0x03043018).u32le(0x534b4950).u32le(30).bytes();
    const content = gbxFile({ classId: challenge, inline: [0x0304f000], chunk: skippable, filler: 40 });
    const scan = (packVersion: number) =>
      new GbxScanner({ classes: nodeClasses(packVersion), packVersion, size: content.length }).next(content)[1]!;
    expect(scan(18).choices[0]).toBeUndefined();
    expect(scan(12).choices[0]).toEqual(mixOfId(0x24005000));
  });
});

describe('following a GBX', () => {
  const inline = [0x0304f000, 0x07006000, 0x0900d000, 0x0305d000];
  const ids = [root, 0x24005000, 0x07001000, 0x0902b000, 0x2401c000];
  const content = gbxFile({ classId: challenge, inline, filler: 2000 });
  const offsets = [bodyOffset, ...nodeOffsets(content, inline)];
  const cases: [number, EntryMethod, string][] = [
    [8, 'zlib', 'exact by checksum'],
    [12, 'zlib', 'exact by checksum'],
    [17, 'zlib', 'exact by checksum'],
    [8, 'none', 'feedback unverified'],
    [12, 'none', 'feedback unverified'],
    [18, 'none', 'feedback unverified'],
    [18, 'lz4', 'feedback unverified'],
  ];

  test.each(cases)('version %i, stored as %s: inline nodes', async (version, method, status) => {
    const pak = await openMixed({ version, content, method, mixes: mixesAt(offsets, ids) });
    const entry = pak.entries[0]!;
    expect(digestOf(await collect(pak.read(entry)))).toBe(digestOf(content));
    expect(await pak.status(entry)).toBe(status);
  });

  test('a checksum of the content makes it sure', async () => {
    const parts = {
      version: 17,
      content,
      method: 'none',
      mixes: mixesAt(offsets, ids),
      checksum: md5(content),
    } as const;
    const pak = await openMixed(parts);
    expect(await pak.status(pak.entries[0]!)).toBe('exact by checksum');
    const damaged = await packWithMixes(parts);
    damaged[damaged.length - 20]! ^= 1;
    const broken = await openNadeoPak(bytesSource(damaged), { keys: [baseKey] });
    // The only sample is damaged, so nothing says what the checksums of this pack are over.
    expect(await broken.status(broken.entries[0]!)).toBe('feedback unverified');
  });

  // Each wrong guess of the scanner has to be found by trying.
  test.each([
    ['a class that mixes nothing', [root, undefined, 0x07001000, 0x0902b000, 0x2401c000]],
    ['two of them', [root, 0x24005000, undefined, 0x0902b000, undefined]],
    ['a main node that mixes nothing', [undefined, 0x24005000, 0x07001000, 0x0902b000, 0x2401c000]],
  ])('%s', async (_, actual) => {
    for (const [version, method] of [
      [8, 'zlib'],
      [12, 'zlib'],
      [12, 'none'],
      [18, 'lz4'],
    ] as const) {
      const pak = await openMixed({ version, content, method, mixes: mixesAt(offsets, actual) });
      expect(digestOf(await collect(pak.read(pak.entries[0]!)))).toBe(digestOf(content));
    }
  });

  test('a main node of a class that is in no table', async () => {
    const unknown = gbxFile({ classId: 0x7f123000, filler: 5000 });
    const pak = await openMixed({
      version: 8,
      content: unknown,
      method: 'zlib',
      mixes: mixesAt([bodyOffset], [0x0a00c000]),
    });
    expect(digestOf(await collect(pak.read(pak.entries[0]!)))).toBe(digestOf(unknown));
    expect(await pak.status(pak.entries[0]!)).toBe('exact by checksum');
  });

  test('what cannot be followed is an error, and its stored bytes can be had', async () => {
    const mixes = [{ offset: bodyOffset, bytes: fromHex('deadbeef') }];
    const pak = await openMixed({ version: 12, content, method: 'zlib', mixes });
    const entry = pak.entries[0]!;
    await expect(collect(pak.read(entry))).rejects.toMatchObject({
      code: 'E_INTEGRITY',
      hint: expect.stringContaining('raw'),
    });
    expect((await pak.verify(entry))?.code).toBe('E_INTEGRITY');
    expect((await collect(pak.readRaw(entry))).length).toBe(entry.storedSize);
    expect(digestOf(await collect(pak.readWithMixes(entry, mixes)))).toBe(digestOf(content));
  });

  test('a file marked as read without feedback, or too short for it, is exact', async () => {
    const marked = await openMixed({ version: 12, content, method: 'none', mixes: [], flags: 1n << 32n });
    expect(await marked.status(marked.entries[0]!)).toBe('exact');
    expect(digestOf(await collect(marked.read(marked.entries[0]!)))).toBe(digestOf(content));
    const short = gbxFile({ classId: challenge, filler: 100 });
    const pak = await openMixed({ version: 12, content: short, method: 'none', mixes: mixesAt([bodyOffset], [root]) });
    expect(await pak.status(pak.entries[0]!)).toBe('exact');
  });

  test('a GBX under a hashed name is followed, another file under one is not', async () => {
    const name = '0123456789ABCDEF0123456789ABCDEF01';
    const pak = await openMixed({ version: 8, content, method: 'zlib', mixes: mixesAt(offsets, ids), name });
    expect(await pak.status(pak.entries[0]!)).toBe('exact by checksum');
    const other = await openMixed({ version: 8, content: noise(9000), method: 'zlib', mixes: [], name });
    expect(await other.status(other.entries[0]!)).toBe('exact');
    expect(digestOf(await collect(other.read(other.entries[0]!)))).toBe(digestOf(noise(9000)));
  });

  test('a file that only looks as if it had thousands of nodes takes no time', async () => {
    const writer = new ByteWriter().text('GBX').u16le(6).text('BUUR').u32le(challenge).u32le(0).u32le(100_000).u32le(0);
    for (let i = 1; i < 20_000; i++) writer.u32le(i).u32le(0x0304f000);
    const hostile = writer.bytes();
    const pak = await openMixed({
      version: 12,
      content: hostile,
      method: 'zlib',
      mixes: [{ offset: 30, bytes: fromHex('12345678') }],
    });
    const started = performance.now();
    await expect(collect(pak.read(pak.entries[0]!))).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

test('a seekable file of version 18 is in counter mode, unless its checksum says otherwise', async () => {
  const content = noise(1000);
  const seekable = 0x40n;
  const usual = { version: 18, content, method: 'none', mixes: [], name: 'a.xml', flags: seekable } as const;
  const chained = await openMixed({ ...usual, checksum: md5(content) });
  expect(digestOf(await collect(chained.read(chained.entries[0]!)))).toBe(digestOf(content));
  const pack = await packWithMixes(usual);
  // Decrypting in counter mode is encrypting: the keystream over a file of zeros is what has to be put there.
  const pak = await openNadeoPak(bytesSource(pack), { keys: [baseKey] });
  const keystreamOver = await collect(pak.read(pak.entries[0]!));
  const stored = pack.subarray(0x1000 + 8, 0x1000 + 8 + content.length);
  const counted = stored.map((byte, i) => byte ^ keystreamOver[i]! ^ content[i]!);
  const again = pack.slice();
  again.set(counted, 0x1000 + 8);
  const reopened = await openNadeoPak(bytesSource(again), { keys: [baseKey] });
  expect(digestOf(await collect(reopened.read(reopened.entries[0]!)))).toBe(digestOf(content));
});

describe('GBX headers', () => {
  test('user data, folders and externals of version 6', () => {
    const writer = new ByteWriter().text('GBX').u16le(6).text('BUUR').u32le(challenge).u32le(3).text('abc').u32le(5);
    writer.u32le(2).u32le(2).u32le(1).u32le(5).text('Media').u32le(1).u32le(3).text('Sub').u32le(0);
    writer.u32le(0).u32le(5).text('x.dds').u32le(1).u32le(0).u32le(2);
    writer.u32le(4).u32le(9).u32le(2).u32le(0);
    expect(decodeGbxHeader(writer.bytes())).toEqual({
      version: 6,
      format: 'BUUR',
      classId: challenge,
      nodeCount: 5,
      datalessSize: 24,
      ancestorLevel: 2,
      externals: [
        { path: 'Media\\Sub\\x.dds', nodeIndex: 1 },
        { path: undefined, nodeIndex: 2 },
      ],
      bodyOffset: writer.size,
    });
    expectHostileSafe(decodeGbxHeader, writer.bytes());
  });

  test('what is missing is told at once', () => {
    const short = concatBytes([
      new TextEncoder().encode('GBX'),
      fromHex('0600'),
      new TextEncoder().encode('BUUR'),
      fromHex('0030040300100000'),
    ]);
    expect(() => decodeGbxHeader(short)).toThrow(
      expect.objectContaining({ code: 'E_FORMAT_TRUNCATED', data: expect.objectContaining({ expected: 17 + 4096 }) }),
    );
  });
});

test('the cipher stream that packs are made of is the one of the vectors', () => {
  const stream = new CipherStream(packCipherKey(baseKey, 3), new Uint8Array(8), 3);
  stream.mix(mixOfId(root));
  expect(stream.feedback).toBe(0x00005502e81540abn);
});
