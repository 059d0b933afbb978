import { describe, expect, test } from '@jest/globals';
import { concatBytes, fromHex, toHex } from '../../../src/core/bytes.ts';
import { md5 } from '../../../src/core/hash.ts';
import {
  type ArchiveIndex,
  checkArchiveIndex,
  decodeArchiveIndex,
  decodeIndexToc,
  encodeArchiveIndex,
  findInPage,
  type IndexEntry,
  pageEntries,
} from '../../../src/formats/indices/archive-index.ts';
import {
  decodeIndexFooter,
  type IndexShape,
  indexFooterSize,
  indexGeometry,
  maxFooterSize,
} from '../../../src/formats/indices/index-layout.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy } from '../text.ts';

/** Entries with keys as even as hashes are, in no order. */
function someEntries(count: number, archive = 0): IndexEntry[] {
  return Array.from({ length: count }, (_, i) => ({
    ekey: md5(Uint8Array.of(i, i >> 8, archive)),
    size: i + 1,
    offset: i * 1000,
    archive,
  }));
}

function plain({ ekey, size, offset, archive }: IndexEntry): unknown[] {
  return [toHex(ekey), size, offset, archive];
}

function sortedPlain(entries: readonly IndexEntry[]): unknown[][] {
  return entries.map(plain).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}

/** An index of other widths than ours are written with, made by hand: pages as ours, then table and footer of hashes of `hashBytes`. */
function withHashWidth(entries: readonly IndexEntry[], hashBytes: number, bigEndianCount = false): Uint8Array {
  const usual = decodeArchiveIndex(encodeArchiveIndex(entries).bytes);
  const pages = Array.from({ length: usual.layout.pageCount }, (_, i) =>
    usual.bytes.subarray(i * 4096, (i + 1) * 4096),
  );
  const hash = (bytes: Uint8Array): Uint8Array => md5(bytes).subarray(0, hashBytes);
  const toc = concatBytes([...usual.toc.lastKeys, ...pages.map(hash)]);
  const fields = Uint8Array.of(1, 0, 0, 4, 4, 4, 16, hashBytes, 0, 0, 0, 0);
  new DataView(fields.buffer).setUint32(8, entries.length, !bigEndianCount);
  return concatBytes([...pages, toc, hash(toc), fields, hash(concatBytes([fields, new Uint8Array(hashBytes)]))]);
}

describe('an archive index', () => {
  const entries = someEntries(400);
  const { bytes, name } = encodeArchiveIndex(entries);
  const index = decodeArchiveIndex(bytes, name);

  test('gives its entries in key order', () => {
    expect(index.count).toBe(400);
    expect(index.name).toBe(name);
    expect(Array.from(index, plain)).toEqual(sortedPlain(entries));
    expect(toHex(index.keyAt(399))).toBe(plain(index.entry(399))[0]);
    for (const outside of [-1, 400, Number.NaN])
      expect(codeThrownBy(() => index.entry(outside))).toBe('E_FORMAT_RANGE');
  });

  test('finds every key, whole or by its first nine bytes, and no other', () => {
    for (const entry of entries) {
      expect(plain(index.find(entry.ekey)!)).toEqual(plain(entry));
      expect(plain(index.find(entry.ekey.subarray(0, 9))!)).toEqual(plain(entry));
    }
    expect(index.find(md5(Uint8Array.of(9, 9, 9)))).toBeUndefined();
    expect(index.find(new Uint8Array(16))).toBeUndefined();
    expect(index.find(new Uint8Array(16).fill(0xff))).toBeUndefined();
  });

  test('is read a page at a time, as from disk', () => {
    const layout = decodeIndexFooter(bytes.subarray(-28), bytes.length);
    expect(layout).toMatchObject({ pageCount: 3, entriesPerPage: 170, entrySize: 24, footerSize: 28, count: 400 });
    const toc = decodeIndexToc(bytes.subarray(layout.tocOffset, layout.tocOffset + layout.tocSize), layout);
    const pages = [0, 1, 2].map((i) => bytes.subarray(i * layout.pageSize, (i + 1) * layout.pageSize));
    expect(pages.flatMap((page) => pageEntries(page, layout)).map(plain)).toEqual(sortedPlain(entries));
    expect(pageEntries(pages[2]!, layout, 60)).toHaveLength(60);
    const wanted = entries[7]!;
    const page = toc.lastKeys.lowerBound(wanted.ekey);
    expect(plain(findInPage(pages[page]!, wanted.ekey, layout)!)).toEqual(plain(wanted));
    expect(findInPage(pages[(page + 1) % 3]!, wanted.ekey, layout)).toBeUndefined();
    expect(toc.pageHashes.at(0)).toEqual(md5(pages[0]!).subarray(0, 8));
  });

  test('keeps a record with a key of zeros that is not padding', () => {
    const zero = { ekey: new Uint8Array(16), size: 5, offset: 0, archive: 0 };
    const withZero = decodeArchiveIndex(encodeArchiveIndex([...someEntries(3), zero]).bytes);
    expect(plain(withZero.entry(0))).toEqual(plain(zero));
    expect(withZero.find(new Uint8Array(16))?.size).toBe(5);
    expect(withZero.find(new Uint8Array(9))?.size).toBe(5);
  });

  test('may be empty, or end with a full page', () => {
    expect(decodeArchiveIndex(encodeArchiveIndex([]).bytes).find(new Uint8Array(16))).toBeUndefined();
    const full = decodeArchiveIndex(encodeArchiveIndex(someEntries(340)).bytes);
    expect([full.layout.pageCount, full.find(full.keyAt(339))?.size]).toEqual([2, full.entry(339).size]);
  });

  test('that belongs to another archive is refused', () => {
    expect(decodeArchiveIndex(bytes, name.toUpperCase()).name).toBe(name);
    expect(codeThrownBy(() => decodeArchiveIndex(bytes, 'a'.repeat(32)))).toBe('E_INTEGRITY');
  });

  test('with a changed byte anywhere is refused', () => {
    const places: [number, string][] = [
      [0, 'E_INTEGRITY'], // a key
      [4095, 'E_INTEGRITY'], // padding of a page
      [index.layout.tocOffset, 'E_INTEGRITY'],
      [index.layout.tocOffset + index.layout.tocSize - 1, 'E_INTEGRITY'],
      [bytes.length - 28, 'E_INTEGRITY'], // hash of the table
      [bytes.length - 12, 'E_FORMAT_CHECKSUM'], // count
      [bytes.length - 1, 'E_FORMAT_CHECKSUM'],
    ];
    for (const [offset, code] of places) {
      const changed = bytes.slice();
      changed[offset]! ^= 1;
      expect([offset, codeThrownBy(() => decodeArchiveIndex(changed))]).toEqual([offset, code]);
    }
  });

  test('is checked piece by piece, as it is when it is read whole', () => {
    const large = encodeArchiveIndex(someEntries(300 * 170));
    let most = 0;
    const check = (of: Uint8Array, as = large.name): void =>
      checkArchiveIndex(
        {
          size: of.length,
          read(at, size) {
            most = Math.max(most, size);
            return of.slice(at, at + size);
          },
        },
        as,
      );
    check(large.bytes);
    expect(most).toBeLessThan(large.bytes.length);
    const { layout } = decodeArchiveIndex(large.bytes);
    expect(layout.pageCount).toBe(300);
    for (const at of [0, 256 * 4096 - 1, 299 * 4096, layout.tocOffset, large.bytes.length - 28]) {
      const changed = large.bytes.slice();
      changed[at]! ^= 1;
      const code = codeThrownBy(() => decodeArchiveIndex(changed, large.name));
      expect([at, codeThrownBy(() => check(changed))]).toEqual([at, code]);
    }
    expect(codeThrownBy(() => check(large.bytes, 'a'.repeat(32)))).toBe('E_INTEGRITY');
    expect(codeThrownBy(() => check(large.bytes.subarray(4096)))).toBe('E_FORMAT_TRUNCATED');
    check(encodeArchiveIndex([]).bytes, encodeArchiveIndex([]).name);
  });

  test('without its first page is refused', () => {
    expect(codeThrownBy(() => decodeArchiveIndex(bytes.subarray(4096)))).toBe('E_FORMAT_TRUNCATED');
  });

  test('survives anything', () => {
    expectHostileSafe((input) => Array.from(decodeArchiveIndex(input)), encodeArchiveIndex(someEntries(200)).bytes);
    expectHostileSafe((input) => decodeIndexFooter(input, bytes.length), bytes.slice(-maxFooterSize), {
      prefixesFail: true,
    });
  });
});

describe('the kinds of index', () => {
  const cases: [string, Partial<IndexShape>, IndexEntry[], number][] = [
    ['loose files', { offsetBytes: 0 }, someEntries(300).map((entry) => ({ ...entry, offset: 0 })), 20],
    ['wide offsets', { offsetBytes: 5 }, [{ ...someEntries(1)[0]!, offset: 0x12_3456_789a }], 25],
    ['group', { offsetBytes: 6 }, [...someEntries(200, 513), ...someEntries(9, 0)], 26],
  ];
  for (const [kind, options, entries, entrySize] of cases) {
    test(`${kind}: records of ${entrySize} bytes come back`, () => {
      const { bytes, name } = encodeArchiveIndex(entries, options);
      const index = decodeArchiveIndex(bytes, name);
      expect(index.layout).toMatchObject({ entrySize, entriesPerPage: Math.floor(4096 / entrySize) });
      expect(Array.from(index, plain)).toEqual(sortedPlain(entries));
    });
  }

  test('hashes of 8 to 16 bytes are found out', () => {
    const entries = someEntries(200);
    for (const hashBytes of [8, 9, 16]) {
      const bytes = withHashWidth(entries, hashBytes);
      const index: ArchiveIndex = decodeArchiveIndex(bytes);
      expect([index.layout.hashBytes, index.layout.footerSize]).toEqual([hashBytes, indexFooterSize(hashBytes)]);
      expect(Array.from(index, plain)).toEqual(sortedPlain(entries));
      expect(index.name).toBe(toHex(md5(bytes.subarray(-indexFooterSize(hashBytes)))));
    }
    expect([indexFooterSize(), maxFooterSize]).toEqual([28, 44]);
  });

  test('a count that is big-endian, as in old builds, is found out', () => {
    const entries = someEntries(200);
    expect(Array.from(decodeArchiveIndex(withHashWidth(entries, 8, true)), plain)).toEqual(sortedPlain(entries));
  });

  test('equal keys keep their order, and the first is found', () => {
    const [first] = someEntries(1);
    const twice = [first!, { ...first!, size: 0 }];
    const index = decodeArchiveIndex(encodeArchiveIndex([...someEntries(5).slice(1), ...twice]).bytes);
    expect(index.count).toBe(6);
    expect(index.find(first!.ekey)?.size).toBe(first!.size);
  });

  test('what does not fit cannot be written', () => {
    const [entry] = someEntries(1);
    const bad: [Partial<IndexEntry>, Partial<IndexShape>][] = [
      [{ size: 2 ** 32 }, {}],
      [{ offset: 2 ** 32 }, {}],
      [{ offset: 1 }, { offsetBytes: 0 }],
      [{ archive: 65_536 }, { offsetBytes: 6 }],
      [{ ekey: fromHex('00') }, {}],
    ];
    for (const [change, options] of bad) {
      expect(codeThrownBy(() => encodeArchiveIndex([{ ...entry!, ...change }], options))).toBe('E_FORMAT_RANGE');
    }
  });
});

describe('the places in an index', () => {
  test('are those of real builds: 170 records a page, 157 in a group', () => {
    expect(indexGeometry(7060)).toMatchObject({ pageCount: 42, tocOffset: 172_032, tocSize: 1008, fileSize: 173_068 });
    expect(indexGeometry(1, { offsetBytes: 6 }).entriesPerPage).toBe(157);
  });
});
