import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Build } from '../../src/builds/build.ts';
import { PakratError } from '../../src/core/errors.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { decodeBlte } from '../../src/formats/blte/decode.ts';
import { decodeBuildConfig } from '../../src/formats/configs/build-config.ts';
import { decodeCdnConfig } from '../../src/formats/configs/cdn-config.ts';
import { decodeEncoding } from '../../src/formats/manifests/encoding/decode.ts';
import { encodeWith } from '../../src/publish/encode/encode-content.ts';
import { buildSource } from '../../src/sources/build-source.ts';
import { type ExtractResult, extractFiles } from '../../src/sources/extract/extract.ts';
import { objectPath } from '../../src/store/layout.ts';
import { type SyncResult, syncBuild } from '../../src/sync/sync-build.ts';
import { scratchFolder } from '../support/scratch.ts';
import { hasGenerator } from '../support/synthetic-cdn.ts';
import { expectRightStore, type GeneratedCdn, generateCdn, hostOf, openGenerated } from './generated-build.ts';

/* A build of which no host has some part, or that was published with a wrong one: everything else works. */

const scratch = scratchFolder();
const path = (kind: 'data' | 'config', hash: string, suffix: '' | '.index' = ''): string =>
  objectPath({ cdnPath: 'tpr/wow', kind, hash, suffix });

let common: GeneratedCdn;
let number = 0;
let whole: { sync: SyncResult; extracted: ExtractResult; listed: number };

beforeAll(async () => {
  common = generateCdn();
  whole = await use(common);
});

const copyOf = (cdn: GeneratedCdn): GeneratedCdn => ({ ...cdn, objects: new Map(cdn.objects) });
const configOf = (cdn: GeneratedCdn) =>
  decodeBuildConfig(cdn.objects.get(path('config', cdn.identity('a').buildConfig))!);
const cdnConfigOf = (cdn: GeneratedCdn) =>
  decodeCdnConfig(cdn.objects.get(path('config', cdn.identity('a').cdnConfig))!);

/** Syncs a build, then lists and extracts all of it without a network. */
async function use(cdn: GeneratedCdn): Promise<{ sync: SyncResult; extracted: ExtractResult; listed: number }> {
  number += 1;
  const root = scratch(`store${number}`);
  const server = await hostOf(cdn);
  const online = await openGenerated({ root, cdn, build: 'a', servers: [server] });
  const sync = await syncBuild(online.fetcher, online.build, { tags: [], include: [], all: false });
  expectRightStore(online.store, cdn);
  await online.close();
  await server.close();
  const { build, close } = await openGenerated({ root, cdn, build: 'a', servers: [] });
  const source = buildSource(build, { locale: 'enUS' });
  let listed = 0;
  for await (const _ of source.list(() => true)) listed += 1;
  const extracted = await extractFiles(source, { names: [], to: scratch(`files${number}`) });
  await close();
  return { sync, extracted, listed };
}

test('all of it is there: nothing fails, nothing is missing', () => {
  expect(whole.sync).toMatchObject({ missing: { entries: 0 }, failures: [] });
  expect(whole.extracted.files).toBeGreaterThan(100);
});

describe('no host has', () => {
  test('the index of the loose files: they are found by the encoding file, and the sync says what lacks', async () => {
    const cdn = copyOf(common);
    const { fileIndex } = cdnConfigOf(cdn);
    cdn.objects.delete(path('data', fileIndex!, '.index'));
    const { sync, extracted, listed } = await use(cdn);
    expect(sync.missing.entries).toBe(0);
    expect(sync.failures).toMatchObject([{ path: path('data', fileIndex!, '.index') }]);
    expect({ extracted, listed }).toEqual({ extracted: whole.extracted, listed: whole.listed });
  });

  test('the install manifest: every other file is extracted', async () => {
    const cdn = copyOf(common);
    const { install } = configOf(cdn);
    cdn.objects.delete(path('data', install!.ekey!));
    const { sync, extracted, listed } = await use(cdn);
    expect(sync.missing.entries).toBe(1);
    expect(extracted.failed).toEqual(whole.extracted.failed);
    expect(whole.listed - listed).toBeGreaterThan(0);
    expect(listed).toBeGreaterThan(whole.listed / 2);
  });

  test('the index of an archive: what lies in the others is extracted', async () => {
    const cdn = copyOf(common);
    const { archives } = cdnConfigOf(cdn);
    cdn.objects.delete(path('data', archives[0]!, '.index'));
    const { sync, extracted, listed } = await use(cdn);
    expect(sync.failures.map((failure) => failure.path)).toContain(path('data', archives[0]!, '.index'));
    expect(sync.missing.entries).toBeGreaterThan(0);
    expect(extracted.files).toBeGreaterThan(0);
    expect(listed).toBe(whole.listed);
  });
});

describe('what lists files or places', () => {
  const selection = { tags: [], include: [], all: false };
  const indexOf = (hash: string): string => path('data', hash, '.index');
  const rootOf = ({ config, encoding }: Build): string => path('data', encoding.findCkey(config.root!.ckey)!.ekeys[0]!);
  const parts: [what: string, layout: string, find: (build: Build) => string, remark: RegExp][] = [
    ['the index of an archive', 'wow', ({ cdnConfig }) => indexOf(cdnConfig.archives[0]!), /1 archive index cannot/],
    ['the index of the loose files', 'wow', ({ cdnConfig }) => indexOf(cdnConfig.fileIndex!), /loose files cannot/],
    ['the install manifest', 'wow', ({ config }) => path('data', config.install!.ekey!), /install manifest cannot/],
    ['the download manifest', 'wow', ({ config }) => path('data', config.download!.ekey!), /download manifest cannot/],
    ['the root', 'wow', rootOf, /its root .* cannot/],
    ['the vfs-root', 'tvfs', ({ config }) => path('data', config.vfsRoot!.ekey!), /its vfs-root .* cannot/],
  ];
  // In trees of our own a TVFS has none.
  if (hasGenerator)
    parts.push([
      'a nested manifest',
      'tvfs',
      ({ config }) => path('data', config.vfs[1]!.ekey!),
      /its manifest .* cannot/,
    ]);
  const cdns = new Map<string, { cdn: GeneratedCdn; wanted: number; names: number; lost: Map<string, string> }>();

  test.each(['E_FORMAT_RANGE', 'E_UNSUPPORTED', 'E_KEY_MISSING'] as const)(
    'names that nobody here can read (%s) are told, and all comes',
    async (code) => {
      const { cdn, wanted } = cdns.get('wow')!;
      const server = await hostOf(cdn);
      const notes: string[] = [];
      const onNote = (text: string): unknown => notes.push(text);
      const at = await openGenerated({ root: scratch(code), cdn, build: 'a', servers: [server], onNote });
      at.build.root = async () => {
        throw new PakratError(code, 'a form of tomorrow');
      };
      const { held, failures } = await syncBuild(at.fetcher, at.build, selection);
      expect({ held: held.entries, failures }).toEqual({ held: wanted, failures: [] });
      expect(notes).toEqual([expect.stringContaining('a form of tomorrow')]);
      await at.close();
      await server.close();
    },
  );

  async function countNames(build: Build): Promise<number> {
    let count = 0;
    for await (const _ of buildSource(build, { locale: 'enUS' }).list(() => true)) count += 1;
    return count;
  }

  beforeAll(async () => {
    for (const layout of ['wow', 'tvfs']) {
      const cdn = generateCdn('--layout', layout, '--loose-meta', '1');
      const server = await hostOf(cdn);
      const at = await openGenerated({ root: scratch(`whole-${layout}`), cdn, build: 'a', servers: [server] });
      const { wanted, missing } = await syncBuild(at.fetcher, at.build, selection);
      expect(missing.entries).toBe(0);
      const own = parts.filter((part) => part[1] === layout);
      const lost = new Map(own.map(([what, , find]) => [what, find(at.build)]));
      cdns.set(layout, { cdn, wanted: wanted.entries, names: await countNames(at.build), lost });
      await at.close();
      await server.close();
    }
  });

  test.each(
    parts.flatMap(([what, layout, , remark]) => ['absent', 'wrong'].map((how) => [what, how, layout, remark] as const)),
  )(
    '%s, %s on each host: all else comes, that is told, and the rest comes once a host has it right',
    async (what, how, layout, remark) => {
      const { cdn, wanted, names, lost } = cdns.get(layout)!;
      const hidden = lost.get(what)!;
      const server = await hostOf(cdn);
      const notes: string[] = [];
      const onNote = (text: string): unknown => notes.push(text);
      const root = scratch(`${what} ${how}`);
      const open = async (servers = [server]) => openGenerated({ root, cdn, build: 'a', servers, onNote });
      const right = server.objects.get(hidden)!;
      const wrong = right.with(right.length >> 1, right[right.length >> 1]! ^ 1);
      if (how === 'absent') server.objects.delete(hidden);
      else server.objects.set(hidden, wrong);
      for (let run = 0; run < 2; run++) {
        const at = await open();
        const { missing, failures } = await syncBuild(at.fetcher, at.build, selection);
        expect(failures.map((failure) => failure.path)).toContain(hidden);
        if (hidden.endsWith('.index')) expect(missing.entries).toBeLessThan(wanted / 2);
        else expect(missing.entries).toBe(1);
        const listed = await countNames(at.build);
        expect(listed).toBeGreaterThan(0);
        expectRightStore(at.store, cdn);
        await at.close();
        // Only of the list of names itself it is told that it is not held.
        if (/root/.test(what)) continue;
        const offline = await open([]);
        expect(await countNames(offline.build)).toBe(listed);
        await offline.close();
      }
      expect(notes).toContainEqual(expect.stringMatching(remark));
      server.objects.set(hidden, right);
      const at = await open();
      expect(await syncBuild(at.fetcher, at.build, selection)).toMatchObject({ missing: { entries: 0 }, failures: [] });
      expect(await countNames(at.build)).toBe(names);
      await at.close();
      await server.close();
    },
  );
});

describe('an encoding file with a page whose hash is stale', () => {
  /** The build, published with another encoding file. */
  function withEncoding(
    change: (bytes: Uint8Array, layout: ReturnType<typeof decodeEncoding>['layout']) => void,
  ): GeneratedCdn {
    const cdn = copyOf(common);
    const identity = cdn.identity('a');
    const { encoding } = configOf(cdn);
    const bytes = decodeBlte(cdn.objects.get(path('data', encoding.ekey!))!).slice();
    const { layout, ownEspec } = decodeEncoding(bytes);
    change(bytes, layout);
    const made = encodeWith(bytes, ownEspec);
    cdn.objects.set(path('data', made.ekey), made.bytes);
    const text = new TextDecoder()
      .decode(cdn.objects.get(path('config', identity.buildConfig)))
      .replace(/^encoding = .*$/m, `encoding = ${made.ckey} ${made.ekey}`)
      .replace(/^encoding-size = .*$/m, `encoding-size = ${bytes.length} ${made.bytes.length}`);
    const config = new TextEncoder().encode(text);
    const buildConfig = md5Hex(config);
    cdn.objects.set(path('config', buildConfig), config);
    return { ...cdn, identity: () => ({ ...identity, buildConfig }) };
  }

  test('of contents: they alone are lost, by name, and the sync says so', async () => {
    const cdn = withEncoding((bytes, { ckeyTableOffset }) => {
      bytes[ckeyTableOffset + 20]! ^= 1;
    });
    const { sync, extracted, listed } = await use(cdn);
    expect(listed).toBe(whole.listed);
    expect(extracted.failed.length).toBeGreaterThan(whole.extracted.failed.length);
    expect(extracted.files + extracted.failed.length).toBe(whole.extracted.files + whole.extracted.failed.length);
    expect(extracted.files).toBeGreaterThan(0);
    expect(extracted.failed.map(({ code }) => code)).toContain('E_INTEGRITY');
    expect(sync.failures).toMatchObject([{ message: expect.stringContaining('encoding page from') }]);
  });

  test('of entries: what the download manifest lists of them is still synced, and the sync says so', async () => {
    const cdn = withEncoding((bytes, { ekeyTableOffset }) => {
      bytes[ekeyTableOffset + 20]! ^= 1;
    });
    const { sync, extracted } = await use(cdn);
    expect(sync.failures).toMatchObject([{ message: expect.stringContaining('encoding page from') }]);
    expect(extracted.files).toBe(whole.extracted.files);
  });
});
