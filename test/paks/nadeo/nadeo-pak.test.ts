import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { fromHex, toHex } from '../../../src/core/bytes.ts';
import { md5, sha256 } from '../../../src/core/hash.ts';
import { packlistKeys } from '../../../src/paks/nadeo/keys/keys.ts';
import { decodePacklist } from '../../../src/paks/nadeo/keys/packlist.ts';
import type { NadeoPak } from '../../../src/paks/nadeo/nadeo-pak.ts';
import { openNadeoPak } from '../../../src/paks/nadeo/open.ts';
import type { NadeoOptions } from '../../../src/paks/nadeo/options.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { baseKey, collect, countingSource, noise, packBytes, packFile } from './synthetic.ts';

interface ExpectedFile {
  size: number;
  compressedSize: number;
  flags: string;
  classId: string;
  sha256: string;
  realName?: string;
  feedbackEvents?: { uncompressedOffset: number; bytes: string }[];
}

interface ExpectedPack {
  version: number;
  dataStart: number;
  metadataStart: number;
  headerMD5: string;
  metadata: { uncompressed: number; entries: { fileIndex: number; length: number; sha256: string }[] };
  baseKey: string;
  blowfishKey: string;
  files: Record<string, ExpectedFile>;
}

const fileBytes = (...parts: string[]) => conformanceBytes('pak', 'nadeo', ...parts);
const dictionary = () => fileBytes('tables', 'nadeo-lz4-dictionary.bin');

function expectedOf(name: string): ExpectedPack {
  return JSON.parse(new TextDecoder().decode(fileBytes('expected.json')))[name];
}

function filesOf(expected: ExpectedPack): [path: string, file: ExpectedFile][] {
  return Object.entries(expected.files).filter(([path]) => !path.startsWith('__'));
}

function openFixture(name: string, options: NadeoOptions = {}): Promise<NadeoPak> {
  return openNadeoPak(bytesSource(fileBytes(name), name), { lz4Dictionary: dictionary(), ...options });
}

const packs = [
  'Synth.pak',
  'Synth_v8_plainheader.Pack.Gbx',
  'Synth_v12_default.Pack.Gbx',
  'Synth_v18_default.Pack.Gbx',
];
/** Its mixes are not those of a GBX: nobody could know them. */
const rawStream = 'Multi.bin';

describeConformance('packs', () => {
  describe.each(packs)('%s', (name) => {
    const keys = () => [fromHex(expectedOf(name).baseKey)];

    test('header and directory', async () => {
      const expected = expectedOf(name);
      const pak = await openFixture(name, { keys: keys() });
      expect(pak.version).toBe(String(expected.version));
      expect(pak.facts).toMatchObject({
        headerMd5: expected.headerMD5,
        headerMd5Right: true,
        dataOffset: expected.dataStart,
        metadataOffset: expected.metadataStart,
        metadataSize: expected.metadata.uncompressed,
        files: filesOf(expected).length,
      });
      expect(pak.notes).toEqual([]);
      const rows = pak.entries.map(({ storedPath, size, flags, classId }) => ({ storedPath, size, flags, classId }));
      expect(rows).toEqual(
        filesOf(expected).map(([storedPath, { size, flags, classId }]) => ({
          storedPath,
          size,
          flags,
          classId: Number(classId),
        })),
      );
      expect(await pak.verifyDirectory()).toBeUndefined();
    });

    test('every file, those that break without feedback included', async () => {
      const expected = expectedOf(name);
      const pak = await openFixture(name, { keys: keys() });
      let followed = 0;
      for (const [path, file] of filesOf(expected)) {
        if (path.endsWith(rawStream)) continue;
        const entry = pak.find(path)!;
        expect([path, toHex(sha256(await collect(pak.read(entry))))]).toEqual([path, file.sha256]);
        expect(await pak.verify(entry)).toBeUndefined();
        const status = await pak.status(entry);
        if (file.feedbackEvents === undefined) expect([path, status]).toEqual([path, 'exact']);
        else expect([path, status]).not.toEqual([path, 'exact']);
        if (file.feedbackEvents !== undefined && entry.method === 'zlib') expect(status).toBe('exact by checksum');
        if (file.feedbackEvents !== undefined) followed++;
      }
      expect(followed).toBe(3);
    });

    test('a stream with mixes that is no GBX is refused, and given raw', async () => {
      const expected = expectedOf(name);
      const pak = await openFixture(name, { keys: keys() });
      const paths = filesOf(expected).filter(([path]) => path.endsWith(rawStream));
      expect(paths).toHaveLength(1);
      for (const [path] of paths) {
        const entry = pak.find(path)!;
        const message = entry.method === 'none' ? 'MD5 of the content' : 'only the game knows';
        const refused = { code: 'E_INTEGRITY', message: expect.stringContaining(message) };
        await expect(collect(pak.read(entry))).rejects.toMatchObject(refused);
        await expect(pak.status(entry)).rejects.toMatchObject(refused);
        expect(await pak.verify(entry)).toMatchObject(refused);
        expect(await collect(pak.readRaw(entry))).toHaveLength(entry.storedSize);
      }
    });

    test('files whose mixes are given, a stream that is no GBX included', async () => {
      const expected = expectedOf(name);
      const pak = await openFixture(name, { keys: keys() });
      for (const [path, file] of filesOf(expected)) {
        if (file.feedbackEvents === undefined) continue;
        const mixes = file.feedbackEvents.map(({ uncompressedOffset: offset, bytes }) => ({
          offset,
          bytes: fromHex(bytes),
        }));
        const bytes = await collect(pak.readWithMixes(pak.find(path)!, mixes));
        expect([path, toHex(sha256(bytes))]).toEqual([path, file.sha256]);
      }
    });

    test('a stream that cannot be followed is an error, not wrong bytes', async () => {
      const pak = await openFixture(name, { keys: keys() });
      const entry = pak.entries.find(({ storedPath }) => storedPath.endsWith(rawStream))!;
      await expect(collect(pak.read(entry))).rejects.toMatchObject({
        code: expect.stringMatching(/^E_(FORMAT|INTEGRITY)/),
      });
      expect(await pak.verify(entry)).toMatchObject({ code: expect.stringMatching(/^E_(FORMAT|INTEGRITY)/) });
    });

    test('metadata', async () => {
      const expected = expectedOf(name);
      const pak = await openFixture(name, { keys: keys() });
      const found = (await pak.metadata()).map(({ fileIndex, gbx }) => ({
        fileIndex,
        length: gbx.length,
        sha256: toHex(sha256(gbx)),
      }));
      expect(found).toEqual(expected.metadata.entries);
    });

    test('the final key does as well as the base key, and a wrong one before them does no harm', async () => {
      const wrong = new Uint8Array(16).fill(5);
      const pak = await openFixture(name, { keys: [wrong, fromHex(expectedOf(name).blowfishKey)] });
      expect(pak.facts.key).toBe('final key');
      expect(await pak.verify(pak.find('Scripts/Lorem.txt')!)).toBeUndefined();
    });

    test('stored bytes are there without a key, as far as the directory is', async () => {
      const expected = expectedOf(name);
      const withKey = await openFixture(name, { keys: keys() });
      const entry = withKey.find('Scripts/Lorem.txt')!;
      const raw = await collect(withKey.readRaw(entry));
      expect(raw.length).toBe(entry.storedSize);
      expect(entry.storedSize).toBe(8 + Math.ceil(expected.files['Scripts\\Lorem.txt']!.compressedSize / 8) * 8);
      if (expected.version < 6) return;
      const without = await openFixture(name);
      expect(toHex(md5(await collect(without.readRaw(without.find('Scripts/Lorem.txt')!))))).toBe(toHex(md5(raw)));
    });

    test('names: case, slashes and hashes', async () => {
      const pak = await openFixture(name, { keys: keys() });
      const hashed = pak.find('media/texture/hidden/secret.texture.gbx')!;
      expect(hashed).toMatchObject({ isHashed: true, name: 'Media/Texture/91925932D5E72BD251DB79BAA997579800' });
      expect(pak.find('SCRIPTS\\README.TXT')?.storedPath).toBe('Scripts\\Readme.txt');
      expect(pak.find('Scripts/nothing')).toBeUndefined();
      const named = await openFixture(name, { keys: keys(), hashedNames: ['Any\\Folder\\Hidden\\Secret.Texture.Gbx'] });
      expect(named.entries[hashed.index]!.name).toBe('Media/Texture/Hidden/Secret.Texture.Gbx');
      expect(named.find('Media/Texture/Hidden/Secret.Texture.Gbx')?.index).toBe(hashed.index);
    });
  });

  test('version 3 with a key of packlist.dat, by the name of the pack', async () => {
    const namedKeys = packlistKeys(decodePacklist(fileBytes('packlist.dat')));
    const pak = await openFixture('Synth.pak', { namedKeys });
    expect(pak.facts.key).toBe('base key of Synth');
    const renamed = await openFixture('Synth.pak', { namedKeys, packName: 'elsewhere' });
    expect(renamed.entries).toHaveLength(42);
  });

  test('version 3 without its key: what it is can be told, its files cannot', async () => {
    for (const keys of [[], [new Uint8Array(16)], [new Uint8Array(7)]]) {
      const pak = await openFixture('Synth.pak', { keys });
      expect(pak.facts).toMatchObject({ headerEncryption: 'pack key' });
      expect(pak.locked).toMatchObject({ code: 'E_KEY_MISSING' });
      expect(() => pak.entries).toThrow(expect.objectContaining({ code: 'E_KEY_MISSING' }));
      expect(() => pak.find('Root.txt')).toThrow(expect.objectContaining({ code: 'E_KEY_MISSING' }));
      await expect(pak.verifyDirectory()).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
    }
  });

  test('from version 6 on without a key: all but encrypted files', async () => {
    const pak = await openFixture('Synth_v12_default.Pack.Gbx');
    expect(pak.facts).toMatchObject({
      headerEncryption: 'default header key',
      title: 'Synth@nobody',
      author: { login: 'synth.login', nick: '$f00Synth', zone: 'World|Nowhere' },
      created: '2020-01-01T00:00:00.000Z',
      manialink: 'maniaplanet:///:synth',
      xml: '<pack><title>Synth</title></pack>',
      includedPacks: [{ name: 'Included.pak', secondName: 'Included\\Included.pak', depth: 1 }],
    });
    expect(pak.entries).toHaveLength(42);
    expect(pak.notes).toEqual(['files are encrypted, and no key is given']);
    expect(await pak.verify(pak.find('Media/Texture/Public.dds')!)).toBeUndefined();
    expect(await pak.verify(pak.find('Media/Texture/NoCrypt.txt')!)).toBeUndefined();
    const locked = (message: string) => ({ code: 'E_KEY_MISSING', message: expect.stringContaining(message) });
    await expect(collect(pak.read(pak.find('Root.txt')!))).rejects.toMatchObject(locked('no key is given'));
    expect(await pak.verify(pak.find('Root.txt')!)).toMatchObject({ code: 'E_KEY_MISSING' });
    await expect(pak.metadata()).rejects.toMatchObject({ code: expect.stringMatching(/^E_/) });
    const wrong = await openFixture('Synth_v12_default.Pack.Gbx', { keys: [new Uint8Array(16)] });
    expect(wrong.notes[0]).toMatch(/none of the 3 keys/);
    expect(await wrong.verify(wrong.find('Root.txt')!)).toMatchObject(locked('none of the 3 keys tried fits'));
  });

  test('version 18 without the dictionary: what does not need it is read', async () => {
    const keys = [fromHex('00112233445566778899AABBCCDDEEFF')];
    const pak = await openNadeoPak(bytesSource(fileBytes('Synth_v18_default.Pack.Gbx')), { keys });
    expect(await pak.verify(pak.find('Scripts/Lorem.txt')!)).toBeUndefined();
  });

  test('opening and listing reads the directory, reading a file that file', async () => {
    const name = 'Synth.pak';
    const source = countingSource(fileBytes(name), name);
    const pak = await openNadeoPak(source, { keys: [fromHex(expectedOf(name).blowfishKey)] });
    expect(pak.entries).toHaveLength(42);
    // Once per candidate: the key as a base key fails, as a final key it fits.
    expect(source.readBytes).toBeLessThan(3 * expectedOf(name).dataStart);
    const before = source.readBytes;
    const entry = pak.find('Scripts/Lorem.txt')!;
    await collect(pak.read(entry));
    expect(source.readBytes - before).toBe(entry.storedSize);
  });

  test('a damaged header: refused, or read as it is when asked', async () => {
    const bytes = fileBytes('Synth.pak');
    bytes[20 + 2400]! ^= 1;
    const options = { keys: [fromHex('00112233445566778899AABBCCDDEEFF')] };
    await expect(openNadeoPak(bytesSource(bytes), options)).rejects.toMatchObject({ code: 'E_FORMAT_CHECKSUM' });
    const pak = await openNadeoPak(bytesSource(bytes), { ...options, ignoreHashes: true });
    expect(pak.notes).toEqual(['the MD5 of the header does not match']);
    expect(await pak.verifyDirectory()).toMatchObject({ code: 'E_INTEGRITY' });
  });

  test('a changed byte anywhere behind the header shows in the hash of the contents', async () => {
    const bytes = fileBytes('Synth_v8_plainheader.Pack.Gbx');
    bytes[bytes.length - 3]! ^= 1;
    const pak = await openNadeoPak(bytesSource(bytes));
    expect(await pak.verifyDirectory()).toMatchObject({
      code: 'E_INTEGRITY',
      message: expect.stringContaining('SHA-256'),
    });
  });
});

describe('what is no NadeoPak', () => {
  test('with a wrong magic, only what can be read is a pack', async () => {
    const pack = await packBytes([packFile('a.txt', 'hello')], { version: 3, key: baseKey });
    pack[0] = 0x58;
    const open = (options: NadeoOptions) => openNadeoPak(bytesSource(pack), options);
    await expect(open({ keys: [baseKey] })).rejects.toMatchObject({ code: 'E_FORMAT_MAGIC' });
    expect((await open({ keys: [baseKey], ignoreMagic: true })).entries).toHaveLength(1);
    await expect(open({ ignoreMagic: true })).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
  });

  test.each([
    ['', 'E_FORMAT_MAGIC'],
    ['NadeoPak', 'E_FORMAT_TRUNCATED'],
    ['PACK\0\0\0\0\0\0\0\0', 'E_FORMAT_MAGIC'],
    ['NadeoPak\u0013\0\0\0', 'E_FORMAT_VERSION'],
    ['NadeoPak\0\0\0\0', 'E_FORMAT_VERSION'],
    ['NadeoPak\u0003\0\0\0\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0008', 'E_FORMAT_TRUNCATED'],
    ['NadeoPak\u0008\0\0\0', 'E_FORMAT_TRUNCATED'],
  ])('%j is refused with %s', async (text, code) => {
    const bytes = new TextEncoder().encode(text);
    const hint = code === 'E_FORMAT_VERSION' ? expect.stringContaining('--force-version') : undefined;
    const refused = { code, ...(hint && { hint }) };
    await expect(openNadeoPak(bytesSource(bytes), { keys: [new Uint8Array(16)] })).rejects.toMatchObject(refused);
  });
});

describe('what is damaged is not handed out', () => {
  const files = () => [
    packFile('Public.dds', noise(3000), { isPublic: true }),
    packFile('Script.txt', 'a text that is long enough to be compressed; '.repeat(50)),
    packFile('Plain.bin', noise(3000, 8)),
  ];
  /** The pack with zeros in place of what is stored of a file. */
  async function withHole(bytes: Uint8Array, name: string): Promise<Uint8Array> {
    const pak = await openNadeoPak(bytesSource(bytes), { keys: [baseKey] });
    const { dataOffset, files: records } = pak.header.privatePart!;
    const { index, storedSize } = pak.find(name)!;
    const start = dataOffset + records[index]!.offset;
    return bytes.slice().fill(0, start, start + storedSize);
  }

  const names = ['Public.dds', 'Script.txt', 'Plain.bin'];
  const cases = [6, 8, 12, 13, 14, 16, 17, 18].flatMap((version) =>
    names.flatMap((name) => [true, false].map((compress) => [version, name, compress] as const)),
  );

  test.each(cases)('version %i, %s, compressed: %s', async (version, name, compress) => {
    const bytes = await withHole(await packBytes(files(), { version, key: baseKey, compress }), name);
    const pak = await openNadeoPak(bytesSource(bytes), { keys: [baseKey] });
    const entry = pak.find(name)!;
    const refused = { code: expect.stringMatching(/^E_(INTEGRITY|FORMAT)/) };
    await expect(collect(pak.read(entry))).rejects.toMatchObject(refused);
    expect(await pak.hasProof(entry)).toBe(true);
    expect((await pak.verify(entry)) ?? (await pak.verifyDirectory())).toMatchObject(refused);
    // What has a checksum of its own is read all the same.
    const others = version >= 14 ? names.filter((other) => other !== name) : [];
    for (const other of others) expect((await collect(pak.read(pak.find(other)!))).length).toBe(pak.find(other)!.size);
    const trusting = await openNadeoPak(bytesSource(bytes), { keys: [baseKey], ignoreHashes: true });
    if (!compress) expect((await collect(trusting.read(entry))).length).toBe(entry.size);
  });

  test('before version 6 nothing is hashed, and plain files have no proof', async () => {
    const pak = await openNadeoPak(
      bytesSource(await packBytes(files(), { version: 3, key: baseKey, compress: false })),
      {
        keys: [baseKey],
      },
    );
    const proofs = await Promise.all(
      ['Public.dds', 'Script.txt', 'Plain.bin'].map((name) => pak.hasProof(pak.find(name)!)),
    );
    expect(proofs).toEqual([false, false, false]);
  });
});

test('a key that nothing in the pack proves is used, and the file said to be unsure', async () => {
  const pack = { version: 12, key: baseKey, compress: false };
  const bytes = await packBytes([packFile('Plain.bin', noise(3000)), packFile('Empty.bin', '')], pack);
  const statusWith = async (key: Uint8Array) => {
    const pak = await openNadeoPak(bytesSource(bytes), { keys: [key] });
    const entry = pak.find('Plain.bin')!;
    return [entry.mayBeUnsure, await pak.status(entry)];
  };
  expect(await statusWith(baseKey)).toEqual([false, 'exact']);
  expect(await statusWith(new Uint8Array(16))).toEqual([true, 'key unverified']);
});
