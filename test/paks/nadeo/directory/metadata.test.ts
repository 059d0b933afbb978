import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { concatBytes, fromHex } from '../../../../src/core/bytes.ts';
import { decodeMetadata, encodeMetadata } from '../../../../src/paks/nadeo/directory/metadata.ts';
import { packCipherKey } from '../../../../src/paks/nadeo/entries/cipher-stream.ts';
import { SealedRegion } from '../../../../src/paks/nadeo/entries/sealed-region.ts';
import { decodePrivateHeader, encodePrivateHeader } from '../../../../src/paks/nadeo/header/private-header.ts';
import { decodePublicHeader, encodePublicHeader } from '../../../../src/paks/nadeo/header/public-header.ts';
import { headerKey, keyFromBase } from '../../../../src/paks/nadeo/keys/keys.ts';
import { openNadeoPak } from '../../../../src/paks/nadeo/open.ts';
import { expectHostileSafe } from '../../../support/hostile.ts';
import { baseKey, gbxFile, lz4Stream, noise, packBytes, packFile } from '../synthetic.ts';

const dataless = gbxFile({ classId: 0x03043000, userData: noise(40) }).slice(0, 13 + 4 + 40 + 4);

describe('metadata', () => {
  const entries = [
    { fileIndex: 4, gbx: dataless },
    { fileIndex: 0, gbx: gbxFile({ classId: 0x0301a000 }).slice(0, 21) },
  ];

  test('there and back, ended by -1', () => {
    const bytes = encodeMetadata(entries);
    expect([...bytes.slice(-4)]).toEqual([255, 255, 255, 255]);
    expect(decodeMetadata(bytes, 5)).toEqual(entries);
    expectHostileSafe((input) => decodeMetadata(input, 5), bytes);
  });

  test('an index outside the files ends it, as for the game', () => {
    expect(decodeMetadata(encodeMetadata(entries), 4)).toEqual([]);
    expect(decodeMetadata(encodeMetadata([]), 0)).toEqual([]);
  });

  test('version 18 of the game: LZ4, encrypted with the key of the header', async () => {
    const plain = await packBytes([packFile('a.txt', 'hello')], { version: 18, key: baseKey });
    const { header, end } = decodePublicHeader(plain, 18);
    const options = { version: 18, headerSize: 0x4000, dataOffset: header.headerSize };
    const fields = decodePrivateHeader(plain.subarray(end), options);
    const key = headerKey(2, keyFromBase(baseKey))!;
    const content = encodeMetadata([{ fileIndex: 0, gbx: dataless }]);
    const sealed = (bytes: Uint8Array) => {
      const padded = new Uint8Array(Math.ceil(bytes.length / 8) * 8);
      padded.set(bytes);
      return new SealedRegion(padded, {
        key: packCipherKey(key, 18),
        iv: fromHex('0011223344556677'),
        version: 18,
      }).bytes();
    };
    const section = lz4Stream(content);
    const changed = {
      ...fields,
      metadataMd5: undefined,
      metadataSize: content.length,
      metadataStoredSize: section.length,
    };
    const start = encodePublicHeader({ ...header, headerFlags: 2 });
    const head = concatBytes([start, sealed(encodePrivateHeader(changed, 18, start.slice(52)))]);
    const pack = concatBytes([plain.slice(0, fields.metadataOffset), sealed(section)]);
    pack.set(head);
    const pak = await openNadeoPak(bytesSource(pack), { keys: [baseKey] });
    expect(await pak.metadata()).toEqual([{ fileIndex: 0, gbx: dataless }]);
  });

  test('a section that promises too much is refused', async () => {
    const plain = await packBytes([packFile('a.txt', 'hello')], { version: 8, key: baseKey });
    const { end } = decodePublicHeader(plain, 8);
    const metadataSizeAt = end + 16 + 8;
    for (const size of [0xffffffff, 0x10000, 3]) {
      const bytes = plain.slice();
      new DataView(bytes.buffer).setUint32(metadataSizeAt, size, true);
      const pak = await openNadeoPak(bytesSource(bytes), { keys: [baseKey] });
      await expect(pak.metadata()).rejects.toMatchObject({ code: expect.stringMatching(/^E_FORMAT/) });
    }
  });
});
