import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { fromHex, toHex } from '../../../../src/core/bytes.ts';
import { md5, sha256 } from '../../../../src/core/hash.ts';
import { openNadeoPak } from '../../../../src/paks/nadeo/open.ts';
import { writeNadeoPak } from '../../../../src/paks/nadeo/write/write.ts';
import type { NadeoPackFile } from '../../../../src/paks/nadeo/write/write-files.ts';
import type { PackSink } from '../../../../src/paks/packing.ts';
import { conformanceBytes, describeConformance } from '../../../support/conformance.ts';
import { memorySink } from '../../../support/pak-sources.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { baseKey, collect, digestOf, gbxFile, noise, packBytes, packFile } from '../synthetic.ts';

const scratch = scratchFolder();
const versions = Array.from({ length: 18 }, (_, i) => i + 1);
const gbx = gbxFile({ classId: 0x03043000, inline: [0x0304f000, 0x07006000, 0x0900d000], filler: 1500 });
const withUserData = gbxFile({ classId: 0x0301a000, userData: noise(50), filler: 30 });
const files = (): NadeoPackFile[] => [
  packFile('Root.txt', 'hello'),
  packFile('Empty.txt', ''),
  packFile('Media/Big.txt', 'lorem ipsum '.repeat(3000)),
  packFile('Media/Synthetic/Deep/Noise.bin', noise(5000)),
  packFile('Media/Synthetic/Deep/Hidden/Secret.dds', noise(1000), { hashedBelow: 'Media/Synthetic/Deep' }),
  packFile('Media/Public.dds', noise(777), { isPublic: true, classId: 0x09024000 }),
  packFile('Media/Some.Challenge.Gbx', gbx),
  packFile('Media/Other.ObjectInfo.Gbx', withUserData),
];

async function expectWhole(bytes: Uint8Array, keys: Uint8Array[]) {
  const pak = await openNadeoPak(bytesSource(bytes), { keys });
  expect(pak.notes).toEqual([]);
  expect(await pak.verifyDirectory()).toBeUndefined();
  expect(pak.entries).toHaveLength(files().length);
  for (const file of files()) {
    const entry = pak.find(file.name)!;
    expect([file.name, digestOf(await collect(pak.read(entry)))]).toEqual([
      file.name,
      digestOf(await collect(file.open())),
    ]);
    expect([file.name, await pak.verify(entry)]).toEqual([file.name, undefined]);
  }
  return pak;
}

describe('packing', () => {
  test.each(versions)('version %i: what was packed is read back, and again the same bytes', async (version) => {
    const bytes = await packBytes(files(), { version, key: baseKey });
    const pak = await expectWhole(bytes, [baseKey]);
    expect(pak.facts).toMatchObject({ encryptedFiles: files().length - 1, headerMd5Right: true });
    expect(toHex(md5(await packBytes(files().reverse(), { version, key: baseKey })))).toBe(toHex(md5(bytes)));
    await expectWhole(await packBytes(files(), { version, key: baseKey, compress: false }), [baseKey]);
  });

  test.each(versions.filter((version) => version >= 6))(
    'version %i without a key: nothing is encrypted',
    async (version) => {
      const pak = await expectWhole(await packBytes(files(), { version }), []);
      expect(pak.facts).toMatchObject({ encryptedFiles: 0, headerEncryption: 'none' });
      expect(await pak.metadata()).toEqual([]);
    },
  );

  test('version 3 is laid out as the game has it', async () => {
    const bytes = await packBytes(files(), { version: 3, key: baseKey });
    const pak = await openNadeoPak(bytesSource(bytes), { keys: [baseKey] });
    const { dataOffset, metadataOffset, metadataStoredSize, plainSize, files: records } = pak.header.privatePart!;
    expect(dataOffset).toBe(20 + Math.ceil(plainSize / 8) * 8);
    // The game reads metadata by 256 bytes: the padding is encrypted, and not counted in the header.
    expect((bytes.length - metadataOffset - 8) % 0x100).toBe(0);
    expect(metadataStoredSize).toBeLessThanOrEqual(bytes.length - metadataOffset - 8);
    const last = records.at(-1)!;
    expect(dataOffset + last.offset + 8 + Math.ceil(last.compressedSize / 8) * 8).toBe(metadataOffset);
    expect(pak.header.privatePart!.folders.map(({ name }) => name)).toEqual(['Media\\', 'Synthetic\\', 'Deep\\']);
  });

  test('feedback is really there: without it the files break', async () => {
    for (const version of [3, 12]) {
      const bytes = await packBytes(files(), { version, key: baseKey });
      const pak = await openNadeoPak(bytesSource(bytes), { keys: [baseKey] });
      const entry = pak.find('Media/Some.Challenge.Gbx')!;
      expect(await pak.status(entry)).toBe('exact by checksum');
      await expect(collect(pak.readWithMixes(entry, []))).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    }
  });

  test('the metadata has the header of a GBX with user data, or what is given', async () => {
    const given = gbxFile({ classId: 0x03043000 }).slice(0, 21);
    const more = [...files(), packFile('Z.txt', 'z', { metadata: given })];
    const bytes = await packBytes(more, { version: 3, key: baseKey });
    const pak = await openNadeoPak(bytesSource(bytes), { keys: [baseKey] });
    expect(await pak.metadata()).toEqual([
      { fileIndex: pak.find('Media/Other.ObjectInfo.Gbx')!.index, gbx: withUserData.slice(0, 13 + 4 + 50 + 4) },
      { fileIndex: pak.find('Z.txt')!.index, gbx: given },
    ]);
  });

  test('classes by ending and by content', async () => {
    const bytes = await packBytes(files(), { version: 3, key: baseKey });
    const pak = await openNadeoPak(bytesSource(bytes), { keys: [baseKey] });
    const classOf = (name: string) => pak.find(name)!.classId.toString(16);
    expect(classOf('Root.txt')).toBe('9041000');
    expect(classOf('Media/Synthetic/Deep/Noise.bin')).toBe('9020000');
    expect(classOf('Media/Some.Challenge.Gbx')).toBe('3043000');
    expect(classOf('Media/Public.dds')).toBe('9024000');
  });

  test('version 18 carries what its game checks', async () => {
    const bytes = await packBytes(files(), { version: 18, key: baseKey });
    const pak = await openNadeoPak(bytesSource(bytes), { keys: [baseKey] });
    expect(toHex(bytes.slice(12, 44))).toBe(toHex(sha256(bytes.slice(44))));
    const header = pak.header.privatePart!;
    expect(header.dataOffset).toBe(0x4000);
    for (const { offset, slotSize, checksum } of header.files) {
      expect(offset % 64).toBe(0);
      expect(slotSize! % 64).toBe(0);
      expect(toHex(md5(bytes.slice(0x4000 + offset, 0x4000 + offset + slotSize!)))).toBe(toHex(checksum!));
    }
    const slotOf = header.files[pak.find('Media/Big.txt')!.index]!;
    bytes[0x4000 + slotOf.offset + slotOf.slotSize! - 1]! ^= 1;
    const broken = await openNadeoPak(bytesSource(bytes));
    expect((await broken.verify(broken.find('Media/Big.txt')!))?.code).toBe('E_INTEGRITY');
    // Checked without a key, because the hash is over the stored bytes.
    expect(await broken.verify(broken.find('Root.txt')!)).toBeUndefined();
  });

  test.each([3, 8])('version %i: a header that is made in pieces tells of each file', async (version) => {
    const names = Array.from({ length: 3000 }, (_, i) => `Folder${i % 7}/Some.File.With.A.Name${i}.txt`);
    const bytes = await packBytes(
      names.map((name) => packFile(name, name)),
      { version, key: baseKey },
    );
    const pak = await openNadeoPak(bytesSource(bytes), { keys: [baseKey] });
    expect(await pak.verifyDirectory()).toBeUndefined();
    expect(pak.entries.map(({ name }) => name)).toEqual(names.toSorted());
    const last = pak.find(names.at(-1)!)!;
    expect(Buffer.from(await collect(pak.read(last))).toString()).toBe(names.at(-1));
  });

  test('more files than memory should hold are read once, and nothing of them is left on disk', async () => {
    let opened = 0;
    const big = noise(3 << 20);
    const many = Array.from({ length: 24 }, (_, i) => ({
      ...packFile(`File${i}.bin`, big),
      async *open() {
        opened++;
        yield big;
      },
    }));
    const temporary = scratch('meanwhile');
    let left: string[] = [];
    const sink = memorySink();
    const seeing: PackSink = {
      write(bytes) {
        left = readdirSync(temporary);
        return sink.write(bytes);
      },
    };
    await writeNadeoPak(many, seeing, { version: 8, compress: false, temporary });
    expect(opened).toBe(many.length);
    // So much lay there: what is stored of the files.
    expect(left).toEqual([expect.stringMatching(/^\.pakrat-.*\.tmp$/)]);
    expect(readdirSync(temporary)).toEqual([]);
    const bytes = sink.bytes();
    const pak = await openNadeoPak(bytesSource(bytes));
    expect(await pak.verifyDirectory()).toBeUndefined();
  });
});

describeConformance('packing the files of a synthetic pack', () => {
  test('gives a pack with the same files, classes and metadata', async () => {
    const source = await openNadeoPak(bytesSource(conformanceBytes('pak', 'nadeo', 'Synth.pak')), { keys: [baseKey] });
    const readable = source.entries.filter(({ storedPath }) => !storedPath.endsWith('Multi.bin'));
    const metadata = new Map((await source.metadata()).map(({ fileIndex, gbx: header }) => [fileIndex, header]));
    const inputs: NadeoPackFile[] = [];
    for (const entry of readable) {
      const content = await collect(source.read(entry));
      inputs.push(packFile(entry.name, content, { classId: entry.classId, metadata: metadata.get(entry.index) }));
    }
    for (const version of [3, 8, 17]) {
      const bytes = await packBytes(inputs, { version, key: baseKey });
      const pak = await openNadeoPak(bytesSource(bytes), { keys: [baseKey] });
      expect(await pak.verifyDirectory()).toBeUndefined();
      for (const input of inputs) {
        const entry = pak.find(input.name)!;
        expect(digestOf(await collect(pak.read(entry)))).toBe(digestOf(await collect(input.open())));
        expect(entry.classId).toBe(input.classId);
      }
      expect((await pak.metadata()).map(({ gbx: header }) => toHex(md5(header))).sort()).toEqual(
        [...metadata.values()].map((header) => toHex(md5(header))).sort(),
      );
    }
  });
});

describe('what cannot be packed', () => {
  const sink = { write: async () => {} };

  test.each([
    ['a version that is not', { version: 19, key: baseKey }],
    ['a version that is no number', { version: Number.NaN, key: baseKey }],
    ['version 3 without a key', { version: 3 }],
    ['a key of another length', { version: 3, key: fromHex('0011') }],
  ])('%s', async (_, options) => {
    await expect(writeNadeoPak(files(), sink, options)).rejects.toMatchObject({ code: 'E_USAGE' });
  });

  test('names that are the same but for case, or step out', async () => {
    for (const names of [['a.txt', 'A.TXT'], ['../a'], ['/a'], ['a\\b'], ['']]) {
      const inputs = names.map((name) => packFile(name, 'x'));
      await expect(writeNadeoPak(inputs, sink, { version: 8 })).rejects.toMatchObject({ code: 'E_USAGE' });
    }
  });

  test('a name hashed below a folder in which it is not', async () => {
    const inputs = [packFile('a/b.txt', 'x', { hashedBelow: 'c' })];
    await expect(writeNadeoPak(inputs, sink, { version: 8 })).rejects.toMatchObject({ code: 'E_USAGE' });
  });

  test('a file that is not as long as promised', async () => {
    const inputs = [{ ...packFile('a.txt', 'hello'), size: 4 }];
    await expect(writeNadeoPak(inputs, sink, { version: 8 })).rejects.toMatchObject({ code: 'E_INTEGRITY' });
  });
});
