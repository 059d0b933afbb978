import * as fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { EntryPlace } from '../../src/builds/objects.ts';
import { codeOf } from '../../src/core/errors.ts';
import { md5Hex } from '../../src/core/hash.ts';
import {
  completeLoose,
  entryJobs,
  isHeld,
  partialFile,
  spanCommitter,
  storeObjects,
} from '../../src/fetch/store-objects.ts';
import { type ObjectName, objectPath } from '../../src/store/layout.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { always, type LyingServer } from '../support/lying-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { describeSynthetic } from '../support/synthetic-cdn.ts';
import { describeTmpfs, withTmpfs } from '../support/tmpfs.ts';
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

describeSynthetic('the objects of a build', () => {
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
      ...{ cdnPath: 'tpr/wow', kind: 'data' as const, hash, suffix: '.index' as const },
    }));
    at.store.ledger.removeObject(objectPath(first!));
    for (const server of servers) server.objects.set(objectPath(first!), cdn.objects.get(objectPath(second!))!);
    await expect(at.build.objects.indices([first!])).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED' });
    servers[1]!.objects.set(objectPath(first!), cdn.objects.get(objectPath(first!))!);
    const [file] = await at.build.objects.indices([first!]);
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
      expect(fs.existsSync(partialFile(at.store, place.object.hash))).toBe(false);
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

    test('are refused by name without a network', async () => {
      const place = archived()[3]!;
      await reopen({ servers: [] });
      const refusal = { code: 'E_OFFLINE', data: { ekey: place.ekey }, message: expect.stringContaining(place.ekey) };
      await expect(at.build.objects.entries([place])).rejects.toMatchObject(refusal);
      expect(() => at.build.objects.open(place)).toThrow(expect.objectContaining({ code: 'E_OFFLINE' }));
    });

    test('that lie close come in one range, others and loose ones in their own, each once', () => {
      const object = { cdnPath: 'tpr/wow', kind: 'data' as const, hash: '1'.repeat(32) };
      const place = (n: number, offset: number, more: Partial<EntryPlace> = {}): EntryPlace => ({
        ...{ ekey: String(n).repeat(32), object, loose: false, offset, size: 100, ...more },
      });
      const other = { ...object, hash: '2'.repeat(32) };
      const jobs = entryJobs(
        at.store,
        [
          place(4, 5000),
          place(1, 0),
          place(2, 150),
          place(1, 0),
          place(3, 240),
          place(5, 0, { object: other, loose: true }),
        ],
        { gapBytes: 50, maxRangeBytes: 1000 },
      );
      expect(jobs.map(({ start, end, targets }) => [start, end, targets.map(({ ekey }) => ekey[0])])).toEqual([
        [0, 250, ['1', '2']],
        // It overlaps the one before, as only a hostile index has it.
        [240, 340, ['3']],
        [5000, 5100, ['4']],
        [0, 100, ['5']],
      ]);
      expect(jobs[3]!.file).toBe(partialFile(at.store, other.hash));
    });

    test('of which the start is held are asked from there', () => {
      const object = { cdnPath: 'tpr/wow', kind: 'data' as const, hash: '1'.repeat(32) };
      at.store.ledger.addSpans(objectPath(object), [{ start: 900, end: 1040 }]);
      const [job] = entryJobs(at.store, [{ ekey: 'a'.repeat(32), object, loose: false, offset: 1000, size: 100 }], {
        ...{ gapBytes: 0, maxRangeBytes: 1000 },
      });
      expect(job).toMatchObject({ start: 1040, end: 1100, targets: [{ held: 40 }] });
    });
  });

  test('another process that fetched the same loose object first does no harm', async () => {
    const place = loosePlace();
    const path = objectPath(place.object);
    const job = { path, file: partialFile(at.store, place.object.hash), start: 0, end: place.size, targets: [] };
    fs.mkdirSync(at.store.file(path).slice(0, -33), { recursive: true });
    fs.writeFileSync(at.store.file(path), cdn.objects.get(path)!);
    completeLoose(at.store, job, { ekey: place.ekey, offset: 0, size: place.size, held: 0 });
    expect(isHeld(at.store, place)).toBe(true);
    const lost = { ...job, path: objectPath({ ...place.object, hash: 'e'.repeat(32) }) };
    expect(() => completeLoose(at.store, lost, { ekey: 'e'.repeat(32), offset: 0, size: 1, held: 0 })).toThrow(
      expect.objectContaining({ code: 'E_STORE' }),
    );
    expect(at.store.ledger.completeSize(lost.path)).toBeUndefined();
  });

  test('storeObjects needs no network for what is held', async () => {
    const place = archived()[0]!;
    await at.build.objects.entries([place]);
    const offline = storeObjects({ ...at.fetchTools, cdn: undefined });
    await offline.entries([place]);
    expect(offline.open(place).offset).toBe(place.offset);
  });
});

describe('spanCommitter', () => {
  let store: Store;
  beforeEach(() => {
    store = openStore(root, { create: true });
  });
  afterEach(() => store.close());

  test('commits what waits a moment later, or when it is told to', async () => {
    const committer = spanCommitter(store);
    committer.add('a', [{ start: 0, end: 10 }]);
    expect(store.ledger.spans('a')).toEqual([]);
    committer.flush();
    expect(store.ledger.spans('a')).toEqual([{ start: 0, end: 10 }]);
    committer.add('a', [{ start: 10, end: 20 }]);
    committer.add('b', [{ start: 5, end: 6 }]);
    await sleep(500);
    expect([store.ledger.spans('a'), store.ledger.spans('b')]).toEqual([
      [{ start: 0, end: 20 }],
      [{ start: 5, end: 6 }],
    ]);
  });

  test('commits spans together with what hangs on them, or none of both', () => {
    const committer = spanCommitter(store);
    const seen: number[] = [];
    committer.onCommit = (bytes) => {
      seen.push(bytes);
      store.ledger.setSetting('bytes', String(bytes));
      if (seen.length === 1) throw new Error('no');
    };
    committer.add('a', [{ start: 0, end: 10 }]);
    committer.add('b', [{ start: 0, end: 7 }]);
    expect(() => committer.flush()).toThrow('no');
    expect([store.ledger.spans('a'), store.ledger.setting('bytes')]).toEqual([[], undefined]);
    // What could not be committed still waits.
    committer.flush();
    expect(seen).toEqual([17, 17]);
    expect([store.ledger.spans('a'), store.ledger.setting('bytes')]).toEqual([[{ start: 0, end: 10 }], '17']);
    committer.flush();
    expect(seen).toHaveLength(2);
  });

  test('a commit that fails behind the scenes is told by the next one that is asked for', async () => {
    const committer = spanCommitter(store);
    let failing = true;
    committer.onCommit = () => {
      if (failing) throw Object.assign(new Error('full'), { code: 'E_STORE_FULL' });
    };
    committer.add('a', [{ start: 0, end: 10 }]);
    // An exception of a timer would end the process.
    await sleep(500);
    expect(() => committer.flush()).toThrow('full');
    failing = false;
    committer.flush();
    expect(store.ledger.spans('a')).toEqual([{ start: 0, end: 10 }]);
  });
});

describeTmpfs('spanCommitter on a full disk', () => {
  test('says E_STORE_FULL and keeps what waits', async () => {
    await withTmpfs('400k', async (folder, resize) => {
      const store = openStore(`${folder}/store`, { create: true });
      const committer = spanCommitter(store);
      try {
        try {
          for (let i = 0; i < 500; i++) fs.appendFileSync(`${folder}/ballast`, Buffer.alloc(1024));
        } catch (error) {
          expect(codeOf(error)).toBe('ENOSPC');
        }
        for (let i = 0; i < 2000; i++) committer.add(`object ${i}`, [{ start: 0, end: 10 }]);
        expect(() => committer.flush()).toThrow(expect.objectContaining({ code: 'E_STORE_FULL' }));
        resize('16m');
        committer.flush();
        expect(store.ledger.spans('object 1999')).toEqual([{ start: 0, end: 10 }]);
      } finally {
        store.close();
      }
    });
  });
});
