import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { md5Hex } from '../../../src/core/hash.ts';
import { decodeBuildConfig } from '../../../src/formats/configs/build-config.ts';
import { decodeCdnConfig } from '../../../src/formats/configs/cdn-config.ts';
import type { Pakrat } from '../../../src/pakrat.ts';
import { type StaticServer, serveFolder } from '../../../src/serve/static-server.ts';
import { objectPath, storeLayout } from '../../../src/store/layout.ts';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import type { BuildRow } from '../../../src/store/ledger/rows.ts';
import { Sqlite } from '../../../src/store/ledger/sqlite.ts';
import { familyFiles, noise, publishFamily } from '../../support/family.ts';
import { freePort } from '../../support/loopback.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { withPakrat } from '../../support/with-pakrat.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
let server: StaticServer;
let port: number;
/** The store of a test. */
let number = 0;

beforeAll(async () => {
  port = await freePort();
});
afterAll(() => server?.close());

/** Publishes builds of a family one after the other; each is synced when it is live. */
async function syncFamily(
  versions: readonly number[],
  sync: (pakrat: Pakrat, version: number) => Promise<unknown> = (pakrat) => pakrat.sync('game'),
): Promise<string> {
  number += 1;
  const store = scratch(`store${number}`);
  const out = scratch(`cdn${number}`);
  await server?.close();
  for (const version of versions) {
    await publishFamily(version, { out, port });
    if (version === versions[0]) server = await serveFolder(out, { port });
    await withPakrat({ store, patchUrl: server.url }, (pakrat) => sync(pakrat, version));
  }
  return store;
}

/** Bytes on the disk of the objects of a store, and of what is derived of them. */
function blocks(store: string): number {
  const places = ['tpr', 'partial', 'groups', 'manifests', 'names', 'marks', 'wants']
    .map((name) => join(store, name))
    .filter((folder) => existsSync(folder));
  return places
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * 512, 0);
}

/** Every file of a build is there without a network, and is what was published. */
async function expectWhole(pakrat: Pakrat, version: number): Promise<void> {
  await using build = await pakrat.open(`game@1.${version}`);
  for (const { name, bytes } of familyFiles(version))
    expect(Buffer.from(await build.bytes(name)).equals(bytes)).toBe(true);
}

describe('without a rule', () => {
  test('nothing goes of what two selections, a cat of one file and a mirror brought', async () => {
    const store = await syncFamily([0, 1, 2], async (pakrat, version) => {
      if (version === 0) await pakrat.sync('game', { all: true });
      if (version === 1) {
        await pakrat.sync('game', { include: ['*'], tags: [] }).catch(() => {});
        await using build = await pakrat.open('game');
        await build.bytes('data/file3.bin');
      }
      if (version === 2) await pakrat.sync('game');
    });
    const before = blocks(store);
    const report = await withPakrat({ store, offline: true }, (pakrat) => pakrat.gc());
    expect(report).toMatchObject({ builds: [], objects: 0, bytes: 0, spared: [] });
    expect(blocks(store)).toBe(before);
    await withPakrat({ store, offline: true }, async (pakrat) => {
      await expectWhole(pakrat, 0);
      await expectWhole(pakrat, 2);
    });
  });
});

describe('a build that is forgotten', () => {
  test('gives back what only it wanted, as announced, and the others stay whole', async () => {
    const store = await syncFamily([0, 1, 2, 3]);
    await withPakrat({ store, offline: true }, async (pakrat) => {
      const before = blocks(store);
      const planned = await pakrat.forget(['game@1.0', 'game@1.1'], { dryRun: true });
      expect(planned).toMatchObject({ dryRun: true, builds: [{ name: '1.1' }, { name: '1.0' }] });
      expect(planned.bytes).toBeGreaterThan(8 * 2 * 6000);
      expect(blocks(store)).toBe(before);
      const done = await pakrat.forget(['game@1.0', 'game@1.1']);
      expect(done).toMatchObject({ bytes: planned.bytes, objects: planned.objects, kept: planned.kept, inUse: [] });
      const freed = before - blocks(store);
      expect(done.diskBytes).toBe(freed);
      expect(Math.abs(freed - planned.diskBytes)).toBeLessThanOrEqual(Math.max(4096, planned.diskBytes * 0.01));
      await expectWhole(pakrat, 2);
      await expectWhole(pakrat, 3);
      expect((await pakrat.status()).builds.map(({ name }) => name)).toEqual(['1.3', '1.2']);
      expect((await pakrat.history('game')).builds.map(({ name }) => name)).toEqual(['1.3', '1.2', '1.1', '1.0']);
      await expect(pakrat.open('game@1.0')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
      expect(await pakrat.verify()).toMatchObject({ bad: [] });
      expect((await pakrat.status()).bytes).toBe(done.kept.bytes);
      expect(await pakrat.gc()).toMatchObject({ objects: 0, bytes: 0 });
    });
  });

  test('can be synced again, and fetches only what went', async () => {
    const store = await syncFamily([0, 1]);
    const gone = await withPakrat({ store, offline: true }, (pakrat) => pakrat.forget(['game@1.0']));
    const settings = { sync: { gapBytes: 0 } };
    await withPakrat({ store, patchUrl: server.url, settings }, async (pakrat) => {
      const report = await pakrat.sync('game@1.0');
      expect(report.fetched.bytes).toBeLessThanOrEqual(gone.bytes + 4096);
      await expectWhole(pakrat, 0);
      await expectWhole(pakrat, 1);
    });
  });

  test('is not forgotten while it is pinned', async () => {
    const store = await syncFamily([0, 1]);
    await withPakrat({ store, offline: true }, async (pakrat) => {
      await pakrat.pin(['game@1.0']);
      const pinned = async () => (await pakrat.status()).builds.filter((build) => build.pinned).map(({ name }) => name);
      expect(await pinned()).toEqual(['1.0']);
      await expect(pakrat.forget(['game@1.0'])).rejects.toMatchObject({ code: 'E_USAGE' });
      expect(await pakrat.gc({ keep: 1 })).toMatchObject({ builds: [] });
      await pakrat.unpin(['game@1.0']);
      expect(await pinned()).toEqual([]);
      expect(await pakrat.gc({ keep: 1 })).toMatchObject({ builds: [{ name: '1.0' }] });
      await expectWhole(pakrat, 1);
    });
  });
});

test('who reads an entry while it is given back hears that it is not held, and never sees zeros', async () => {
  number += 1;
  const [store, out] = [scratch(`store${number}`), scratch(`cdn${number}`)];
  await server?.close();
  const files = [{ name: 'large.bin', fileDataId: 1, bytes: noise('large', 3_000_000) }];
  await publishFamily(0, { out, port, files });
  server = await serveFolder(out, { port });
  await withPakrat({ store, patchUrl: server.url }, (pakrat) => pakrat.sync('game'));
  await withPakrat({ store, offline: true }, async (pakrat) => {
    await using build = await pakrat.open('game');
    const read = async (): Promise<number> => {
      let size = 0;
      for await (const piece of build.stream('large.bin')) {
        if (size === 0) takeAway(store);
        expect(Buffer.from(piece).equals(noise('large', 3_000_000).subarray(size, size + piece.length))).toBe(true);
        size += piece.length;
      }
      return size;
    };
    await expect(read()).rejects.toMatchObject({ code: 'E_OFFLINE', message: expect.stringContaining('not held') });
  });
});

/** Takes all large objects out of the ledger, then off the disk, as gc does. */
function takeAway(store: string): void {
  const ledger = new Ledger(storeLayout(store).ledger);
  for (const { path, bytes } of [...ledger.objects()].filter((object) => object.bytes > 500_000)) {
    ledger.removeObject(path);
    writeFileSync(join(store, path), Buffer.alloc(bytes), { flag: 'r+' });
  }
  ledger.close();
}

test('an entry stays that a build wants and that only an archive has which its CDN config does not list any more', async () => {
  const store = await syncFamily([0, 1]);
  const ledger = new Ledger(storeLayout(store).ledger);
  const [newest] = ledger.builds('game').filter(({ name }) => name === '1.1');
  if (newest === undefined) throw new Error('the newest build is not there');
  const pathOf = (kind: 'config' | 'data', hash: string) => objectPath({ cdnPath: 'tpr/game', kind, hash });
  const text = readFileSync(join(store, pathOf('config', newest.cdnConfig)), 'latin1');
  const [archive = ''] = decodeCdnConfig(Buffer.from(text)).archives;
  // The archives of a CDN are put together anew now and then: the first one is gone.
  const less = text.replace(/^(archives = )\S+ /m, '$1').replace(/^(archives-index-size = )\S+ /m, '$1');
  const hash = md5Hex(Buffer.from(less));
  mkdirSync(dirname(join(store, pathOf('config', hash))), { recursive: true });
  writeFileSync(join(store, pathOf('config', hash)), less);
  ledger.addComplete(pathOf('config', hash), less.length);
  ledger.addBuild({ ...newest, cdnConfig: hash });
  expect(ledger.spans(pathOf('data', archive)).length).toBeGreaterThan(0);
  await withPakrat({ store, offline: true }, (pakrat) => pakrat.forget(['game@1.0']));
  expect(ledger.spans(pathOf('data', archive)).length).toBeGreaterThan(0);
  // With the config that lists it all is there.
  expect(ledger.completeSize(pathOf('config', newest.cdnConfig))).toBe(text.length);
  ledger.addBuild(newest);
  ledger.close();
  await withPakrat({ store, offline: true }, async (pakrat) => {
    await expectWhole(pakrat, 1);
    expect(await pakrat.verify()).toMatchObject({ bad: [] });
    expect((await pakrat.gc()).bytes).toBeLessThan(text.length * 2);
  });
});

describe('rules', () => {
  test('--keep counts complete builds alone, in the order of the version service, whatever was read last', async () => {
    const store = await syncFamily([0, 1, 2, 3], async (pakrat, version) => {
      if (version !== 3) await pakrat.sync('game');
      // The last is not complete: it was only looked into.
      else await pakrat.open('game').then((build) => build.close());
      if (version === 3) await pakrat.open('game@1.0').then((build) => build.close());
    });
    await withPakrat({ store, offline: true }, async (pakrat) => {
      expect(await pakrat.gc({ keep: 2, dryRun: true })).toMatchObject({ builds: [{ name: '1.0' }] });
      expect(await pakrat.gc({ keep: 1 })).toMatchObject({ builds: [{ name: '1.1' }, { name: '1.0' }] });
      await expectWhole(pakrat, 2);
    });
  });

  test('--older looks at when a build was first seen, and keeps the newest all the same', async () => {
    const store = await syncFamily([0, 1, 2]);
    await withPakrat({ store, offline: true }, async (pakrat) => {
      expect(await pakrat.gc({ olderMs: 3_600_000 })).toMatchObject({ builds: [] });
      expect(await pakrat.gc({ olderMs: 0, keep: 2, dryRun: true })).toMatchObject({ builds: [{ name: '1.0' }] });
      expect(await pakrat.gc({ olderMs: 0 })).toMatchObject({ builds: [{ name: '1.1' }, { name: '1.0' }] });
      await expectWhole(pakrat, 2);
    });
  });

  test('--max-size lets the oldest go until it fits, and says what stays', async () => {
    const store = await syncFamily([0, 1, 2, 3]);
    await withPakrat({ store, offline: true }, async (pakrat) => {
      const { bytes } = await pakrat.status();
      expect(await pakrat.gc({ maxBytes: bytes })).toMatchObject({ builds: [] });
      const report = await pakrat.gc({ maxBytes: bytes - 1 });
      expect(report.builds.map(({ name }) => name)).toEqual(['1.0']);
      expect((await pakrat.status()).bytes).toBe(report.kept.bytes);
      expect(report.kept.bytes).toBeLessThan(bytes);
      const least = await pakrat.gc({ maxBytes: 1 });
      expect(least.builds.map(({ name }) => name)).toEqual(['1.2', '1.1']);
      await expectWhole(pakrat, 3);
    });
  });
});

describe('nothing goes', () => {
  test('of a ledger that is lost, and nothing of what a new one takes over', async () => {
    const store = await syncFamily([0, 1]);
    const before = blocks(store);
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${storeLayout(store).ledger}${suffix}`, { force: true });
    new Ledger(storeLayout(store).ledger).close();
    const report = await withPakrat({ store, offline: true }, (pakrat) => pakrat.gc({ keep: 1 }));
    expect(report).toMatchObject({ objects: 0, bytes: 0 });
    expect(blocks(store)).toBe(before);
  });

  /** What a build cannot be read without: the index of an archive, or its encoding file. */
  const parts: Record<string, (store: string, build: BuildRow) => string[]> = {
    'an index': (store, { cdnConfig }) => {
      const config = objectPath({ cdnPath: 'tpr/game', kind: 'config', hash: cdnConfig });
      const [hash = ''] = decodeCdnConfig(readFileSync(join(store, config))).archives;
      return [objectPath({ cdnPath: 'tpr/game', kind: 'data', hash, suffix: '.index' })];
    },
    'its encoding file': (store, { buildConfig }) => {
      const config = objectPath({ cdnPath: 'tpr/game', kind: 'config', hash: buildConfig });
      const { ckey, ekey = '' } = decodeBuildConfig(readFileSync(join(store, config))).encoding;
      rmSync(join(storeLayout(store).manifests, ckey));
      return [objectPath({ cdnPath: 'tpr/game', kind: 'data', hash: ekey })];
    },
  };

  test.each(Object.keys(parts))(
    'of a CDN path while a build of it lacks %s: no build goes, and the reason is told',
    async (part) => {
      const store = await syncFamily([0, 1, 2]);
      const ledger = new Ledger(storeLayout(store).ledger);
      const newest = ledger.builds('game').find(({ name }) => name === '1.2');
      if (newest === undefined) throw new Error('the newest build is not there');
      for (const path of parts[part]?.(store, newest) ?? []) {
        expect(ledger.completeSize(path)).toBeGreaterThan(0);
        ledger.removeObject(path);
        rmSync(join(store, path));
      }
      ledger.close();
      const before = blocks(store);
      await withPakrat({ store, offline: true }, async (pakrat) => {
        const report = await pakrat.gc({ keep: 1 });
        expect(report).toMatchObject({ objects: 0, bytes: 0, builds: [], spared: [{ cdnPath: newest.cdnPath }] });
        expect(report.spared[0]?.reason).toContain('game@1.2 cannot be read');
      });
      expect(blocks(store)).toBe(before);
    },
  );

  test('while a row that says what is to be kept is damaged', async () => {
    const store = await syncFamily([0, 1]);
    const db = new Sqlite(storeLayout(store).ledger);
    db.exec("UPDATE sums SET sum = 'x' WHERE tbl = 'selections'");
    db.close();
    await withPakrat({ store, offline: true }, async (pakrat) => {
      await expect(pakrat.gc({ keep: 1 })).rejects.toMatchObject({ code: 'E_STORE_DAMAGED' });
    });
  });
});
