import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { fromHex, toHex } from '../../src/core/bytes.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { decodeBlte } from '../../src/formats/blte/decode.ts';
import { decodeBlteHeader } from '../../src/formats/blte/header.ts';
import { decodeKeyRing } from '../../src/formats/configs/key-list.ts';
import { decodePatchConfig } from '../../src/formats/configs/patch-config.ts';
import { decodeProductConfig } from '../../src/formats/configs/product-config.ts';
import { encodeArchiveGroup } from '../../src/formats/indices/archive-group.ts';
import { decodeArchiveIndex } from '../../src/formats/indices/archive-index.ts';
import { hasTag, selectByTags, type Tag } from '../../src/formats/manifests/tags.ts';
import { decodePatchManifest } from '../../src/formats/patches/patch-manifest.ts';
import { applyZbsdiff } from '../../src/formats/patches/zbsdiff.ts';
import { type PublishedBuild, type PublishFile, publishBuild } from '../../src/publish/publish-build.ts';
import { randomSource } from '../support/hostile.ts';
import { scratchFolder } from '../support/scratch.ts';
import { readPublished, treeOf } from './published.ts';

const scratch = scratchFolder();

/** Bytes that no deflate makes smaller. */
function noise(size: number, seed = 1): Uint8Array {
  const random = randomSource(seed);
  return Uint8Array.from({ length: size }, () => Math.floor(random() * 256));
}
const text = (what: string): Uint8Array => new TextEncoder().encode(what);
const file = (name: string, bytes: Uint8Array, more: Partial<PublishFile> = {}): PublishFile => ({
  name,
  ...more,
  read: () => bytes,
});

const key = { name: '00112233445566aa', key: 'ffeeddccbbaa99887766554433221100' };
const windows = { name: 'Windows', type: 1 };
const mac = { name: 'OSX', type: 1 };
const contents = {
  noise: noise(600 * 1024),
  words: text('all work and no play '.repeat(30_000)),
  secret: text('nobody shall read this '.repeat(20_000)),
  story: text('once'),
  geschichte: text('einst'),
  shared: text('the same in both languages'),
  program: noise(5000, 2),
  large: noise(900 * 1024, 3),
};
const files = (): PublishFile[] => [
  file('data/noise.bin', contents.noise, { priority: 2 }),
  file('Data/Words.txt', contents.words, { priority: -3 }),
  file('data/secret.txt', contents.secret, { key }),
  file('texts/story.txt', contents.story, { locale: 'enUS' }),
  file('texts/story.txt', contents.geschichte, { locale: 'deDE' }),
  file('texts/shared.txt', contents.shared, { locale: 'enUS', tags: [windows] }),
  file('texts/shared.txt', contents.shared, { locale: 'deDE' }),
  file('bin/game.exe', contents.program, { install: true, tags: [windows] }),
  file('bin/game', contents.program, { install: true, tags: [mac] }),
  file('data/empty', new Uint8Array()),
  file('data/large.bin', contents.large),
  ...Array.from({ length: 300 }, (_, i) => file(`many/${i}.txt`, text(`file ${i}`))),
];
const archiveBytes = 602 * 1024;
const publish = (out: string, more: Partial<Parameters<typeof publishBuild>[0]> = {}): Promise<PublishedBuild> =>
  publishBuild({
    files: files(),
    root: 'wow',
    product: 'sample',
    version: '1.2.3.44',
    buildId: 44,
    out,
    hosts: ['127.0.0.1:8080', 'b'],
    archiveBytes,
    ...more,
  });

describe('a published build, read from `versions` on', () => {
  let made: PublishedBuild;
  let cdn: ReturnType<typeof readPublished>;
  const keys = { find: (name: string) => (name === key.name ? fromHex(key.key) : undefined) };
  const contentOf = (ckey: string): Uint8Array => cdn.decoded(cdn.byCkey(ckey).ekeys[0]!, ckey, keys);
  beforeAll(async () => {
    made = await publish(scratch('cdn'));
    cdn = readPublished(scratch('cdn'), 'sample');
  });

  test('versions and cdns have a row for every region, and the same again where other clients ask', () => {
    expect(cdn.versions).toMatchObject({ seqn: 44 });
    expect(cdn.versions.rows.map((row) => row.Region)).toEqual(['us', 'eu', 'kr', 'tw', 'sg', 'cn']);
    expect(cdn.versions.rows[0]).toEqual({
      Region: 'us',
      BuildConfig: made.buildConfig,
      CDNConfig: made.cdnConfig,
      KeyRing: '',
      BuildId: '44',
      VersionsName: '1.2.3.44',
      ProductConfig: made.productConfig,
    });
    expect(cdn.cdns.rows[1]).toEqual({
      Name: 'eu',
      Path: 'tpr/sample',
      Hosts: '127.0.0.1:8080 b',
      ConfigPath: 'tpr/configs/data',
      Servers: 'http://127.0.0.1:8080/?maxhosts=4 http://b/?maxhosts=4',
    });
    for (const name of ['versions', 'cdns'])
      expect(readFileSync(scratch('cdn', 'v2', 'products', 'sample', name))).toEqual(
        readFileSync(scratch('cdn', 'sample', name)),
      );
  });

  test('configs open with a comment; the product config lies under its own path', () => {
    for (const hash of [made.buildConfig, made.cdnConfig])
      expect(readFileSync(cdn.file('config', hash), 'latin1')).toMatch(/^# /);
    const { productConfig: name } = made;
    const bytes = readFileSync(scratch('cdn/tpr/configs/data', name.slice(0, 2), name.slice(2, 4), name));
    expect(md5Hex(bytes)).toBe(name);
    expect(decodeProductConfig(bytes)).toMatchObject({ product: 'sample', supportedLocales: ['deDE', 'enUS'] });
    expect(cdn.build).toMatchObject({ name: 'SAMPLE-44patch1.2.3.44', uid: 'sample' });
  });

  test.each([
    ['data/noise.bin', undefined, contents.noise],
    ['DATA\\WORDS.TXT', undefined, contents.words],
    ['data/secret.txt', undefined, contents.secret],
    ['texts/story.txt', 0x2, contents.story],
    ['texts/story.txt', 0x20, contents.geschichte],
    ['data/empty', undefined, new Uint8Array()],
    ['data/large.bin', undefined, contents.large],
    ['many/299.txt', undefined, text('file 299')],
  ])('%s (locale %s) leads to its content', (name, locale, content) => {
    const rows = cdn.rowsOf(name).filter((row) => locale === undefined || row.localeFlags === locale);
    expect(rows).toHaveLength(1);
    expect(rows[0]!.localeFlags).toBe(locale ?? 0xffffffff);
    expect(Buffer.compare(contentOf(rows[0]!.ckey), content)).toBe(0);
    expect(cdn.byCkey(rows[0]!.ckey).size).toBe(content.length);
  });

  test('variants share an id, names and ids go together, and files of the install are not in the root', () => {
    expect(cdn.root).toMatchObject({ form: 'tsfm2', total: 309, named: 309, rowCount: 309 });
    const [story, other] = cdn.rowsOf('texts/story.txt');
    expect(story!.fileDataId).toBe(other!.fileDataId);
    expect(made.names.map(({ fileDataId }) => fileDataId)).toEqual(Array.from({ length: 307 }, (_, i) => i + 1));
    for (const { fileDataId, name } of made.names) expect(cdn.rowsOf(name)[0]!.fileDataId).toBe(fileDataId);
    expect(cdn.rowsOf('bin/game')).toEqual([]);
  });

  test('chunks are of 256 KiB, deflated where that helps', () => {
    const shapeOf = (content: Uint8Array) => {
      const { ekeys } = cdn.byCkey(md5Hex(content));
      const { bytes } = cdn.encoded(ekeys[0]!);
      const header = decodeBlteHeader(bytes, bytes.length);
      const chunks = Array.from({ length: header.count }, (_, i) => header.chunk(i));
      const espec = cdn.encoding.especs[cdn.encoding.findEkey(ekeys[0]!)!.especIndex];
      const modes = chunks.map(({ offset }) => String.fromCharCode(bytes[offset]!)).join('');
      return { sizes: chunks.map((chunk) => chunk.decodedSize), modes, espec };
    };
    const whole = 256 * 1024;
    expect(shapeOf(contents.noise)).toEqual({ sizes: [whole, whole, 88 * 1024], modes: 'NNN', espec: 'b:256K*=n' });
    expect(shapeOf(contents.words)).toEqual({ sizes: [whole, whole, 105_712], modes: 'ZZZ', espec: 'b:256K*=z:6' });
    expect(shapeOf(contents.secret)).toEqual({
      sizes: [whole, 197_856],
      modes: 'EE',
      espec: expect.stringMatching(/^b:\{256K\*=e:\{AA66554433221100,[0-9A-F]{8},z:6\}\}$/),
    });
  });

  test('an encrypted file needs its key, is marked in the root, and does not show its content', () => {
    const [row] = cdn.rowsOf('data/secret.txt');
    const ekey = cdn.byCkey(row!.ckey).ekeys[0]!;
    expect(row!.contentFlags).toBe(0x8000000);
    expect(() => cdn.decoded(ekey, row!.ckey)).toThrow(/encrypted with key 00112233445566aa/);
    expect(Buffer.from(cdn.encoded(ekey).bytes).includes('nobody')).toBe(false);
  });

  test('archives are whole, within their limit, and what exceeds it lies loose; the group has the name that is stated', () => {
    let total = 0;
    for (const index of cdn.indices) {
      const size = statSync(cdn.file('data', index.name)).size;
      expect(size).toBeLessThanOrEqual(archiveBytes);
      expect([...index].reduce((sum, entry) => sum + entry.size, 0)).toBe(size);
      total += size;
    }
    for (const entry of cdn.fileIndex) total += entry.size;
    const entries = cdn.indices.reduce((sum, index) => sum + index.count, cdn.fileIndex.count);
    expect(entries).toBe(made.objects);
    expect(made).toMatchObject({ archives: 2, looseObjects: 6, objectBytes: total });
    expect(cdn.cdn.archiveIndexSizes).toEqual(cdn.indices.map((index) => index.bytes.length));
    expect(cdn.cdn.fileIndexSize).toBe(cdn.fileIndex.bytes.length);
    expect(cdn.encoded(cdn.byCkey(md5Hex(contents.large)).ekeys[0]!).archive).toBeUndefined();
    expect(cdn.cdn.archiveGroup).toBe(encodeArchiveGroup(cdn.indices).name);
  });

  test('the encoding file lists every object once, and its first page starts where all readers look', () => {
    const ekeys = [...cdn.encoding.ekeys];
    expect(ekeys).toHaveLength(made.objects - 1);
    expect(cdn.encoding.layout.ckeyPagesOffset).toBeGreaterThanOrEqual(4096);
    expect(cdn.encoding.ownEspec).toMatch(/^b:\{/);
    for (const { ekey, size } of ekeys) expect(cdn.encoded(ekey).bytes.length).toBe(size);
  });

  test('the install manifest has paths, sizes and tags', () => {
    expect(cdn.install.entries.map(({ path, size }) => [path, size])).toEqual([
      ['bin\\game.exe', 5000],
      ['bin\\game', 5000],
    ]);
    const chosen = (...names: string[]) => {
      const mask = selectByTags(cdn.install.tags, names, 2);
      return cdn.install.entries.filter((_, i) => hasTag(mask, i)).map((entry) => entry.path);
    };
    expect(chosen('Windows')).toEqual(['bin\\game.exe']);
    expect(chosen('OSX')).toEqual(['bin\\game']);
    expect(Buffer.compare(contentOf(cdn.install.entries[0]!.ckey), contents.program)).toBe(0);
  });

  describe('the download manifest', () => {
    const tagsOf = (tags: readonly Tag[], i: number) =>
      tags.filter((tag) => hasTag(tag.mask, i)).map((tag) => tag.name);
    const find = (content: Uint8Array) => {
      const ekey = cdn.byCkey(md5Hex(content)).ekeys[0];
      const rows = Array.from({ length: cdn.download.count }, (_, i) => i);
      const found = rows.filter((i) => toHex(cdn.download.entry(i).ekey) === ekey);
      expect(found).toHaveLength(1);
      return { ...cdn.download.entry(found[0]!), tags: tagsOf(cdn.download.tags, found[0]!) };
    };

    test('goes by priority, root and install first', () => {
      const priorities = Array.from({ length: cdn.download.count }, (_, i) => cdn.download.entry(i).priority);
      expect(priorities).toEqual([...priorities].sort((a, b) => a - b));
      expect(priorities.slice(0, 3)).toEqual([-128, -128, -3]);
      expect(find(contents.noise)).toMatchObject({ priority: 2, size: contents.noise.length + 36 + 48 + 3 });
    });

    test('tags say who needs an object, of each type all where it is for everyone; one that two files share is for both', () => {
      expect(cdn.download.tags.map(({ name, type }) => [name, type])).toEqual([
        ['OSX', 1],
        ['Windows', 1],
        ['deDE', 3],
        ['enUS', 3],
      ]);
      expect(find(contents.story).tags).toEqual(['OSX', 'Windows', 'enUS']);
      // One of the two that share it is for every platform, so it is.
      expect(find(contents.shared).tags).toEqual(['OSX', 'Windows', 'deDE', 'enUS']);
      expect(find(contents.program).tags).toEqual(['OSX', 'Windows', 'deDE', 'enUS']);
      expect(find(contents.words).tags).toEqual(['OSX', 'Windows', 'deDE', 'enUS']);
    });

    test('every manifest has every tag', () => {
      const names = ['OSX', 'Windows', 'deDE', 'enUS'];
      for (const { tags } of [cdn.install, cdn.size]) expect(tags.map((tag) => tag.name)).toEqual(names);
    });

    test('the size manifest lists the same objects', () => {
      expect(cdn.size.count).toBe(cdn.download.count);
      let total = 0;
      for (let i = 0; i < cdn.size.count; i++) {
        const { ekey, size } = cdn.download.entry(i);
        expect(cdn.size.entry(i)).toEqual({ ekey: ekey.slice(0, 9), size });
        total += size;
      }
      expect(cdn.size.total).toBe(total);
      expect(cdn.size.tags).toEqual(cdn.download.tags);
    });
  });
});

describe('publishing', () => {
  test('gives the same bytes each time', async () => {
    const other = readdirSync(scratch()).length;
    await publish(scratch(`again-${other}`));
    expect(treeOf(scratch(`again-${other}`))).toEqual(treeOf(scratch('cdn')));
  });

  test('a second build takes the place of the first in `versions`; the objects of both stay', async () => {
    const out = scratch('two');
    const first = await publish(out);
    const before = treeOf(out);
    const second = await publish(out, { files: files().slice(1), version: '1.2.4.45', buildId: 45 });
    const after = treeOf(out);
    expect(readPublished(out, 'sample').versions).toMatchObject({
      seqn: 45,
      rows: [{ BuildId: '45' }, {}, {}, {}, {}, {}],
    });
    expect(second.buildConfig).not.toBe(first.buildConfig);
    const changed = Object.keys(before).filter((path) => after[path] !== before[path]);
    expect(changed.every((path) => /(versions|cdns|summary)$/.test(path))).toBe(true);
  });

  test('a further build shares what the one before has, and lists its archives and loose objects', async () => {
    const out = scratch('shared');
    const first = await publish(out);
    const old = readPublished(out, 'sample');
    const size = (): number => Object.keys(treeOf(out)).filter((path) => path.includes('/data/')).length;
    const before = size();
    const changed = { version: '1.2.4.45', buildId: 45, files: [...files(), file('data/added.txt', text('added'))] };
    await publish(out, changed);
    // An archive with its index, the file index, and manifests: all but the install manifest, which is as it was.
    expect(size() - before).toBe(7);
    const cdn = readPublished(out, 'sample');
    expect(cdn.cdn.archives).toEqual(expect.arrayContaining([...old.cdn.archives]));
    const [added] = cdn.indices.filter(({ name }) => !old.cdn.archives.includes(name!));
    expect([...added!].map(({ ekey }) => toHex(ekey))).toEqual(cdn.byCkey(md5Hex(text('added'))).ekeys);
    expect(cdn.cdn.builds).toEqual([cdn.versions.rows[0]!.BuildConfig, first.buildConfig]);
    for (const content of [contents.noise, contents.large, text('added')]) {
      const { ckey, ekeys } = cdn.byCkey(md5Hex(content));
      expect(Buffer.compare(cdn.decoded(ekeys[0]!, ckey), content)).toBe(0);
    }
    expect(cdn.cdn.archiveGroup).toBe(encodeArchiveGroup(cdn.indices).name);
  });

  test('a file whose content before is told has a patch from it, unless it is encrypted', async () => {
    const out = scratch('patched');
    await publish(out);
    const longer = (bytes: Uint8Array): Uint8Array => new Uint8Array(Buffer.concat([text('new: '), bytes]));
    const changed = [
      file('data/noise.bin', longer(contents.noise), { readPrevious: () => contents.noise }),
      file('data/secret.txt', longer(contents.secret), { key, readPrevious: () => contents.secret }),
      file('data/large.bin', contents.large, { readPrevious: () => contents.large }),
      file('data/never.bin', longer(contents.large), { readPrevious: () => noise(70_000, 9) }),
    ];
    await publish(out, { version: '1.2.4.45', buildId: 45, files: changed });
    const { build, cdn, file: at, byCkey, config, encoded } = readPublished(out, 'sample');
    const patchConfig = decodePatchConfig(config(build.patchConfig!));
    expect([patchConfig.patch, patchConfig.patchSize]).toEqual([build.patch!.ckey, build.patch!.size]);
    const manifest = decodePatchManifest(readFileSync(at('patch', build.patch!.ckey)));
    expect(manifest.key).toBe(build.patch!.ckey);
    const [patched, ...others] = [...manifest.files];
    expect(others).toEqual([]);
    expect(toHex(patched!.targetCkey)).toBe(md5Hex(longer(contents.noise)));
    const { sourceEkey, patchEkey, patchSize } = patched!.patches[0]!;
    expect(md5Hex(decodeBlte(encoded(toHex(sourceEkey)).bytes, {}))).toBe(md5Hex(contents.noise));
    const archive = cdn.patchArchives[0]!;
    const entry = decodeArchiveIndex(readFileSync(`${at('patch', archive)}.index`), archive).find(patchEkey)!;
    const patch = readFileSync(at('patch', archive)).subarray(entry.offset, entry.offset + patchSize);
    const made = applyZbsdiff(contents.noise, patch, { maxSize: 1 << 20 });
    expect(Buffer.compare(made, longer(contents.noise))).toBe(0);
    expect(byCkey(md5Hex(longer(contents.secret)))).toBeDefined();
  });

  test('a key ring goes with the product', async () => {
    const out = scratch('ring');
    await publish(out, { keyRing: [key] });
    const { versions, config } = readPublished(out, 'sample');
    expect(decodeKeyRing(config(versions.rows[0]!.KeyRing!))).toEqual([key]);
  });

  test('ids that files bring along are kept, the others come behind them', async () => {
    const out = scratch('ids');
    const given = [
      file('a', text('a')),
      file('z', text('z'), { fileDataId: 500 }),
      file('b', text('b'), { locale: 'enUS' }),
      file('B', text('c'), { locale: 'deDE' }),
    ];
    const { names } = await publish(out, { files: given });
    expect(names.map(({ fileDataId }) => fileDataId)).toEqual([500, 501, 502]);
    const cdn = readPublished(out, 'sample');
    expect(cdn.rowsOf('b').map((row) => row.fileDataId)).toEqual([502, 502]);
  });

  test('a variant for a locale goes before a file for all', async () => {
    const out = scratch('variants');
    await publish(out, { files: [file('a', text('for all')), file('a', text('for deDE'), { locale: 'deDE' })] });
    expect(
      readPublished(out, 'sample')
        .rowsOf('a')
        .map((row) => row.localeFlags),
    ).toEqual([0x20, 0xffffffff]);
  });

  test('many archives are listed by name, and the group is made in that order', async () => {
    const out = scratch('many');
    const { archives } = await publish(out, { archiveBytes: 500 });
    const { cdn, indices } = readPublished(out, 'sample');
    expect(archives).toBeGreaterThan(20);
    expect(cdn.archives).toEqual([...cdn.archives].sort());
    expect(cdn.archiveGroup).toBe(encodeArchiveGroup(indices).name);
  });

  test('one content with and without a key has two encodings', async () => {
    const out = scratch('both');
    await publish(out, { files: [file('open', contents.secret), file('locked', contents.secret, { key })] });
    const cdn = readPublished(out, 'sample');
    expect(cdn.byCkey(md5Hex(contents.secret)).ekeys).toHaveLength(2);
  });

  test('files are read one after the other, each once', async () => {
    let reading = 0;
    const reads: string[] = [];
    const slow = (name: string): PublishFile => ({
      name,
      async read() {
        reading += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
        reads.push(`${name} ${reading}`);
        reading -= 1;
        return text(name);
      },
    });
    await publish(scratch('slow'), { files: ['a', 'b', 'c'].map(slow) });
    expect(reads).toEqual(['a 1', 'b 1', 'c 1']);
  });

  test.each([
    [
      'a name twice, in another case',
      { files: [file('a/b', text('1')), file('A\\B', text('2'))] },
      /"A\\\\B" cannot be published: it comes twice/,
    ],
    ['no files', { files: [] }, /no files/],
    ['a name with a NUL', { files: [file('a\0', text('1'))] }, /NUL/],
    ['a priority that does not fit', { files: [file('a', text('1'), { priority: 128 })] }, /priority 128/],
    ['a locale that is none', { files: [file('a', text('1'), { locale: 'xxXX' })] }, /no locale "xxXX"/],
    ['a product that leads elsewhere', { product: '../wow' }, /"..\/wow" cannot be/],
    ['a version of two words', { version: '1.0 beta' }, /"1.0 beta" cannot be/],
    ['a path that leads out', { cdnPath: 'tpr/../..' }, /cannot be/],
    ['archives that readers cannot address', { archiveBytes: 2 ** 28 }, /archives of 268435456/],
  ])('refuses %s, and brings nothing to life', async (_, more, message) => {
    const out = scratch('refused');
    await expect(publish(out, more)).rejects.toMatchObject({
      code: 'E_USAGE',
      message: expect.stringMatching(message),
    });
    expect(existsSync(join(out, 'sample'))).toBe(false);
    expect(existsSync(out) ? Object.keys(treeOf(out)).filter((path) => path.endsWith('.tmp')) : []).toEqual([]);
  });

  test('a file that cannot be read, or an interruption: nothing comes to life and no archive is left open', async () => {
    const out = scratch('broken');
    const broken: PublishFile = { name: 'z', read: () => Promise.reject(new Error('gone')) };
    await expect(publish(out, { files: [file('a', text('1')), broken] })).rejects.toThrow('gone');
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(publish(out, { signal })).rejects.toMatchObject({ code: 'E_ABORTED' });
    expect(treeOf(out)).toEqual({});
    const late = new AbortController();
    const onStep = (step: string): void => void (step === 'manifests' && late.abort());
    await expect(publish(out, { signal: late.signal, onStep })).rejects.toMatchObject({ code: 'E_ABORTED' });
    expect(Object.keys(treeOf(out)).filter((path) => !/\/data\/../.test(path))).toEqual([]);
  });
});

test('an index that was changed is noticed: the reading above means something', async () => {
  const out = scratch('cdn');
  const { cdn } = readPublished(out, 'sample');
  const hash = cdn.archives[0]!;
  const bytes = readFileSync(join(out, 'tpr/sample/data', hash.slice(0, 2), hash.slice(2, 4), `${hash}.index`));
  bytes[20]! ^= 1;
  expect(() => decodeArchiveIndex(bytes, hash)).toThrow();
});
