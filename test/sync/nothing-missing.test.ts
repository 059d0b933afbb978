import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Selection } from '../../src/fetch/plan/selection.ts';
import { type SyncResult, syncBuild } from '../../src/sync/sync-build.ts';
import type { LyingServer } from '../support/lying-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import {
  expectRightStore,
  type GeneratedCdn,
  generateCdn,
  hostOf,
  type OpenedBuild,
  openGenerated,
} from './generated-build.ts';

const scratch = scratchFolder();
const everything: Selection = { tags: [], include: [], all: false };

describe('a sync with nothing to do', () => {
  let cdn: GeneratedCdn;
  let server: LyingServer;
  let opened: OpenedBuild | undefined;
  let root: string;
  let number = 0;
  let first: SyncResult;

  beforeAll(() => {
    cdn = generateCdn();
  });
  beforeEach(async () => {
    server = await hostOf(cdn);
    number += 1;
    root = scratch(`store${number}`);
    first = await sync();
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
    await server.close();
  });

  async function open(build: 'a' | 'b' = 'a'): Promise<OpenedBuild> {
    await opened?.close();
    opened = await openGenerated({ root, cdn, build, servers: [server] });
    return opened;
  }
  /** Opens the build anew and syncs it; tells what was lost, and whether it was planned entry by entry. */
  async function again(selection = everything) {
    const { fetcher, build, traffic, store } = await open();
    const pages = jest.spyOn(build.encoding, 'damagedPages');
    const lost: string[] = [];
    const result = await syncBuild(fetcher, build, selection, { onLost: (paths) => lost.push(...paths) });
    return { result, lost, planned: pages.mock.calls.length > 0, traffic, store };
  }
  async function sync(selection = everything): Promise<SyncResult> {
    return (await again(selection)).result;
  }
  const kept = (): string[] => fs.readdirSync(join(root, 'wants')).map((name) => join(root, 'wants', name));
  /** Files of objects of data that are neither indices nor of another kind, by their place. */
  function files(place: '' | 'partial'): string[] {
    const folder = join(root, place, 'tpr/wow/data');
    if (!fs.existsSync(folder)) return [];
    const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return names.map((name) => join(folder, name)).filter((file) => fs.statSync(file).isFile());
  }
  const archives = (): Set<string> => new Set(opened!.build.cdnConfig.archives);
  const isArchive = (file: string): boolean => archives().has(file.slice(-32));

  test('goes through no entries, asks for nothing, and tells the same', async () => {
    const { result, planned, lost, traffic } = await again();
    expect(result).toEqual(first);
    expect({ planned, lost, requests: traffic.requests }).toEqual({ planned: false, lost: [], requests: 0 });
    expect(opened!.store.ledger.builds('wow')[0]).toMatchObject({ wanted: first.wanted, held: first.wanted });
  });

  const kinds = {
    'an archive held whole': () => files('').find(isArchive),
    'an archive held in part': () => files('partial').find(isArchive),
    'a loose object': () => files('').find((file) => !isArchive(file) && !file.endsWith('.index')),
    'an index': () => files('').find((file) => file.endsWith('.index')),
  };
  const losses: Record<string, (file: string) => void> = {
    deleted: (file) => fs.rmSync(file),
    cut: (file) => fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2)),
    emptied: (file) => fs.truncateSync(file, 0),
  };
  const cases = Object.keys(kinds).flatMap((kind) => Object.keys(losses).map((loss) => [kind, loss] as const));
  test.each(cases)('brings back %s that was %s, also where nothing was kept', async (kind, loss) => {
    const selection = kind.endsWith('in part') ? { ...everything, tags: ['deDE', 'Windows'] } : everything;
    if (selection !== everything) root = scratch(`part${number}`);
    const whole = await sync(selection);
    for (const keeps of [true, false]) {
      const file = kinds[kind as keyof typeof kinds]();
      if (file === undefined) throw new Error(`the store has no such file: ${kind}`);
      if (!keeps) for (const mark of kept()) fs.rmSync(mark);
      losses[loss]!(file);
      const { result, lost, traffic, store } = await again(selection);
      expect(result).toEqual(whole);
      expect(traffic.requests).toBeGreaterThan(0);
      if (!file.endsWith('.index')) expect(lost.map((path) => path.slice(-32))).toEqual([file.slice(-32)]);
      expectRightStore(store, cdn);
      expect((await again(selection)).planned).toBe(false);
    }
  });

  test('brings what the ledger does not hold any more', async () => {
    const { store } = opened!;
    const path = [...store.ledger.objects()].find(({ path }) => archives().has(path.slice(-32)))!.path;
    store.files.withdraw([path], () => store.ledger.removeSpans(path, [{ start: 0, end: 1 }]));
    const { result, planned, store: after } = await again();
    expect(result).toEqual(first);
    expect(planned).toBe(true);
    expect(after.ledger.completeSize(path)).toBeDefined();
  });

  test('plans again where what was kept is damaged, of another build, or not there, and keeps it anew', async () => {
    const [mark = ''] = kept();
    const right = fs.readFileSync(mark);
    const spoil = [
      () => fs.writeFileSync(mark, right.subarray(0, -1)),
      () =>
        fs.writeFileSync(
          mark,
          right.map((byte, at) => (at === 100 ? byte ^ 1 : byte)),
        ),
      () => fs.rmSync(mark),
    ];
    for (const damage of spoil) {
      damage();
      const { result, planned, traffic } = await again();
      expect(result).toEqual(first);
      expect({ planned, requests: traffic.requests }).toEqual({ planned: true, requests: 0 });
      expect(fs.readFileSync(mark)).toEqual(right);
    }
  });

  test('is one of its selection: others are planned, and kept beside', async () => {
    root = scratch(`selection${number}`);
    const tags = { ...everything, tags: ['deDE'] };
    const some = await sync(tags);
    expect(some.missing.entries).toBe(0);
    expect(some.wanted.entries).toBeLessThan(first.wanted.entries);
    const whole = await again();
    expect(whole.result).toEqual(first);
    expect(whole.traffic.requests).toBeGreaterThan(0);
    expect(kept()).toHaveLength(2);
    const globs = { ...everything, include: ['*'] };
    await sync(globs);
    expect((await again(globs)).planned).toBe(true);
    for (const selection of [tags, everything]) expect((await again(selection)).planned).toBe(false);
  });
});
