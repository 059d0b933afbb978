import { describe, expect, test } from '@jest/globals';
import { fromHex, toHex } from '../../../../src/core/bytes.ts';
import { md5, md5Hex } from '../../../../src/core/hash.ts';
import { decodeEncoding } from '../../../../src/formats/manifests/encoding/decode.ts';
import { encodeEncoding } from '../../../../src/formats/manifests/encoding/encode.ts';
import {
  type CkeyEntry,
  ckeyEntries,
  decodeEncodingHeader,
  decodeEspecs,
  type EkeyEntry,
  type EncodingLayout,
  ekeyEntries,
  findCkeyInPage,
  findEkeyInPage,
  findPage,
  pageTable,
  verifyPage,
} from '../../../../src/formats/manifests/encoding/pages.ts';
import { expectHostileSafe } from '../../../support/hostile.ts';
import { codeThrownBy, htmlPage } from '../../text.ts';

const key = (...bytes: number[]): string => md5Hex(Uint8Array.from(bytes));
const byText = (a: string, b: string): number => (a < b ? -1 : 1);

/** Contents with one, two or many objects, sizes of 0 and above 4 GiB among them. */
function someContent(count: number): { ckeys: CkeyEntry[]; ekeys: EkeyEntry[]; especs: string[] } {
  const ckeys = Array.from({ length: count }, (_, i) => {
    const keyCount = i === 5 ? 254 : i % 7 === 0 ? 2 : 1;
    const size = i % 50 === 0 ? 0 : i % 51 === 0 ? 0xff_ffff_fffe : i;
    return { ckey: key(i, i >> 8), size, ekeys: Array.from({ length: keyCount }, (_, k) => key(i, i >> 8, k)) };
  });
  const ekeys = ckeys.flatMap(({ ekeys: keys }, i) =>
    keys.map((ekey) => ({ ekey, especIndex: i % 2, size: 0x01_0000_0000 + i })),
  );
  return { ckeys, ekeys, especs: ['z', 'b:{256K*=z}'] };
}

const content = someContent(500);
const bytes = encodeEncoding(content);
const sortedCkeys = [...content.ckeys].sort((a, b) => byText(a.ckey, b.ckey));
const sortedEkeys = [...content.ekeys].sort((a, b) => byText(a.ekey, b.ekey));

describe('an encoding file', () => {
  const encoding = decodeEncoding(bytes);

  test('gives contents, objects and especs in order', () => {
    expect([...encoding.ckeys]).toEqual(sortedCkeys);
    expect([...encoding.ekeys]).toEqual(sortedEkeys);
    expect(encoding.especs).toEqual(['z', 'b:{256K*=z}']);
  });

  test('finds every content and object, by hex, bytes or prefix, and no other', () => {
    for (const entry of content.ckeys) expect(encoding.findCkey(entry.ckey)).toEqual(entry);
    for (const entry of content.ekeys) expect(encoding.findEkey(fromHex(entry.ekey))).toEqual(entry);
    for (const entry of content.ekeys) expect(encoding.findEkey(entry.ekey.slice(0, 18))).toEqual(entry);
    for (const absent of ['00'.repeat(16), 'ff'.repeat(16), key(1, 2, 3, 4)]) {
      expect([encoding.findCkey(absent), encoding.findEkey(absent)]).toEqual([undefined, undefined]);
    }
  });

  test('says how it is itself encoded, section by section', () => {
    const { especSize, ckeyPageCount, ekeyPageCount } = encoding.layout;
    const sizes = [`22=n`, `${especSize}=z`, `${ckeyPageCount * 32}=n`, `${ckeyPageCount * 4096}=n`];
    expect(encoding.ownEspec).toBe(
      `b:{${[...sizes, `${ekeyPageCount * 32}=n`, `${ekeyPageCount * 4096}=n`, '*=z'].join(',')}}`,
    );
  });

  test('may hold nothing', () => {
    const empty = decodeEncoding(encodeEncoding({ ckeys: [], ekeys: [], especs: [] }));
    expect([[...empty.ckeys], empty.findCkey(key(1)), empty.findEkey(key(1)), empty.especs]).toEqual([
      [],
      undefined,
      undefined,
      [],
    ]);
  });

  test('with a changed byte in a page, or a page in the wrong place, is refused', () => {
    const { layout } = encoding;
    for (const offset of [layout.ckeyPagesOffset + 4095, layout.ekeyPagesOffset, layout.ckeyTableOffset + 31]) {
      const changed = bytes.slice();
      changed[offset]! ^= 1;
      expect(codeThrownBy(() => decodeEncoding(changed))).toBe('E_INTEGRITY');
    }
    const firstKey = bytes.slice();
    firstKey[layout.ckeyTableOffset]! ^= 1;
    expect(codeThrownBy(() => decodeEncoding(firstKey))).toBe('E_FORMAT');
  });

  test('of another kind, version or width is refused', () => {
    const with_ = (offset: number, value: number): Uint8Array => {
      const changed = bytes.slice();
      changed[offset] = value;
      return changed;
    };
    expect(codeThrownBy(() => decodeEncoding(htmlPage))).toBe('E_FORMAT_MAGIC');
    expect(codeThrownBy(() => decodeEncoding(with_(2, 2)))).toBe('E_FORMAT_VERSION');
    expect(codeThrownBy(() => decodeEncoding(with_(3, 9)))).toBe('E_UNSUPPORTED');
    expect(codeThrownBy(() => decodeEncoding(with_(6, 0)))).toBe('E_FORMAT_RANGE');
    expect(codeThrownBy(() => decodeEncoding(with_(9, 255)))).toBe('E_FORMAT_TRUNCATED');
  });

  test('survives anything', () => {
    const decode = (input: Uint8Array): unknown => {
      const decoded = decodeEncoding(input);
      return [[...decoded.ckeys], [...decoded.ekeys]];
    };
    const small = encodeEncoding({ ...someContent(20) });
    const withoutTrailer = small.subarray(0, decodeEncodingHeader(small).ownEspecOffset);
    expectHostileSafe(decode, withoutTrailer);
  });

  test('cannot be written with a content without objects, an unknown espec, a size too large or a short key', () => {
    const ekey = key(2);
    for (const bad of [
      { ckeys: [{ ckey: key(1), size: 1, ekeys: [] }], ekeys: [], especs: [] },
      { ckeys: [{ ckey: key(1), size: 1, ekeys: Array(255).fill(ekey) }], ekeys: [], especs: [] },
      { ckeys: [{ ckey: key(1), size: 2 ** 40, ekeys: [ekey] }], ekeys: [], especs: [] },
      { ckeys: [], ekeys: [{ ekey, especIndex: 1, size: 1 }], especs: ['z'] },
      { ckeys: [], ekeys: [{ ekey: ekey.slice(2), especIndex: 0, size: 1 }], especs: ['z'] },
    ]) {
      expect(codeThrownBy(() => encodeEncoding(bad))).toBe('E_FORMAT_RANGE');
    }
  });
});

describe('pages read one by one', () => {
  const layout = decodeEncodingHeader(bytes.subarray(0, 22));
  const page = (kind: 'ckey' | 'ekey', number: number): Uint8Array => {
    const [offset, size] =
      kind === 'ckey' ? [layout.ckeyPagesOffset, layout.ckeyPageSize] : [layout.ekeyPagesOffset, layout.ekeyPageSize];
    return bytes.subarray(offset + number * size, offset + (number + 1) * size);
  };
  const ckeyTable = pageTable(bytes.subarray(layout.ckeyTableOffset, layout.ckeyPagesOffset), layout, 'ckey');
  const ekeyTable = pageTable(bytes.subarray(layout.ekeyTableOffset, layout.ekeyPagesOffset), layout, 'ekey');

  test('are found through their tables', () => {
    expect(layout.ckeyPageCount).toBeGreaterThan(4);
    for (const entry of content.ckeys) {
      expect(findCkeyInPage(page('ckey', findPage(ckeyTable, entry.ckey)!), entry.ckey, layout)).toEqual(entry);
    }
    for (const entry of content.ekeys) {
      expect(findEkeyInPage(page('ekey', findPage(ekeyTable, entry.ekey)!), entry.ekey, layout)).toEqual(entry);
    }
    expect(findPage(ckeyTable, '00'.repeat(16))).toBeUndefined();
  });

  test('list their entries and are checked against their rows', () => {
    expect(Array.from(ckeyTable, (_, i) => ckeyEntries(page('ckey', i), layout)).flat()).toEqual(sortedCkeys);
    expect(Array.from(ekeyTable, (_, i) => ekeyEntries(page('ekey', i), layout)).flat()).toEqual(sortedEkeys);
    verifyPage(page('ckey', 1), ckeyTable.at(1));
    expect(codeThrownBy(() => verifyPage(page('ckey', 0), ckeyTable.at(1)))).toBe('E_INTEGRITY');
  });

  test('that are not whole are refused: what is missing would look absent', () => {
    for (const read of [ckeyEntries, ekeyEntries]) {
      expect(codeThrownBy(() => read(page('ckey', 0).subarray(1), layout))).toBe('E_FORMAT_TRUNCATED');
    }
    expect(codeThrownBy(() => findEkeyInPage(new Uint8Array(0), key(1), layout))).toBe('E_FORMAT_TRUNCATED');
    expect(codeThrownBy(() => pageTable(bytes, layout, 'ckey'))).toBe('E_FORMAT_TRUNCATED');
  });

  test('end where an entry has no key, an espec of ones or a key of zeros', () => {
    const small: EncodingLayout = { ...layout, ckeyPageSize: 64, ekeyPageSize: 64 };
    const entry = { ekey: key(1), especIndex: 3, size: 9 };
    for (const end of ['ffffffff', '00000000']) {
      const ekeyPage = fromHex(`${entry.ekey}000000030000000009${'00'.repeat(16)}${end}`.padEnd(128, '0'));
      expect(ekeyEntries(ekeyPage, small)).toEqual([entry]);
    }
    const onlyOnes = fromHex(`${entry.ekey}000000030000000009${'ab'.repeat(16)}ffffffff`.padEnd(128, '0'));
    expect(ekeyEntries(onlyOnes, small)).toEqual([entry]);
    const emptyContent = fromHex(`010000000000${key(4)}${key(5)}`.padEnd(128, '0'));
    expect(ckeyEntries(emptyContent, small)).toEqual([{ ckey: key(4), size: 0, ekeys: [key(5)] }]);
  });

  test('with an entry that runs over the end are refused', () => {
    const small: EncodingLayout = { ...layout, ckeyPageSize: 64 };
    const over = fromHex(`030000000001${key(4)}`.padEnd(128, 'a'));
    expect(codeThrownBy(() => ckeyEntries(over, small))).toBe('E_FORMAT_TRUNCATED');
    expect(codeThrownBy(() => findCkeyInPage(over, key(9), small))).toBe('E_FORMAT_TRUNCATED');
  });
});

describe('especs', () => {
  test('end with a NUL each', () => {
    expect(decodeEspecs(new TextEncoder().encode('z\0b:{4K*=n}\0'))).toEqual(['z', 'b:{4K*=n}']);
    expect(decodeEspecs(new Uint8Array(0))).toEqual([]);
    expect(codeThrownBy(() => decodeEspecs(new TextEncoder().encode('z\0n')))).toBe('E_FORMAT_TRUNCATED');
  });
});

test('the table of pages holds first keys and hashes', () => {
  const layout = decodeEncodingHeader(bytes);
  const row = bytes.subarray(layout.ckeyTableOffset, layout.ckeyTableOffset + 32);
  expect(toHex(row.subarray(0, 16))).toBe(sortedCkeys[0]!.ckey);
  expect(row.subarray(16)).toEqual(md5(bytes.subarray(layout.ckeyPagesOffset, layout.ckeyPagesOffset + 4096)));
});
