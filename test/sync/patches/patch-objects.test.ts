import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { toHex } from '../../../src/core/bytes.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { decodeArchiveIndex } from '../../../src/formats/indices/archive-index.ts';
import { syncPatches } from '../../../src/sync/patches/patch-objects.ts';
import { syncBuild } from '../../../src/sync/sync-build.ts';
import type { LyingServer } from '../../support/lying-server.ts';
import { scratchFolder } from '../../support/scratch.ts';
import {
  expectRightStore,
  type GeneratedCdn,
  generateCdn,
  hostOf,
  type OpenedBuild,
  openGenerated,
} from '../generated-build.ts';

const scratch = scratchFolder();

describe('the patches of a build', () => {
  let cdn: GeneratedCdn;
  let servers: LyingServer[];
  let at: OpenedBuild;
  let number = 0;

  beforeAll(() => {
    cdn = generateCdn('--patches', '60');
  });
  beforeEach(async () => {
    servers = [await hostOf(cdn), await hostOf(cdn)];
    number += 1;
    at = await openGenerated({ root: scratch(`store${number}`), cdn, build: 'b', servers });
    for (const server of servers) server.asked.length = 0;
  });
  afterEach(async () => {
    await at.close();
    await Promise.all(servers.map((server) => server.close()));
  });

  const path = (hash: string, suffix = ''): string =>
    `tpr/wow/patch/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}${suffix}`;
  const indexOf = (hash: string) => decodeArchiveIndex(cdn.objects.get(path(hash, '.index'))!, hash);
  const archive = (): string => at.build.cdnConfig.patchArchives[0]!;
  const loose = (): string[] => [...indexOf(at.build.cdnConfig.patchFileIndex!)].map(({ ekey }) => toHex(ekey));

  test('come all, in archives and loose, with what describes them; a second time nothing is fetched', async () => {
    expect(await syncPatches(at.fetcher, at.build)).toEqual([]);
    const { ledger } = at.store;
    expect(indexOf(archive()).count).toBeGreaterThan(0);
    for (const { offset, size } of indexOf(archive())) {
      expect(ledger.spans(path(archive())).some(({ start, end }) => start <= offset && end >= offset + size)).toBe(
        true,
      );
    }
    expect(loose().length).toBeGreaterThan(0);
    for (const hash of loose()) expect(ledger.completeSize(path(hash))).toBe(cdn.objects.get(path(hash))!.length);
    const { patch, patchConfig } = at.build.config;
    expect(ledger.completeSize(path(patch!.ckey))).toBeDefined();
    const product = cdn.identity('b').productConfig!;
    for (const name of [
      `tpr/wow/config/${patchConfig!.slice(0, 2)}/${patchConfig!.slice(2, 4)}/${patchConfig}`,
      `tpr/configs/data/${product.slice(0, 2)}/${product.slice(2, 4)}/${product}`,
    ]) {
      expect(ledger.completeSize(name)).toBe(cdn.objects.get(name)!.length);
    }
    expectRightStore(at.store, cdn);
    const asked = at.traffic.requests;
    expect(await syncPatches(at.fetcher, at.build)).toEqual([]);
    expect(at.traffic.requests).toBe(asked);
  });

  test('a patch with a wrong byte is asked of another host, and never held wrong', async () => {
    servers[0]!.lie = ({ path: asked }) =>
      asked.includes('/patch/') && !asked.endsWith('.index') ? { kind: 'flip', offset: 5 } : undefined;
    expect(await syncPatches(at.fetcher, at.build)).toEqual([]);
    expectRightStore(at.store, cdn);
  });

  test('what no host has is told by name, and the others come', async () => {
    const gone = loose()[0]!;
    for (const server of servers) {
      server.lie = ({ path: asked }) =>
        asked === path(gone) || asked === path(archive(), '.index') ? { kind: 'status', status: 404 } : undefined;
    }
    const failures = await syncPatches(at.fetcher, at.build);
    expect(failures.map((failure) => failure.path).toSorted()).toEqual(
      [path(gone), path(archive(), '.index')].toSorted(),
    );
    expect(failures.every(({ code }) => code === 'E_NOT_FOUND')).toBe(true);
    for (const hash of loose().slice(1)) expect(at.store.ledger.completeSize(path(hash))).toBeDefined();
    expect(at.store.ledger.completeSize(path(gone))).toBeUndefined();
  });

  test('a patch manifest that is another is not taken', async () => {
    const { ckey } = at.build.config.patch!;
    for (const server of servers) server.objects.set(path(ckey), new Uint8Array(3000).fill(0x50));
    const failures = await syncPatches(at.fetcher, at.build);
    expect(failures.map((failure) => failure.path)).toEqual([path(ckey)]);
    expect(at.store.ledger.completeSize(path(ckey))).toBeUndefined();
  });

  test('a sync of everything leaves a mirror: every object of the build as the CDN has it', async () => {
    const result = await syncBuild(at.fetcher, at.build, { tags: [], include: [], all: true });
    expect(result).toMatchObject({ missing: { entries: 0, bytes: 0 }, failures: [] });
    expectRightStore(at.store, cdn);
    const { archives, patchArchives, fileIndex, patchFileIndex } = at.build.cdnConfig;
    for (const hash of archives) {
      const name = path(hash).replace('/patch/', '/data/');
      const index = decodeArchiveIndex(cdn.objects.get(`${name}.index`)!, hash);
      const spans = at.store.ledger.spans(name);
      for (const { offset, size } of index) {
        expect(spans.some(({ start, end }) => start <= offset && end >= offset + size)).toBe(true);
      }
      expect(at.store.ledger.completeSize(`${name}.index`)).toBe(cdn.objects.get(`${name}.index`)!.length);
    }
    for (const hash of [...patchArchives, patchFileIndex!])
      expect(at.store.ledger.completeSize(path(hash, '.index'))).toBeDefined();
    const looseData = decodeArchiveIndex(
      cdn.objects.get(path(fileIndex!, '.index').replace('/patch/', '/data/'))!,
      fileIndex,
    );
    for (const { ekey } of looseData) {
      const name = path(toHex(ekey)).replace('/patch/', '/data/');
      expect(at.store.ledger.completeSize(name)).toBe(cdn.objects.get(name)!.length);
    }
    expect(md5Hex(cdn.objects.get(path(loose()[0]!))!)).toBe(loose()[0]);
  });
});
