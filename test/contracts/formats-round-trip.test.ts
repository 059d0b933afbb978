import { describe, expect, test } from '@jest/globals';
import { md5Hex } from '../../src/core/hash.ts';
import {
  applyZbsdiff,
  decodeBlte,
  decodeBlteHeader,
  decodeLocalHeader,
  decodeMar,
  encodeBlte,
  encodeBlteHeader,
  encodeLocalHeader,
  makeZbsdiff,
} from '../../src/formats/index.ts';
import { generateTree } from '../formats/generated-tree.ts';
import { samples } from '../formats/round-trip-samples.ts';
import { type FormatName, format, formats } from '../formats/round-trips.ts';
import { text } from '../formats/text.ts';
import { conformanceBytes, describeConformance } from '../support/conformance.ts';

/** Equal bytes, without a page of numbers when they are not. */
function expectSame(found: Uint8Array, expected: Uint8Array): void {
  expect([found.length, md5Hex(found)]).toEqual([expected.length, md5Hex(expected)]);
}

describe.each(Object.entries(samples) as [FormatName, readonly Uint8Array[]][])('%s', (name, bytes) => {
  test.each(bytes.map((sample, i) => [i, sample] as const))('sample %i comes back byte for byte', (_, sample) => {
    expectSame(formats[name](sample), sample);
  });
});

test('no sample comes twice: every option makes a difference', () => {
  const hashes = Object.entries(samples).flatMap(([name, list]) => list.map((sample) => `${name} ${md5Hex(sample)}`));
  expect(hashes.filter((hash, i) => hashes.indexOf(hash) !== i)).toEqual([]);
});

describeConformance('real files come back byte for byte', () => {
  const files: [FormatName, string][] = [
    ['archive index', 'cascette-rs/archive/0017a402f556fbece46c38dc431a2c9b.index'],
    ['build config', 'cascette-rs/config/wow_classic_era_build_config.txt'],
    ['build config', 'keg/buildconfig/6a5f9d058ac7c519d929571a64e4ef3d'],
    ['config', 'cascette-rs/config/overwatch_keyring_config.txt'],
    ['download manifest', 'cascette-rs/download/classic_era_1.15.7_v1_100entries.download'],
    ['encoding file', 'keg/blte/2a6168d8a7122a8dd9b61fb92af3d3f4.in'],
    ['encoding file', 'keg/encoding/16f5c65b940fffcb94d175188b6751d2'],
    ['install manifest', 'cascette-rs/install/classic_era_1.15.7_v1.install'],
    ['patch manifest', 'cascette-rs/patch_archive/071290388e1f3b898157c372f03bc435.bin'],
    ['patch index', 'cascette-rs/patch_index/wow_classic_era_patch_index.bin'],
    ['WoW root', 'cascette-rs/root/classic_era_v1_2blocks.root'],
    ['WoW root', 'cascette-rs/root/retail_11.2.7_v2_3blocks.root'],
    ['TVFS manifest', 'cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.bin'],
    ['.build.info', 'heksesang-CascLib/.build.info'],
    ['.build.info', 'installs/emmiigr_wow-ui-demo/.build.info'],
    ['shmem', 'heksesang-CascLib/shmem'],
    ['key list', 'TACTKeys/WoW-first-100.txt'],
    ['BPSV table', 'keg/cdns/a716783d0bfb5b6ee84ac3f7c7e42b1f'],
    ['BPSV table', 'keg/versions.psv'],
    ['BPSV table', 'ngdp_data/US/s2/bgdl'],
    ['BPSV table', 'ngdp_data/US/s2/cdns'],
    ['BPSV table', 'wowcdns/cdns.bb266f64'],
    ['BPSV table', 'wowcdns/vers.eca8be63'],
  ];
  test.each(files)('%s %s', (name, path) => {
    const bytes = conformanceBytes('tact', path);
    expectSame(formats[name](bytes), bytes);
  });

  test('BLTE header', () => {
    const bytes = conformanceBytes('tact', 'cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.blte');
    const header = encodeBlteHeader(decodeBlteHeader(bytes, bytes.length));
    expectSame(header, bytes.subarray(0, header.length));
  });

  test('tries of another writer are of the same names, in fewer levels', () => {
    const names = (mar: Uint8Array) =>
      Array.from(decodeMar(mar).keys, ({ name }) => Buffer.from(name).toString('hex')).sort();
    const bytes = conformanceBytes('mndx', 'ref2.mar');
    expect(names(formats.MAR(bytes))).toEqual(names(bytes));
    expectSame(formats['MNDX root'](conformanceBytes('mndx', 'mini.mndx')), conformanceBytes('mndx', 'mini.mndx'));
  });
});

describeConformance('trees of an independent generator come back byte for byte', () => {
  const layouts: [string, string[], FormatName][] = [
    ['wow, tsfm1', ['--root-format', 'tsfm1', '--download-version', '2,3'], 'WoW root'],
    ['wow, headerless', ['--root-format', 'headerless', '--download-version', '1'], 'WoW root'],
    ['text', ['--layout', 'text'], 'text root'],
  ];
  test.each(layouts)('%s', (_, options, rootName) => {
    const tree = generateTree(...options);
    try {
      const same = (name: FormatName, bytes: Uint8Array): void => expectSame(formats[name](bytes), bytes);
      const { configs, patch, ...builds } = tree.summary;
      for (const which of ['a', 'b'] as const) {
        const build = builds[`build_${which}`];
        same('build config', tree.object('config', configs.build[which]!));
        same('CDN config', tree.object('config', configs.cdn[which]!));
        same(rootName, tree.decoded(build.root[1]));
        same('download manifest', tree.decoded(build.download[1]));
        same('size manifest', tree.decoded(build.size[1]));
        same('encoding file', tree.decoded(build.encoding[1]));
      }
      same('config', tree.object('config', configs.keyring));
      same('patch config, of its values', tree.object('config', patch.config));
      same('patch manifest', tree.object('patch', patch.manifest[0]));
      for (const kind of ['data', 'patch'] as const) {
        for (const name of tree.names(kind, '.index')) same('archive index', tree.object(kind, `${name}.index`));
      }
      same('BPSV table', tree.read('www/wow/versions'));
      same('Ribbit answer', tree.read('ribbit/v1/products/wow/versions'));
      same('listfile', tree.read('listfile.csv'));
      same('key list', tree.read('truth/keys.txt'));
    } finally {
      tree.remove();
    }
  });
});

test('the compiler says what cannot be written again', () => {
  const content = (bytes: Uint8Array): Uint8Array => decodeBlte(bytes);
  // @ts-expect-error A content does not say how it was encoded.
  const blte = format(content, encodeBlte);
  // @ts-expect-error A header does not say where its entry lies.
  const header = format(decodeLocalHeader, encodeLocalHeader);
  expect([blte, header]).toHaveLength(2);
});

test('a patch, made and applied, gives the file that it was made for', () => {
  const [old, made] = [text('one two three'), text('one 2 three four')];
  expectSame(applyZbsdiff(old, makeZbsdiff(old, made), { maxSize: 100 }), made);
});
