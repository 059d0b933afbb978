import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fromHex, toHex } from '../../src/core/bytes.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { type BuildConfig, decodeBuildConfig } from '../../src/formats/configs/build-config.ts';
import { type CdnConfig, decodeCdnConfig } from '../../src/formats/configs/cdn-config.ts';
import { encodeConfig } from '../../src/formats/configs/config-file.ts';
import { decodeKeyList, decodeKeyRing, encodeKeyList } from '../../src/formats/configs/key-list.ts';
import { decodePatchConfig } from '../../src/formats/configs/patch-config.ts';
import { decodeProductConfig, encodeProductConfig } from '../../src/formats/configs/product-config.ts';
import { encodeArchiveGroup } from '../../src/formats/indices/archive-group.ts';
import { type ArchiveIndex, decodeArchiveIndex, encodeArchiveIndex } from '../../src/formats/indices/archive-index.ts';
import { decodeDownload, encodeDownload } from '../../src/formats/manifests/download.ts';
import { decodeEncoding } from '../../src/formats/manifests/encoding/decode.ts';
import { encodeEncoding } from '../../src/formats/manifests/encoding/encode.ts';
import { decodeInstall, encodeInstall } from '../../src/formats/manifests/install.ts';
import { decodeSize, encodeSize } from '../../src/formats/manifests/size.ts';
import { hasTag, selectByTags } from '../../src/formats/manifests/tags.ts';
import { cell, decodeBpsv, encodeBpsv } from '../../src/formats/services/bpsv.ts';
import { decodeRibbit } from '../../src/formats/services/ribbit-mime.ts';
import { type GeneratedTree, generateTree } from '../formats/generated-tree.ts';
import { describeConformance } from '../support/conformance.ts';

/** Equal bytes, without a page of numbers when they are not. */
function expectSame(found: Uint8Array, expected: Uint8Array): void {
  expect([found.length, md5Hex(found)]).toEqual([expected.length, md5Hex(expected)]);
}

describeConformance('a CDN made by the independent generator', () => {
  let tree: GeneratedTree;
  let builds: Record<'a' | 'b', { config: BuildConfig; cdn: CdnConfig }>;
  const bothBuilds = ['a', 'b'] as const;

  beforeAll(() => {
    tree = generateTree('--multi-ekey', '.1');
    const open = (which: 'a' | 'b'): { config: BuildConfig; cdn: CdnConfig } => ({
      config: decodeBuildConfig(tree.object('config', tree.summary.configs.build[which]!)),
      cdn: decodeCdnConfig(tree.object('config', tree.summary.configs.cdn[which]!)),
    });
    builds = { a: open('a'), b: open('b') };
  }, 60_000);
  afterAll(() => tree?.remove());

  function openIndex(kind: 'data' | 'patch', name: string): ArchiveIndex {
    return decodeArchiveIndex(tree.object(kind, `${name}.index`), name);
  }

  test('build configs name what the generator put in them, and are written alike', () => {
    for (const which of bothBuilds) {
      const bytes = tree.object('config', tree.summary.configs.build[which]!);
      const { config } = builds[which];
      const truth = tree.summary[`build_${which}`];
      expect([config.encoding.ckey, config.encoding.ekey, config.encoding.size]).toEqual(truth.encoding);
      expect([config.download?.ckey, config.download?.ekey, config.download?.size]).toEqual(truth.download);
      expect(config.root).toEqual({ ckey: truth.root[0], ekey: undefined, size: undefined, encodedSize: undefined });
      expect(config.encoding.encodedSize).toBe(tree.object('data', config.encoding.ekey!).length);
      expectSame(encodeConfig({ entries: config.config.entries, title: 'Build Configuration' }), bytes);
    }
    expect(builds.a.config.patch).toBeUndefined();
    expect(builds.b.config.patch).toMatchObject({
      ckey: tree.summary.patch.manifest[0],
      size: tree.summary.patch.manifest[1],
    });
    expect(builds.b.config.patchConfig).toBe(tree.summary.patch.config);
  });

  test('CDN configs list archives with the sizes of their indices', () => {
    for (const which of bothBuilds) {
      const { cdn } = builds[which];
      expect(cdn.archives).toHaveLength(tree.summary[`build_${which}`].archives);
      expect(cdn.archiveIndexSizes).toEqual(cdn.archives.map((name) => tree.object('data', `${name}.index`).length));
      expect(cdn.fileIndexSize).toBe(tree.object('data', `${cdn.fileIndex}.index`).length);
      expect(cdn.archiveGroup).toBe(tree.summary[`build_${which}`].group);
      expect(cdn.patchArchives).toEqual(tree.summary.patch.archives);
    }
    expect(builds.b.cdn.builds).toEqual([tree.summary.configs.build.b, tree.summary.configs.build.a]);
  });

  test('every index is read, and written alike', () => {
    const kinds = new Set<number>();
    for (const kind of ['data', 'patch'] as const) {
      for (const name of tree.names(kind, '.index')) {
        const index = openIndex(kind, name);
        const { offsetBytes } = index.layout;
        kinds.add(offsetBytes);
        const shuffled = Array.from(index).sort((a, b) => a.size - b.size);
        const again = encodeArchiveIndex(shuffled, { offsetBytes });
        expect(again.name).toBe(name);
        expectSame(again.bytes, index.bytes);
      }
    }
    expect([...kinds].sort()).toEqual([0, 4, 6]);
  });

  test('the entries of an archive fill it', () => {
    for (const name of builds.b.cdn.archives) {
      const entries = Array.from(openIndex('data', name)).sort((a, b) => a.offset - b.offset);
      let end = 0;
      for (const entry of entries) {
        expect(entry.offset).toBe(end);
        end += entry.size;
      }
      expect(end).toBe(tree.object('data', name).length);
    }
  });

  test('the group made of the indices has the official name and bytes', () => {
    for (const which of bothBuilds) {
      const { cdn } = builds[which];
      const group = encodeArchiveGroup(cdn.archives.map((name) => openIndex('data', name)));
      expect(group.name).toBe(cdn.archiveGroup);
      expectSame(group.bytes, tree.object('data', `${cdn.archiveGroup}.index`));
      expect(decodeArchiveIndex(group.bytes).count).toBe(tree.summary[`build_${which}`].group_entries);
    }
    const { patchArchives, patchArchiveGroup } = builds.b.cdn;
    expect(encodeArchiveGroup(patchArchives.map((name) => openIndex('patch', name))).name).toBe(patchArchiveGroup);
  });

  test('every file of the truth is found through encoding and group', () => {
    for (const which of bothBuilds) {
      const { config, cdn } = builds[which];
      const encoding = decodeEncoding(tree.decoded(config.encoding.ekey!));
      const group = openIndex('data', cdn.archiveGroup!);
      const fileIndex = openIndex('data', cdn.fileIndex!);
      const truth = tree.truth(which);
      expect(truth.some((row) => row.archive === 'loose') && truth.some((row) => row.ekeys!.includes(','))).toBe(true);
      for (const row of truth) {
        const content = encoding.findCkey(row.ckey!)!;
        expect([content.size, content.ekeys.join(',')]).toEqual([Number(row.size), row.ekeys]);
        const object = encoding.findEkey(content.ekeys[0]!)!;
        expect([encoding.especs[object.especIndex], object.size]).toEqual([row.espec, Number(row.esize)]);
        const [loose, archived] = [fileIndex, group].map((index) => index.find(fromHex(object.ekey.slice(0, 18))));
        const place = archived ?? loose;
        expect(toHex(place!.ekey)).toBe(object.ekey);
        expect(place!.size).toBe(object.size);
        const archive = archived === undefined ? 'loose' : cdn.archives[archived.archive];
        expect([archive, place!.offset]).toEqual([row.archive, Number(row.offset)]);
      }
      expect(encoding.findCkey('00'.repeat(16))).toBeUndefined();
      expect(encoding.findCkey('ff'.repeat(16))).toBeUndefined();
      expect(encoding.findEkey('ff'.repeat(16))).toBeUndefined();
      expect(group.find(new Uint8Array(9).fill(0xff))).toBeUndefined();
    }
  });

  test('encoding files are written alike', () => {
    for (const which of bothBuilds) {
      const bytes = tree.decoded(builds[which].config.encoding.ekey!);
      const encoding = decodeEncoding(bytes);
      const { ckeys, ekeys } = tree.summary[`build_${which}`];
      expect([[...encoding.ckeys].length, [...encoding.ekeys].length]).toEqual([ckeys, ekeys]);
      const content = { ckeys: [...encoding.ckeys].reverse(), ekeys: [...encoding.ekeys], especs: encoding.especs };
      expectSame(encodeEncoding(content), bytes);
    }
  });

  test('install manifests list the files, select them by tags, and are written alike', () => {
    for (const which of bothBuilds) {
      const bytes = tree.decoded(builds[which].config.install!.ekey!);
      const install = decodeInstall(bytes);
      const truth = tree.summary[`build_${which}`].install;
      expect(install.entries.map(({ path, ckey, size }) => [path, ckey, size])).toEqual(
        truth.map((row) => row.slice(0, 3)),
      );
      const selected = selectByTags(install.tags, ['Windows', 'x86_64', 'enUS', 'US'], install.entries.length);
      const wanted = truth.filter(([, , , kind]) => ['w64', 'all', 'us'].includes(kind)).map(([path]) => path);
      expect(install.entries.filter((_, i) => hasTag(selected, i)).map(({ path }) => path)).toEqual(wanted);
      expectSame(encodeInstall(install), bytes);
    }
  });

  test('size manifests say what the indices say, and are written alike', () => {
    const bytes = tree.decoded(builds.b.config.size!.ekey!);
    const sizes = decodeSize(bytes);
    expect(sizes.count).toBe(tree.summary.build_b.download_entries);
    const entries = Array.from({ length: sizes.count }, (_, i) => sizes.entry(i));
    expect(entries.reduce((sum, { size }) => sum + size, 0)).toBe(sizes.total);
    const group = openIndex('data', builds.b.cdn.archiveGroup!);
    const listed = entries.filter(({ ekey }) => group.find(ekey) !== undefined);
    expect(listed.length).toBeGreaterThan(100);
    for (const { ekey, size } of listed) expect(group.find(ekey)!.size).toBe(size);
    expectSame(encodeSize({ entries, count: sizes.count, tags: sizes.tags }), bytes);
  });

  test('the patch config, the product config and the keys are read', () => {
    const patch = decodePatchConfig(tree.object('config', tree.summary.patch.config));
    expect([patch.patch, patch.patchSize]).toEqual(tree.summary.patch.manifest);
    expect(patch.entries.map(({ type }) => type)).toEqual(['encoding', 'install', 'download', 'size']);
    const { ckey, size, ekey, encodedSize } = patch.entries[0]!;
    expect({ ckey, size, ekey, encodedSize }).toEqual(builds.b.config.encoding);
    const product = tree.summary.configs.product_config;
    const productBytes = tree.read('www/tpr/configs/data', product.slice(0, 2), product.slice(2, 4), product);
    const config = decodeProductConfig(productBytes);
    expectSame(encodeProductConfig(config), productBytes);
    expect(config).toMatchObject({ product: 'WoW', dataDir: 'Data/', supportedLocales: ['enUS', 'deDE', 'frFR'] });
    expect(config.decryptionKeyName).toBeUndefined();
    const keys = tree.read('truth/keys.txt');
    expectSame(encodeKeyList(decodeKeyList(keys)), keys);
    const ring = decodeKeyRing(tree.object('config', tree.summary.configs.keyring));
    expect(ring.map(({ key }) => key)).toEqual([decodeKeyList(keys)[0]!.key]);
  });

  test('the tables of the version service are read over HTTP and Ribbit, and written alike', () => {
    for (const path of [
      'products/wow/versions',
      'products/wow/cdns',
      'products/wow/bgdl',
      'products/wow_old/versions',
      'summary',
    ]) {
      const plain = tree.read('www/v2', path);
      expectSame(encodeBpsv(decodeBpsv(plain)), plain);
      const answer = decodeRibbit(tree.read('ribbit/v1', path));
      expect([answer.disposition, new TextDecoder().decode(answer.data)]).toEqual([
        path.split('/').at(-1),
        new TextDecoder().decode(plain),
      ]);
    }
    const versions = decodeBpsv(tree.read('www/wow/versions'));
    expect(versions.seqn).toBe(61_100);
    expect(cell(versions.rows[1]!, 'buildconfig')).toBe(tree.summary.configs.build.b);
    expect(decodeBpsv(tree.read('www/wow/bgdl'))).toMatchObject({ seqn: 1002, rows: [] });
  });
});

describeConformance('download manifests of every version, made by the independent generator', () => {
  test('they list every object by priority, and are written alike', () => {
    for (const [versions, expected] of [
      ['1,2', [1, 2]],
      ['3,3', [3, 3]],
    ] as const) {
      const tree = generateTree('--download-version', versions, '--files', '60', '--total-bytes', '200K');
      try {
        for (const [i, which] of (['a', 'b'] as const).entries()) {
          const truth = tree.summary[`build_${which}`];
          const bytes = tree.decoded(truth.download[1]);
          const download = decodeDownload(bytes);
          expect([download.version, download.basePriority]).toEqual([expected[i], expected[i] === 3 ? 2 : 0]);
          expect([download.flagSize, download.hasChecksum]).toEqual([expected[i]! > 1 ? 1 : 0, false]);
          expect(download.count).toBe(truth.download_entries);
          const entries = Array.from({ length: download.count }, (_, row) => download.entry(row));
          // Manifests, the most urgent, were given priority -2, and every file 2 at most; the base is not to be seen.
          const priorities = entries.map(({ priority }) => priority);
          expect([priorities[0], Math.max(...priorities)]).toEqual([-2, 2]);
          expect(priorities).toEqual([...priorities].sort((a, b) => a - b));
          const encoding = decodeEncoding(tree.decoded(truth.encoding[1]));
          for (const { ekey, size } of entries) expect(encoding.findEkey(ekey)?.size).toBe(size);
          expectSame(encodeDownload({ ...download, entries }), bytes);
        }
      } finally {
        tree.remove();
      }
    }
  }, 60_000);
});
