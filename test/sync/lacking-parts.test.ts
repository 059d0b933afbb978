import { beforeAll, describe, expect, test } from '@jest/globals';
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
