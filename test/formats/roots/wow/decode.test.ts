import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { toHex } from '../../../../src/core/bytes.ts';
import { md5Hex } from '../../../../src/core/hash.ts';
import { nameHash } from '../../../../src/core/jenkins.ts';
import { ContentFlags, localeFlag } from '../../../../src/formats/roots/locale.ts';
import {
  decodeWowRoot,
  eachNameHash,
  fillFileDataIds,
  headerlessWowRootFormat,
  rowBlock,
  rowCkey,
  rowNameHash,
  wowRootFormat,
} from '../../../../src/formats/roots/wow/decode.ts';
import { encodeWowRoot } from '../../../../src/formats/roots/wow/encode.ts';
import type { WowRoot, WowRootContent, WowRootForm, WowRootRow } from '../../../../src/formats/roots/wow/layout.ts';
import { conformanceBytes, describeConformance } from '../../../support/conformance.ts';
import { expectHostileSafe, randomSource } from '../../../support/hostile.ts';
import { codeOf } from '../../../support/thrown-code.ts';
import { makeSyntheticCdn, type SyntheticCdn } from '../synthetic-cdn.ts';

const isWowRoot = (bytes: Uint8Array): boolean =>
  wowRootFormat.matches(bytes) || headerlessWowRootFormat.matches(bytes);

/** Rows, found one by one by their numbers. */
function rowsByNumber(root: WowRoot): WowRootRow[] {
  const ids = fillFileDataIds(root);
  const hashes = new Map<number, Uint8Array>();
  eachNameHash(root, (row, first, last) => {
    const hash = new DataView(new ArrayBuffer(8));
    hash.setUint32(0, first);
    hash.setUint32(4, last);
    hashes.set(row, new Uint8Array(hash.buffer));
  });
  return Array.from(ids, (fileDataId, row) => {
    expect(hashes.get(row)).toEqual(rowNameHash(root, row));
    return { fileDataId, ckey: rowCkey(root, row), nameHash: hashes.get(row) };
  });
}

describeConformance('real WoW roots', () => {
  const classic = () => conformanceBytes('tact/cascette-rs/root/classic_era_v1_2blocks.root');
  const retail = () => conformanceBytes('tact/cascette-rs/root/retail_11.2.7_v2_3blocks.root');
  const shape = (root: WowRoot) => root.blocks.map((block) => [block.count, block.contentFlags, block.localeFlags]);

  test('Classic Era 1.13.7, without a header', () => {
    const root = decodeWowRoot(classic());
    expect(root.form).toBe('headerless');
    expect(root.total).toBeUndefined();
    expect(shape(root)).toEqual([
      [1487, 0x80, 0x173f6],
      [6, 0, 0x2],
    ]);
    expect(root.rowCount).toBe(1493);
    expect(fillFileDataIds(root)[0]).toBe(121595);
    expect(toHex(rowCkey(root, 0))).toBe('d17021350dc1882df6fc7cfc47ca890a');
    expect(toHex(rowNameHash(root, 0)!)).toBe('49b98c89386436ec');
  });

  test('retail 11.2.7: version 2, flags in three parts, no name hashes, cut behind its third block', () => {
    const root = decodeWowRoot(retail());
    expect(root.form).toBe('tsfm2');
    expect([root.total, root.named]).toEqual([2_974_106, 237_592]);
    expect(shape(root)).toEqual([
      [6750, 0x12080080, 0x1f3f6],
      [1190, 0x120c0080, 0x1f3f6],
      [2362, 0x12120080, 0x1f3f6],
    ]);
    expect(fillFileDataIds(root)[0]).toBe(121595);
    expect(toHex(rowCkey(root, 0))).toBe('d17021350dc1882df6fc7cfc47ca890a');
    expect(rowNameHash(root, 0)).toBeUndefined();
  });

  test('both come out of the encoder byte for byte, retail also with the split of flags that we choose', () => {
    for (const bytes of [classic(), retail()]) {
      const root = decodeWowRoot(bytes);
      expect(root.blocks.flatMap(({ rows }) => [...rows])).toEqual(rowsByNumber(root));
      expect(md5Hex(encodeWowRoot(root))).toBe(md5Hex(bytes));
    }
    const content = decodeWowRoot(retail());
    const blocks = content.blocks.map((block) => ({ ...block, contentParts: undefined }));
    expect(md5Hex(encodeWowRoot({ ...content, blocks }))).toBe(md5Hex(retail()));
  });

  test('they are told from other bytes', () => {
    expect([wowRootFormat.matches(classic()), headerlessWowRootFormat.matches(classic())]).toEqual([false, true]);
    expect([wowRootFormat.matches(retail()), headerlessWowRootFormat.matches(retail())]).toEqual([true, false]);
    expect(headerlessWowRootFormat.matches(classic().subarray(0, -1))).toBe(false);
    expect(isWowRoot(new Uint8Array(64))).toBe(false);
    expect(isWowRoot(conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.bin'))).toBe(false);
    expect(isWowRoot(new TextEncoder().encode('units/human.mdx|0123456789abcdef0123456789abcdef\n'))).toBe(false);
  });

  test('a header that is cut is not taken for an older, shorter one', () => {
    for (let size = 4; size < 24; size++) {
      expect(codeOf(() => decodeWowRoot(retail().subarray(0, size)))).toBe('E_FORMAT_TRUNCATED');
    }
  });

  test('hostile forms of them', () => {
    const everything = (bytes: Uint8Array) => fillFileDataIds(decodeWowRoot(bytes));
    // A cut behind a whole block is allowed, hence no prefix rule here.
    expectHostileSafe(everything, classic(), { prefixesFail: false, samples: 60 });
    expectHostileSafe(everything, retail(), { prefixesFail: false, samples: 60 });
    expectHostileSafe(headerlessWowRootFormat.matches, classic(), { prefixesFail: false, samples: 60 });
  });
});

describeConformance('roots of an encoder that is not ours', () => {
  describe.each(['headerless', 'tsfm0', 'tsfm1', 'tsfm2'] as const)('%s', (form) => {
    let cdn: SyntheticCdn;
    beforeAll(() => {
      cdn = makeSyntheticCdn('--root-format', form);
    });
    afterAll(() => cdn.remove());

    test.each(['a', 'b'] as const)('build %s: every row as the truth has it, and the same bytes again', (build) => {
      const bytes = cdn.object(cdn.summary[`build_${build}`].root![1]);
      expect(isWowRoot(bytes)).toBe(true);
      const root = decodeWowRoot(bytes);
      expect(root.form).toBe(form);
      const ids = fillFileDataIds(root);
      const found = Array.from(ids, (id, row) => {
        const block = rowBlock(root, row);
        const hash = rowNameHash(root, row);
        return [id, block.localeFlags, block.contentFlags, toHex(rowCkey(root, row)), hash && toHex(hash)].join(' ');
      });
      const wanted = cdn.truth(`build-${build}`).map((row) => {
        const flags = Number(row.cflags);
        const locale = row.locale!.length === 4 ? localeFlag(row.locale!) : 0x1f3f6;
        // The form without a header knows no nameless rows.
        const old = form === 'headerless';
        const content = old ? flags % ContentFlags.noNameHash : flags;
        const hash = old ? toHex(nameHash(row.name!)) : row.namehash === '-' ? undefined : row.namehash;
        return [row.fdid, locale, content, row.ckey, hash].join(' ');
      });
      expect(found.sort()).toEqual(wanted.sort());
      expect(wanted.length).toBeGreaterThan(300);
      expect(md5Hex(encodeWowRoot(root))).toBe(md5Hex(bytes));
    });
  });
});

const key = (seed: number) => Uint8Array.from({ length: 16 }, (_, i) => (seed * 31 + i * 7) & 0xff);

function sampleRoot(form: WowRootForm): WowRootContent {
  const row = (fileDataId: number) => ({ fileDataId, ckey: key(fileDataId), nameHash: nameHash(`file${fileDataId}`) });
  const nameless = (fileDataId: number) => ({ fileDataId, ckey: key(fileDataId) });
  return {
    form,
    blocks: [
      { contentFlags: ContentFlags.lowViolence, localeFlags: 0x1f3f6, rows: [row(0), row(1), row(2_000_000_000)] },
      { contentFlags: 0, localeFlags: 0x2, rows: [] },
      { contentFlags: 0x10080000, localeFlags: 0x2, rows: [nameless(7), nameless(4_294_967_295)] },
      { contentFlags: 0x88000004, localeFlags: 0x20, rows: [row(5)] },
    ],
  };
}

describe.each(['headerless', 'tsfm0', 'tsfm1', 'tsfm2'] as const)('%s round trip', (form) => {
  const bytes = encodeWowRoot(sampleRoot(form));
  const root = decodeWowRoot(bytes);

  test('ids, flags, keys and hashes come back', () => {
    expect(root.form).toBe(form);
    expect([...fillFileDataIds(root)]).toEqual([0, 1, 2_000_000_000, 7, 4_294_967_295, 5]);
    expect(rowBlock(root, 5).contentFlags).toBe(0x88000004);
    expect(rowBlock(root, 2).localeFlags).toBe(0x1f3f6);
    expect(rowBlock(root, 3).contentFlags).toBe(0x10080000);
    expect(rowCkey(root, 4)).toEqual(key(4_294_967_295));
    expect(rowNameHash(root, 1)).toEqual(nameHash('file1'));
    expect(rowNameHash(root, 3)).toEqual(form === 'headerless' ? new Uint8Array(8) : undefined);
    expect(md5Hex(encodeWowRoot(root))).toBe(md5Hex(bytes));
  });

  test('asking changes nothing, not even in a Buffer, whose slices share its memory', () => {
    const buffer = Buffer.from(bytes);
    const hash = rowNameHash(decodeWowRoot(buffer), 1);
    expect(rowNameHash(decodeWowRoot(buffer), 1)).toEqual(hash);
    expect(buffer.equals(bytes)).toBe(true);
  });

  test('a row that is not there', () => {
    expect(codeOf(() => rowCkey(root, 6))).toBe('E_NOT_FOUND');
    expect(codeOf(() => rowNameHash(root, -1))).toBe('E_NOT_FOUND');
  });

  test('an id beyond 32 bits', () => {
    const forged = bytes.slice();
    new DataView(forged.buffer).setUint32(root.blocks[0]!.deltaOffset + 8, 0xffffffff, true);
    expect(codeOf(() => fillFileDataIds(decodeWowRoot(forged)))).toBe('E_FORMAT_RANGE');
  });

  test('every cut inside the last block', () => {
    for (let size = root.blocks[3]!.deltaOffset - 1; size < bytes.length; size++) {
      expect(codeOf(() => decodeWowRoot(bytes.slice(0, size)))).toBe('E_FORMAT_TRUNCATED');
    }
  });
});

describe('corners', () => {
  test('tsfm0 keeps hashes of a nameless block when all rows are said to be named', () => {
    const content = sampleRoot('tsfm0');
    const root = decodeWowRoot(encodeWowRoot({ ...content, total: 6, named: 6 }));
    expect(rowNameHash(root, 3)).toEqual(new Uint8Array(8));
    expect(rowNameHash(decodeWowRoot(encodeWowRoot({ ...content, total: 6, named: 4 })), 3)).toBeUndefined();
  });

  test('a tsfm0 root of 24 rows is not taken for one of version 1', () => {
    const rows = Array.from({ length: 24 }, (_, i) => ({ fileDataId: i, ckey: key(i) }));
    const flags = ContentFlags.noNameHash;
    const content = { form: 'tsfm0', named: 1, blocks: [{ contentFlags: flags, localeFlags: 2, rows }] } as const;
    const root = decodeWowRoot(encodeWowRoot(content));
    expect([root.form, root.total, root.named, root.rowCount]).toEqual(['tsfm0', 24, 1, 24]);
  });

  test('an unknown version, an empty file, a file of endless empty blocks', () => {
    const bytes = encodeWowRoot(sampleRoot('tsfm2'));
    bytes[8] = 3;
    expect(codeOf(() => decodeWowRoot(bytes))).toBe('E_FORMAT_VERSION');
    expect(codeOf(() => decodeWowRoot(new Uint8Array(0)))).toBe('E_FORMAT_TRUNCATED');
    expect(codeOf(() => decodeWowRoot(new Uint8Array(12 * 70_000)))).toBe('E_FORMAT_RANGE');
  });

  test('the encoder refuses what could not be read back', () => {
    const block = (rows: WowRootContent['blocks'][number]['rows']) => ({ contentFlags: 0, localeFlags: 2, rows });
    const named = { ckey: key(1), nameHash: nameHash('x') };
    const refused: WowRootContent['blocks'][number][] = [
      block([
        { fileDataId: 5, ...named },
        { fileDataId: 5, ...named },
      ]),
      block([{ fileDataId: -1, ...named }]),
      block([{ fileDataId: 2 ** 32, ...named }]),
      block([{ fileDataId: 1.5, ...named }]),
      block([{ fileDataId: 1, ckey: key(1).subarray(1), nameHash: nameHash('x') }]),
      block([{ fileDataId: 1, ckey: key(1) }]),
      { ...block([]), contentParts: [1, 0, 0] },
    ];
    for (const bad of refused) {
      expect(codeOf(() => encodeWowRoot({ form: 'tsfm2', blocks: [bad] }))).toBe('E_FORMAT_RANGE');
    }
  });

  test('many rows decode in well under a second, with four bytes of memory a row', () => {
    const count = 300_000;
    const random = randomSource(7);
    const bytes = new Uint8Array(24 + 3 * (17 + count * 28));
    const view = new DataView(bytes.buffer);
    bytes.set(new TextEncoder().encode('TSFM'));
    for (const [i, value] of [24, 2, 3 * count, 3 * count].entries()) view.setUint32(4 + i * 4, value, true);
    for (let block = 0; block < 3; block++) {
      const start = 24 + block * (17 + count * 28);
      view.setUint32(start, count, true);
      view.setUint32(start + 4, 2, true);
      for (let i = 0; i < count; i++) view.setUint32(start + 17 + i * 4, Math.floor(random() * 3), true);
    }
    const started = performance.now();
    const root = decodeWowRoot(bytes);
    const ids = fillFileDataIds(root);
    const took = performance.now() - started;
    expect(ids.length).toBe(3 * count);
    expect(ids.byteLength).toBe(12 * count);
    expect(took).toBeLessThan(15_000);
  });
});
