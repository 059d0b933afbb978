import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { concatBytes, fromHex } from '../../../../src/core/bytes.ts';
import { sha256 } from '../../../../src/core/hash.ts';
import { directoryFeedback, type FileRecord, folderPaths } from '../../../../src/paks/nadeo/directory/directory.ts';
import { CipherStream, packCipherKey } from '../../../../src/paks/nadeo/entries/cipher-stream.ts';
import {
  decodePrivateHeader,
  encodePrivateHeader,
  headerMd5Matches,
} from '../../../../src/paks/nadeo/header/private-header.ts';
import {
  decodePublicHeader,
  emptyPublicHeader,
  encodePublicHeader,
  type PublicHeader,
} from '../../../../src/paks/nadeo/header/public-header.ts';
import { headerKey, keyFromBase, keyFromMasterServer } from '../../../../src/paks/nadeo/keys/keys.ts';
import { openNadeoPak } from '../../../../src/paks/nadeo/open.ts';
import { expectHostileSafe } from '../../../support/hostile.ts';
import { baseKey, collect, packBytes, packFile } from '../synthetic.ts';

const versions = Array.from({ length: 18 }, (_, i) => i + 1);
const author = { version: 1, login: 'log', nick: 'nick é', zone: 'World', extra: 'x' };

function publicHeader(version: number): PublicHeader {
  const has = (from: number, to = 18) => version >= from && version <= to;
  return {
    ...emptyPublicHeader(version),
    contentsChecksum: sha256(new Uint8Array(0)),
    headerFlags: 12,
    headerSize: has(15) ? 0x4000 : 0,
    author: has(7) ? author : undefined,
    comment: has(7) ? 'comment' : '',
    manialink: has(9) ? 'link' : '',
    downloadUrl: has(13) ? 'url' : '',
    authorUrl: has(8, 8) ? 'author url' : '',
    time: has(9) ? 132223104000000000n : 0n,
    xml: has(12) ? '<x/>' : '',
    titleId: has(12) ? 'T@a' : '',
    usageFolder: has(9) ? 'Titles' : '',
    buildInfo: has(8) ? 'build' : '',
    unused: has(7) ? new Uint8Array(16).fill(3) : new Uint8Array(16),
    includedPacks: has(10)
      ? [
          {
            contentsChecksum: new Uint8Array(32).fill(9),
            name: 'inc',
            author,
            manialink: 'l',
            time: 5n,
            secondName: 's',
            depth: has(11) ? 2 : 0,
          },
        ]
      : [],
  };
}

function privateFields(version: number) {
  const file: FileRecord = {
    folder: 2,
    name: 'Sub\\é.txt',
    unknown: 0xffffffff,
    size: 0xfffffff0,
    compressedSize: 7,
    offset: 0x80000001,
    classId: 0x09041000,
    slotSize: version >= 17 ? 64 : undefined,
    checksum: version >= 14 ? new Uint8Array(16).fill(4) : undefined,
    flags: 0x4000000000004n,
  };
  return {
    metadataOffset: 0x90000000,
    dataOffset: 0x4000,
    metadataSize: version >= 2 ? 10 : 0,
    metadataStoredSize: version >= 2 ? 20 : 0,
    metadataMd5: version >= 14 ? new Uint8Array(16).fill(1) : undefined,
    fileSize: version >= 16 ? 12345 : undefined,
    unused: version >= 3 ? new Uint8Array(16).fill(2) : new Uint8Array(16),
    author: version === 6 ? author : undefined,
    flags: 77,
    folders: [
      { parent: -1, name: 'A\\' },
      { parent: 0, name: 'B\\' },
      { parent: 1, name: 'Cdefg\\' },
    ],
    files: [file],
  };
}

describe('headers', () => {
  test.each(versions.filter((version) => version >= 6))(
    'version %i: the public part comes back, field by field',
    (version) => {
      const header = publicHeader(version);
      const bytes = encodePublicHeader(header);
      expect(decodePublicHeader(concatBytes([bytes, new Uint8Array(5)]), version)).toEqual({
        header,
        end: bytes.length,
      });
      expectHostileSafe((input) => decodePublicHeader(input, version), bytes, { samples: 150 });
    },
  );

  test.each(versions)('version %i: the private part comes back, field by field', (version) => {
    const fields = privateFields(version);
    const options = { version, headerSize: 0x4000, dataOffset: 0x4000 };
    const encoded = encodePrivateHeader(fields, version, fromHex('0102'));
    const decode = (bytes: Uint8Array) => decodePrivateHeader(bytes, options);
    expect(decode(concatBytes([encoded, new Uint8Array(8)]))).toEqual({
      ...fields,
      md5: encoded.slice(0, 16),
      plainSize: encoded.length,
    });
    expect(headerMd5Matches(encoded, version >= 18 ? fromHex('0102') : undefined)).toBe(true);
    expectHostileSafe(decode, encoded, { samples: 150 });
  });

  test('counts that cannot fit are refused before anything is made for them', () => {
    const encoded = encodePrivateHeader(privateFields(3), 3);
    const folderCountAt = 16 + 16 + 16 + 4;
    const view = new DataView(encoded.buffer, encoded.byteOffset);
    expect(view.getUint32(folderCountAt, true)).toBe(3);
    view.setUint32(folderCountAt, 0x7fffffff, true);
    expect(() => decodePrivateHeader(encoded, { version: 3, headerSize: encoded.length })).toThrow(
      expect.objectContaining({ code: 'E_FORMAT_RANGE' }),
    );
  });
});

describe('folders', () => {
  test('paths, with the backslash that may be missing', () => {
    const folders = [
      { parent: 1, name: 'B' },
      { parent: -1, name: 'A\\' },
    ];
    expect(folderPaths(folders)).toEqual(['A\\B\\', 'A\\']);
  });

  test('folders inside themselves, too deep or too long are refused', () => {
    expect(() => folderPaths([{ parent: 0, name: 'A\\' }])).toThrow(expect.objectContaining({ code: 'E_FORMAT' }));
    const ring = [
      { parent: 1, name: 'A\\' },
      { parent: 0, name: 'B\\' },
    ];
    expect(() => folderPaths(ring)).toThrow(expect.objectContaining({ code: 'E_FORMAT' }));
    const chain = Array.from({ length: 2000 }, (_, i) => ({ parent: i - 1, name: 'x\\' }));
    expect(() => folderPaths(chain)).toThrow(expect.objectContaining({ code: 'E_FORMAT_RANGE' }));
  });

  test('what they mix: two letters of the third one, when it has more than four', () => {
    const folders = (name: string) => ['a\\', 'b\\', name].map((folder) => ({ parent: -1, name: folder }));
    expect(directoryFeedback(folders('Synthetic\\'))).toEqual(fromHex('6e007400'));
    expect(directoryFeedback(folders('Abc\\'))).toBeUndefined();
    expect(directoryFeedback(folders('Abcd\\'))).toEqual(fromHex('63006400'));
    expect(directoryFeedback(folders('Synthetic\\').slice(0, 2))).toBeUndefined();
  });
});

/** The same pack with its header encrypted, as the flags say; feedback of the folders included. */
function withEncryptedHeader(
  pack: Uint8Array,
  version: number,
  options: { flags: number; packKey: Uint8Array },
): Uint8Array {
  const { header, end } = decodePublicHeader(pack, version);
  const headerSize = 1 << 20;
  const isFixed = version >= 15;
  let foldersEnd = 0;
  const decoded = decodePrivateHeader(pack.subarray(end), {
    version,
    headerSize,
    dataOffset: header.headerSize,
    afterFolders: (_, offset) => {
      foldersEnd = offset;
    },
  });
  const size = Math.ceil(decoded.plainSize / 8) * 8;
  const dataOffset = isFixed ? header.headerSize : end + 8 + size;
  const moved = dataOffset - decoded.dataOffset;
  const changed = { ...decoded, dataOffset, metadataOffset: decoded.metadataOffset + moved };
  const fields = pack.slice(isFixed ? 52 : 48, end);
  const sealed = new Uint8Array(size);
  sealed.set(encodePrivateHeader(changed, version, fields));
  const iv = fromHex('a1a2a3a4a5a6a7a8');
  const stream = new CipherStream(packCipherKey(headerKey(options.flags, options.packKey)!, version), iv, version);
  const page = Math.min(Math.ceil(foldersEnd / 256) * 256, size);
  stream.encrypt(sealed.subarray(0, page));
  stream.mix(directoryFeedback(decoded.folders) ?? new Uint8Array(0));
  stream.encrypt(sealed.subarray(page));
  const start = encodePublicHeader({ ...header, headerFlags: options.flags });
  const result = new Uint8Array(dataOffset + pack.length - decoded.dataOffset);
  result.set(concatBytes([start, iv, sealed]));
  result.set(pack.subarray(decoded.dataOffset), dataOffset);
  result.set(sha256(result.subarray(44)), 12);
  return result;
}

describe('encrypted headers of version 6 and above', () => {
  const files = Array.from({ length: 40 }, (_, i) =>
    packFile(`Media/Synthetic/Deep${i % 3}/File number ${i}.txt`, `content ${i}`),
  );
  const cases = [6, 8, 11, 12, 15, 17, 18].flatMap((version) => [1, 2, 3].map((flags) => [version, flags] as const));

  test.each(cases)('version %i, header flags %i', async (version, flags) => {
    const plain = await packBytes(files, { version, key: baseKey, info: { author, titleId: 'T@a' } });
    const pack = withEncryptedHeader(plain, version, { flags, packKey: keyFromBase(baseKey) });
    const pak = await openNadeoPak(bytesSource(pack), { keys: [new Uint8Array(16), baseKey] });
    expect(pak.notes).toEqual([]);
    expect(await pak.verifyDirectory()).toBeUndefined();
    expect(pak.entries.map(({ name }) => name).sort()).toEqual(files.map(({ name }) => name).sort());
    for (const file of files.slice(0, 5)) {
      expect(await collect(pak.read(pak.find(file.name)!))).toEqual(await collect(file.open()));
    }
    const locked = await openNadeoPak(bytesSource(pack));
    if (version > 6) expect(locked.facts).toMatchObject({ author: { login: 'log' } });
    if (flags === 2) expect(locked.entries).toHaveLength(40);
    else expect(() => locked.entries).toThrow(expect.objectContaining({ code: 'E_KEY_MISSING' }));
  });

  test('a key of the master server fits one pack only', async () => {
    const masterKey = fromHex('59d87aefb33c595d00a864f27e591c54');
    const plain = await packBytes(files, { version: 12 });
    // The key depends on a hash over the pack, encrypted header included: so the hash is taken for what the header says.
    const checksum = fromHex('25fa258cc701591f13702eac817318d86ed3907404a2c5a84e663d2dce52c67d');
    const pack = withEncryptedHeader(plain, 12, { flags: 3, packKey: keyFromMasterServer(masterKey, checksum) });
    pack.set(checksum, 12);
    const pak = await openNadeoPak(bytesSource(pack), { keys: [masterKey] });
    expect(pak.facts.key).toBe('master-server key');
    expect(pak.entries).toHaveLength(40);
  });
});
