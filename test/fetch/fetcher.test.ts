import * as fs from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { EntryPlace } from '../../src/builds/objects.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { Fetcher } from '../../src/fetch/fetcher.ts';
import { isHeld } from '../../src/fetch/held-spans.ts';
import { type ObjectName, objectPath } from '../../src/store/layout.ts';
import { always, type LyingServer } from '../support/lying-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import {
  expectRightStore,
  type GeneratedCdn,
  generateCdn,
  hostOf,
  type OpenedBuild,
  type OpenOptions,
  openGenerated,
} from '../sync/generated-build.ts';

const scratch = scratchFolder();
let number = 0;
let root: string;

beforeEach(() => {
  number += 1;
  root = scratch(`store${number}`);
});

describe('the objects of a build', () => {
  let cdn: GeneratedCdn;
  let servers: LyingServer[];
  let at: OpenedBuild;

  beforeAll(() => {
    cdn = generateCdn();
  });
  beforeEach(async () => {
    servers = [await hostOf(cdn), await hostOf(cdn)];
    at = await openGenerated({ root, cdn, build: 'a', servers });
    for (const server of servers) server.asked.length = 0;
  });
  afterEach(async () => {
    await at.close();
    await Promise.all(servers.map((server) => server.close()));
  });
  const asked = (): string[] => servers.flatMap((server) => server.asked.map(({ path }) => path));
  async function reopen(more: Partial<OpenOptions>): Promise<void> {
    await at.close();
    at = await openGenerated({ root, cdn, build: 'a', servers, ...more });
  }
  const rows = () => cdn.truth('a').filter(({ ekeys }) => at.build.locate(ekeys!.split(',')[0]!) !== undefined);
  const placeOf = (ekeys: string): EntryPlace => at.build.locate(ekeys.split(',')[0]!)!;
  const loosePlace = (): EntryPlace =>
    rows()
      .map(({ ekeys }) => placeOf(ekeys!))
      .find(({ loose }) => loose)!;
  const archived = (): EntryPlace[] =>
    rows()
      .map(({ ekeys }) => placeOf(ekeys!))
      .filter(({ loose }) => !loose);
  const configName = (): ObjectName => ({ cdnPath: 'tpr/wow', kind: 'config', hash: cdn.identity('b').buildConfig });

  describe('a config', () => {
    test('is fetched once, checked by its name, and then held', async () => {
      const bytes = await at.build.objects.config(configName());
      expect(md5Hex(bytes)).toBe(configName().hash);
      expect(asked()).toHaveLength(1);
      expect(await at.build.objects.config(configName())).toEqual(bytes);
      expect(asked()).toHaveLength(1);
      expectRightStore(at.store, cdn);
    });

    test('with a wrong byte is the host’s fault; wrong everywhere it is not held', async () => {
      servers[0]!.lie = always({ kind: 'flip', offset: 10 });
      for (let i = 0; i < 4; i++) {
        expect(md5Hex(await at.build.objects.config(configName()))).toBe(configName().hash);
        at.store.ledger.removeObject(objectPath(configName()));
        fs.rmSync(at.store.file(objectPath(configName())));
      }
      servers[1]!.lie = always({ kind: 'flip', offset: 11 });
      await expect(at.build.objects.config(configName())).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED' });
      expect(at.store.readObject(configName())).toBeUndefined();
      expectRightStore(at.store, cdn);
    });

    test('that was damaged on disk is fetched again', async () => {
      await at.build.objects.config(configName());
      fs.appendFileSync(at.store.file(objectPath(configName())), 'x');
      expect(md5Hex(await at.build.objects.config(configName()))).toBe(configName().hash);
      expect(asked()).toHaveLength(2);
      expectRightStore(at.store, cdn);
    });

    test('that is nowhere is not found; without a network it is refused by name', async () => {
      const nowhere = { ...configName(), hash: 'f'.repeat(32) };
      await expect(at.build.objects.config(nowhere)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
      await reopen({ servers: [] });
      await expect(at.build.objects.config(nowhere)).rejects.toMatchObject({
        code: 'E_OFFLINE',
        message: expect.stringContaining('f'.repeat(32)),
      });
    });
  });

  test('an index that is no index, or another’s, is not taken', async () => {
    const [first, second] = at.build.cdnConfig.archives.map((hash) => ({
      cdnPath: 'tpr/wow',
      kind: 'data' as const,
      hash,
      suffix: '.index' as const,
    }));
    at.store.ledger.removeObject(objectPath(first!));
    fs.rmSync(at.store.file(objectPath(first!)));
    for (const server of servers) server.objects.set(objectPath(first!), cdn.objects.get(objectPath(second!))!);
    await expect(at.build.objects.index(first!)).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED' });
    servers[1]!.objects.set(objectPath(first!), cdn.objects.get(objectPath(first!))!);
    const file = await at.build.objects.index(first!);
    expect(fs.readFileSync(file!).equals(cdn.objects.get(objectPath(first!))!)).toBe(true);
  });

  test('an index that was damaged on disk is fetched again, so that the build opens', async () => {
    const { archives, fileIndex } = at.build.cdnConfig;
    const paths = [archives[0]!, fileIndex!].map((hash) =>
      objectPath({ cdnPath: 'tpr/wow', kind: 'data', hash, suffix: '.index' }),
    );
    for (const path of paths) fs.writeFileSync(at.store.file(path), 'damaged');
    fs.rmSync(at.store.layout.groups, { recursive: true });
    await reopen({});
    expect(asked().toSorted()).toEqual(paths.toSorted());
    expectRightStore(at.store, cdn);
  });

  describe('entries', () => {
    test('are fetched by their range alone, and are then held', async () => {
      const place = archived()[3]!;
      expect(isHeld(at.store, place)).toBe(false);
      await at.build.objects.entries([place]);
      expect(isHeld(at.store, place)).toBe(true);
      const [only] = servers.flatMap((server) => server.asked);
      expect(only!.range).toEqual({ start: place.offset, end: place.offset + place.size });
      const { file, offset } = at.build.objects.open(place);
      const truth = cdn.objects.get(objectPath(place.object))!.subarray(place.offset, place.offset + place.size);
      expect(
        fs
          .readFileSync(file)
          .subarray(offset, offset + place.size)
          .equals(truth),
      ).toBe(true);
      await at.build.objects.entries([place]);
      expect(asked()).toHaveLength(1);
    });

    test('a loose object gets its name when it is whole', async () => {
      const place = loosePlace();
      await at.build.objects.entries([place]);
      expect(isHeld(at.store, place)).toBe(true);
      expect(at.store.ledger.completeSize(objectPath(place.object))).toBe(place.size);
      expect(fs.existsSync(at.store.files.partial(objectPath(place.object)).file)).toBe(false);
      expectRightStore(at.store, cdn);
    });

    test('that no host gives right are an error that names them', async () => {
      const place = archived()[3]!;
      for (const server of servers) server.lie = always({ kind: 'flip', offset: place.offset + 20 });
      await expect(at.build.objects.entries([place])).rejects.toMatchObject({
        code: 'E_NETWORK_EXHAUSTED',
        data: { ekeys: [place.ekey] },
      });
      expect(isHeld(at.store, place)).toBe(false);
      expect(() => at.build.objects.open(place)).toThrow();
    });

    test('of an archive that is lost: the first batch asks each host for it once, and then nobody is asked', async () => {
      const [{ object }] = archived() as [EntryPlace];
      const lost = archived().filter((place) => place.object.hash === object.hash);
      expect(lost.length).toBeGreaterThan(10);
      for (const server of servers) server.objects.delete(objectPath(object));
      for (const server of servers) server.asked.length = 0;
      await expect(at.build.objects.entries(lost)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
      for (const place of lost) {
        await expect(at.build.objects.entries([place])).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
      }
      const asked = servers.map((server) => server.asked.length);
      // Ranges of one archive that are asked for at the same time are each answered.
      expect(Math.max(...asked)).toBeLessThanOrEqual(8);
    });

    test('that no host gave right are not asked for again at once', async () => {
      const place = archived()[3]!;
      for (const server of servers) server.lie = always({ kind: 'flip', offset: place.offset + 20 });
      await expect(at.build.objects.entries([place])).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED' });
      const asked = servers.map((server) => server.asked.length);
      await expect(at.build.objects.entries([place])).rejects.toMatchObject({ data: { ekeys: [place.ekey] } });
      expect(servers.map((server) => server.asked.length)).toEqual(asked);
    });

    test('are refused by name without a network', async () => {
      const place = archived()[3]!;
      await reopen({ servers: [] });
      const refusal = { code: 'E_OFFLINE', data: { ekey: place.ekey }, message: expect.stringContaining(place.ekey) };
      await expect(at.build.objects.entries([place])).rejects.toMatchObject(refusal);
      expect(() => at.build.objects.open(place)).toThrow(expect.objectContaining({ code: 'E_OFFLINE' }));
    });
  });

  test('nothing of what is held needs a network', async () => {
    const place = archived()[0]!;
    await at.build.objects.entries([place]);
    const offline = new Fetcher(at.store, undefined, at.fetcher.settings).objects();
    await offline.entries([place]);
    expect(offline.open(place).offset).toBe(place.offset);
  });

  test('counts the entries that it brought, manifests among them, and nothing that was held', async () => {
    const before = at.fetcher.fetchedEntries;
    expect(before).toBeGreaterThan(0);
    const places = archived().slice(0, 3);
    await at.build.objects.entries(places);
    await at.build.objects.entries(places);
    await at.build.objects.config(configName());
    expect(at.fetcher.fetchedEntries - before).toBe(3);
  });
});
