import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { md5Hex } from '../../../../src/core/hash.ts';
import { decodeMndx, mndxFormat } from '../../../../src/formats/roots/mndx/decode.ts';
import { encodeMar, encodeMndx } from '../../../../src/formats/roots/mndx/encode.ts';
import { decodeMar } from '../../../../src/formats/roots/mndx/trie.ts';
import { conformanceBytes, conformancePath, describeConformance } from '../../../support/conformance.ts';
import { expectHostileSafe } from '../../../support/hostile.ts';
import { codeThrownBy } from '../../text.ts';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
const bytes = (name: string) => Uint8Array.from(Buffer.from(name, 'latin1'));

describeConformance('tries of the marisa-trie library', () => {
  test.each([
    ['ref1', 'one level, text tail'],
    ['ref2', 'several levels'],
    ['refb', 'binary tail'],
  ])('%s (%s): every id and name, both ways', (file) => {
    const trie = decodeMar(conformanceBytes('mndx', `${file}.mar`));
    const wanted = readFileSync(conformancePath('mndx', `${file}.ids`), 'latin1')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    expect(trie.count).toBe(wanted.length);
    const wrong = wanted.filter(
      ([id, name]) => trie.find(bytes(name!)) !== Number(id) || text(trie.nameOf(Number(id))) !== name,
    );
    expect(wrong).toEqual([]);
    const listed = Array.from(trie.keys, ({ id, name }) => `${id}\t${text(name)}`);
    expect(listed.sort()).toEqual(wanted.map((cells) => cells.join('\t')).sort());
    expect(wanted.length).toBeGreaterThan(19_000);
  });

  test('names that are not there, not even by their start, their end or their case', () => {
    const trie = decodeMar(conformanceBytes('mndx', 'ref2.mar'));
    const known = 'assets/assets/assets_1502.m3';
    expect(trie.find(bytes(known))).toBe(5272);
    for (const name of ['', 'a', known.slice(0, -1), `${known}x`, known.toUpperCase(), known.slice(1)])
      expect(trie.find(bytes(name))).toBeUndefined();
  });

  test('hostile bytes', () => {
    const all = (mar: Uint8Array) => {
      const trie = decodeMar(mar);
      for (const { name } of trie.keys) trie.find(name);
      for (let id = 0; id < Math.min(trie.count, 50); id++) trie.nameOf(id);
    };
    expectHostileSafe(all, conformanceBytes('mndx', 'mini.mar'));
    for (const file of ['ref1', 'ref2', 'refb']) {
      expectHostileSafe(all, conformanceBytes('mndx', `${file}.mar`), { samples: 4 });
    }
  });
});

describeConformance('a root that two other readers take', () => {
  const mini = () => conformanceBytes('mndx', 'mini.mndx');
  const key = (digit: string) => digit.repeat(32);

  test('its packages and files', () => {
    expect(mndxFormat.matches(mini())).toBe(true);
    const root = decodeMndx(mini());
    expect([root.packages, root.fileCount]).toEqual([['p0', 'p1'], 4]);
    expect([...root.files].sort((a, b) => a.size - b.size)).toEqual([
      { package: 'p0', name: 'p0/b', ckey: key('1'), size: 100 },
      { package: 'p0', name: 'p0/a/x', ckey: key('2'), size: 101 },
      { package: 'p1', name: 'p1/a/x', ckey: key('3'), size: 102 },
      { package: 'p1', name: 'p1/a/y', ckey: key('4'), size: 103 },
    ]);
  });

  test('written by us, it is the same to the byte', () => {
    const keys = ['b', 'a/y', 'a/x', 'b'].map((name) => ({ name: bytes(name) }));
    expect(md5Hex(encodeMar({ keys }))).toBe(md5Hex(conformanceBytes('mndx', 'mini.mar')));
    const files = [
      { package: 'p1', name: 'p1/a/y', ckey: key('4'), size: 103 },
      { package: 'p0', name: 'p0/b', ckey: key('1'), size: 100 },
      { package: 'p1', name: 'p1/a/x', ckey: key('3'), size: 102 },
      { package: 'p0', name: 'p0/a/x', ckey: key('2'), size: 101 },
    ];
    expect(md5Hex(encodeMndx({ files }))).toBe(md5Hex(mini()));
  });

  test('hostile bytes', () => {
    expectHostileSafe((bytes) => [...decodeMndx(bytes).files], mini());
  });
});

describe('roots of our own', () => {
  const hex = (number: number) => number.toString(16).padStart(32, '0');
  const inPackage = (owner: string, name: string, i: number) => ({
    package: owner,
    name: `${owner}/${name}`,
    ckey: hex(i),
    size: i,
  });
  const files = Array.from({ length: 3000 }, (_, i) => {
    const owner = ['mods/Core.StormMod', 'mods/Core.StormMod/Base.StormAssets', `mods/Héroes/pack${i % 40}`][i % 3]!;
    return inPackage(owner, `Assets/Textures/Storm_${Math.floor(i / 3)}.DDS`, i);
  });

  test('names keep their case, whatever the package is nested in', () => {
    const root = decodeMndx(encodeMndx({ files }));
    const line = ({ name, ckey, size }: { name: string; ckey: string; size: number }) => `${name} ${ckey} ${size}`;
    const wanted = files.map(line);
    expect(Array.from(root.files, line).sort()).toEqual(wanted.sort());
  });

  test('a file that the third trie does not name is there in lower case', () => {
    const plain = encodeMndx({ files: files.slice(0, 30) });
    const others = files.slice(0, 30).map((file, i) => (i === 4 ? inPackage(file.package, 'Else', i) : file));
    const other = encodeMndx({ files: others });
    const view = (bytes: Uint8Array) => new DataView(bytes.buffer);
    // The third MAR of the other root, behind this one.
    const size = Number(view(other).getBigUint64(48 + 44, true));
    const from = Number(view(other).getBigUint64(48 + 52, true));
    const bytes = new Uint8Array([...plain, ...other.slice(from, from + size)]);
    view(bytes).setBigUint64(48 + 44, BigInt(size), true);
    view(bytes).setBigUint64(48 + 52, BigInt(plain.length), true);
    const found = Array.from(decodeMndx(bytes).files, ({ name }) => name);
    expect(found.length).toBe(30);
    expect(found.filter((name) => name.endsWith('.dds'))).toEqual([
      `${files[4]!.package}/${files[4]!.name.slice(files[4]!.package.length + 1).toLowerCase()}`,
    ]);
  });

  test('the same name twice in a package is refused', () => {
    const twice = [files[0]!, { ...files[0]!, name: files[0]!.name.toUpperCase() }];
    expect(codeThrownBy(() => encodeMndx({ files: twice }))).toBe('E_FORMAT_RANGE');
  });

  test('12,000 files in moderate time', () => {
    const many = Array.from({ length: 12_000 }, (_, i) =>
      inPackage(`mods/pack${i % 50}`, `Assets/Textures/${i % 7}/Storm_${i}.dds`, i),
    );
    const bytes = encodeMndx({ files: many });
    const started = performance.now();
    let sum = 0;
    for (const { size } of decodeMndx(bytes).files) sum += size;
    expect(sum).toBe((12_000 * 11_999) / 2);
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
