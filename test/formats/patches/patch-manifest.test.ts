import { describe, expect, test } from '@jest/globals';
import { fromHex, toHex } from '../../../src/core/bytes.ts';
import { md5, md5Hex } from '../../../src/core/hash.ts';
import {
  decodePatchManifest,
  encodePatchManifest,
  type PatchedFile,
  patchManifestKey,
} from '../../../src/formats/patches/patch-manifest.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeOf } from '../../support/thrown-code.ts';
import { makeSyntheticCdn } from '../roots/synthetic-cdn.ts';

const everything = (bytes: Uint8Array) => [...decodePatchManifest(bytes).files];

describeConformance('the manifest of StarCraft II 5.0.15.95841', () => {
  const name = '071290388e1f3b898157c372f03bc435';
  const real = () => conformanceBytes(`tact/cascette-rs/patch_archive/${name}.bin`);

  test('header, encoding file, 19 files with 51 patches; it is named by what stands before its block', () => {
    const manifest = decodePatchManifest(real());
    expect(manifest).toMatchObject({ version: 2, flags: 2, blockBits: 16, fileCount: 19, key: name });
    expect(manifest.keySizes).toEqual({ target: 16, source: 16, patch: 16 });
    const { ckey, ekey, ...encoding } = manifest.encoding!;
    expect(toHex(ckey)).toBe('0b62eb52ea8a486e391ebb75d34cf38f');
    expect(toHex(ekey)).toBe('721dd6bacd4a4c5f2dfb9555f9856336');
    expect(encoding).toEqual({
      size: 46_325_099,
      encodedSize: 46_172_884,
      espec: 'b:{22=n,182232=z,215936=n,27639808=n,141760=n,18145280=n,*=z}',
    });
    const files = [...manifest.files];
    expect(files.length).toBe(19);
    expect(files.reduce((sum, { patches }) => sum + patches.length, 0)).toBe(51);
    expect(patchManifestKey(real())).toBe(name);
  });

  test('the first file, its patch, and every file found by its ckey', () => {
    const manifest = decodePatchManifest(real());
    const [first] = manifest.files;
    expect(toHex(first!.targetCkey)).toBe('04e7bf3a3cf218d0d57914b125c21cab');
    expect(first!.targetSize).toBe(0x286fe);
    const [patch] = first!.patches;
    expect(toHex(patch!.sourceEkey)).toBe('52a73b2cc02ad8b4c26d0867a841f264');
    expect([patch!.sourceSize, toHex(patch!.patchEkey), patch!.patchSize, patch!.order]).toEqual([
      0x26560,
      'dbff687a7c5c00a0972167dace199c97',
      0x27f0,
      0,
    ]);
    for (const file of manifest.files) expect(manifest.find(file.targetCkey)).toEqual(file);
    expect(manifest.find(new Uint8Array(16))).toBeUndefined();
    expect(manifest.find(new Uint8Array(16).fill(0xff))).toBeUndefined();
  });

  test('it comes out of the encoder byte for byte', () => {
    const { fileCount, key, ...manifest } = decodePatchManifest(real());
    expect(md5Hex(encodePatchManifest(manifest))).toBe(md5Hex(real()));
  });

  test('zeros may follow the block, and do not change its name; nothing else may', () => {
    const padded = new Uint8Array(real().length + 4096);
    padded.set(real());
    expect(decodePatchManifest(padded)).toMatchObject({ key: name, fileCount: 19 });
    padded[padded.length - 1] = 1;
    expect(codeOf(() => decodePatchManifest(padded))).toBe('E_FORMAT');
  });

  test('a changed byte of the block is found, though the name does not cover it', () => {
    const changed = real();
    changed[200] = changed[200]! ^ 1;
    expect(codeOf(() => decodePatchManifest(changed))).toBe('E_FORMAT_CHECKSUM');
  });

  test('hostile forms of it', () => {
    expectHostileSafe(everything, real());
  });
});

describeConformance('a manifest of a generator that is not ours', () => {
  test('every patch of the truth, and the same bytes again', () => {
    const cdn = makeSyntheticCdn();
    const [key] = cdn.config('b').get('patch') as [string];
    const bytes = cdn.raw('patch', key);
    const truth = cdn.truth('patches');
    cdn.remove();
    const { fileCount, key: found, ...manifest } = decodePatchManifest(bytes);
    expect(found).toBe(key);
    expect(fileCount).toBe(truth.length);
    for (const row of truth) {
      expect(manifest.find(fromHex(row.target_ckey!))).toMatchObject({
        targetSize: Number(row.target_size),
        patches: [
          {
            sourceEkey: fromHex(row.source_ekey!),
            sourceSize: Number(row.source_size),
            patchEkey: fromHex(row.patch_ekey!),
            patchSize: Number(row.patch_size),
          },
        ],
      });
    }
    expect(truth.length).toBeGreaterThan(20);
    expect(md5Hex(encodePatchManifest(manifest))).toBe(md5Hex(bytes));
  });
});

const key = (text: string, size = 16) => new Uint8Array(md5(new TextEncoder().encode(text)).subarray(0, size));
const fileOf = (i: number, patches = 1 + (i % 3), size = 16): PatchedFile => ({
  targetCkey: key(`target${i}`, size),
  targetSize: 0x1_0000_0000 + i,
  patches: Array.from({ length: patches }, (_, order) => ({
    sourceEkey: key(`source${i}.${order}`, size),
    sourceSize: 0x2_0000_0000 + i,
    patchEkey: key(`patch${i}.${order}`, size),
    patchSize: 100 + i,
    order,
  })),
});

describe('round trip', () => {
  test('several blocks: all files come back sorted, none is over its size, each is found', () => {
    const files = Array.from({ length: 500 }, (_, i) => fileOf(i));
    const bytes = encodePatchManifest({ files, blockBits: 12 });
    const manifest = decodePatchManifest(bytes);
    expect(manifest.encoding).toBeUndefined();
    const byKey = (a: PatchedFile, b: PatchedFile) => (toHex(a.targetCkey) < toHex(b.targetCkey) ? -1 : 1);
    expect([...manifest.files]).toEqual([...files].sort(byKey));
    for (const file of files) expect(manifest.find(file.targetCkey)).toEqual(file);
    const blocks = (bytes[7]! << 8) | bytes[8]!;
    expect(blocks).toBeGreaterThanOrEqual(Math.ceil(bytes.length / 4200));
    expectHostileSafe(everything, bytes, { samples: 100 });
  });

  test.each([
    [63, 1],
    [64, 2],
  ])('%i entries of 64 bytes and the zero behind them take %i blocks of 4,096', (count, blocks) => {
    const files = Array.from({ length: count }, (_, i) => fileOf(i, 1));
    expect(encodePatchManifest({ files, blockBits: 12 })[8]).toBe(blocks);
  });

  test('keys of other sizes, 255 patches of a file, no files at all', () => {
    const keySizes = { target: 9, source: 9, patch: 9 };
    const files = [fileOf(1, 255, 9)];
    expect(everything(encodePatchManifest({ files, keySizes, version: 1 }))).toEqual(files);
    expect(everything(encodePatchManifest({ files: [] }))).toEqual([]);
  });

  test('what cannot be written is refused', () => {
    expect(codeOf(() => encodePatchManifest({ files: [fileOf(1, 0)] }))).toBe('E_FORMAT_RANGE');
    expect(codeOf(() => encodePatchManifest({ files: [fileOf(1, 256)] }))).toBe('E_FORMAT_RANGE');
    expect(codeOf(() => encodePatchManifest({ files: [fileOf(1, 1, 9)] }))).toBe('E_FORMAT_RANGE');
  });
});

test('what is wrong has its code', () => {
  const forge = (offset: number, value: number) => {
    const bytes = encodePatchManifest({ files: [fileOf(1), fileOf(2)] });
    bytes[offset] = value;
    return codeOf(() => decodePatchManifest(bytes));
  };
  expect(forge(0, 0)).toBe('E_FORMAT_MAGIC');
  expect(forge(2, 3)).toBe('E_FORMAT_VERSION');
  expect(forge(3, 17)).toBe('E_FORMAT_RANGE');
  expect(forge(6, 30)).toBe('E_FORMAT_RANGE');
  expect(forge(7, 1)).toBe('E_FORMAT_TRUNCATED');
  // The block's offset, pointed back into the header.
  expect(forge(10 + 35, 5)).toBe('E_FORMAT_RANGE');
});
