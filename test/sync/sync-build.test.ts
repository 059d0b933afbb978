import * as fs from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Plan } from '../../src/fetch/plan/plan.ts';
import type { Selection } from '../../src/fetch/plan/selection.ts';
import { objectPath } from '../../src/store/layout.ts';
import { type PlannedSync, planSync } from '../../src/sync/plan-sync.ts';
import { type SyncResult, syncBuild } from '../../src/sync/sync-build.ts';
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
} from './generated-build.ts';

const scratch = scratchFolder();
const everything: Selection = { tags: [], include: [], all: false };
const nothing = { entries: 0, bytes: 0 };

describe('syncBuild', () => {
  let common: GeneratedCdn;
  let cdn: GeneratedCdn;
  let server: LyingServer;
  let others: LyingServer[];
  let opened: OpenedBuild[];
  let number = 0;
  let root: string;

  beforeAll(() => {
    common = generateCdn();
    cdn = common;
  });
  beforeEach(async () => {
    server = await hostOf(cdn);
    others = [];
    opened = [];
    number += 1;
    root = scratch(`store${number}`);
  });
  afterEach(async () => {
    await closeAll();
    await Promise.all([server, ...others].map((host) => host.close()));
  });

  async function closeAll(): Promise<void> {
    for (const each of opened.splice(0)) await each.close();
  }
  async function open(more: Partial<OpenOptions> = {}): Promise<OpenedBuild> {
    await closeAll();
    const one = await openGenerated({ root, cdn, build: 'a', servers: [server, ...others], ...more });
    opened.push(one);
    return one;
  }
  const isData = (path: string): boolean =>
    path.includes('/data/') && !path.endsWith('.index') && !path.startsWith('tpr/configs');
  const sync = ({ fetcher, build }: OpenedBuild, selection = everything): Promise<SyncResult> =>
    syncBuild(fetcher, build, selection);
  const planOf = ({ fetcher, build }: OpenedBuild, selection = everything): Promise<PlannedSync> =>
    planSync(fetcher, build, selection);
  const dataRequests = (): number => server.asked.filter(({ path }) => isData(path)).length;

  /** Every row of the table of truth must be held. */
  function expectAllRows(at: OpenedBuild, build: 'a' | 'b'): void {
    for (const row of cdn.truth(build)) {
      for (const ekey of row.ekeys!.split(',')) {
        const place = at.build.locate(ekey);
        if (place === undefined) throw new Error(`${row.name}: ${ekey} is nowhere`);
        at.build.objects.open(place);
      }
    }
  }

  test('brings a whole build; all of it is right; the second time nothing is fetched', async () => {
    const first = await open();
    const events: (Plan | number)[] = [];
    const result = await syncBuild(first.fetcher, first.build, everything, {
      onPlan: (plan) => events.push(plan),
      onEntry: (bytes) => events.push(bytes),
    });
    expect(result).toMatchObject({ missing: nothing, failures: [] });
    expect(result.held).toEqual(result.wanted);
    expectAllRows(first, 'a');
    expect(expectRightStore(first.store, cdn)).toBeGreaterThanOrEqual(result.wanted.bytes);
    const [planned, ...entries] = events as [Plan, ...number[]];
    expect(planned).toMatchObject({ wanted: result.wanted });
    expect(entries).toHaveLength(planned.missing.entries);
    expect(entries.reduce((sum, bytes) => sum + bytes, 0)).toBe(planned.missing.bytes);
    expect(first.store.ledger.builds('wow')[0]).toMatchObject({
      wanted: result.wanted,
      held: result.wanted,
      selection: JSON.stringify(everything),
    });
    // What was partial has its final name.
    expect(fs.readdirSync(first.store.layout.temporary).filter((name) => !name.startsWith('open-'))).toEqual([]);

    const second = await open();
    expect(await sync(second)).toEqual(result);
    expect(second.traffic).toEqual({ bytes: 0, requests: 0, asked: 0 });
    const offline = await open({ servers: [] });
    expectAllRows(offline, 'a');
  });

  test('the second build after the first brings only what differs', async () => {
    const first = await open();
    await sync(first);
    const old = new Set([...first.build.encoding.ekeys()].map(({ ekey }) => ekey));
    const oldEncoding = first.build.config.encoding.ekey;
    server.asked.length = 0;
    const second = await open({ build: 'b', gapBytes: 0 });
    expect(await sync(second)).toMatchObject({ missing: nothing, failures: [] });
    expectAllRows(second, 'b');
    expectRightStore(second.store, cdn);
    const { ekey, encodedSize } = second.build.config.encoding;
    expect(ekey).not.toBe(oldEncoding);
    let differing = encodedSize!;
    for (const entry of second.build.encoding.ekeys()) if (!old.has(entry.ekey)) differing += entry.size;
    const asked = server.asked.filter(({ path }) => isData(path));
    expect(asked.reduce((sum, { range }) => sum + range!.end - range!.start, 0)).toBe(differing);
  });

  test('an interrupted one goes on where it was; nothing that was held is fetched again', async () => {
    const controller = new AbortController();
    const first = await open({ signal: controller.signal, jobs: 2 });
    server.lie = ({ path }) => (isData(path) ? { kind: 'drip', bytes: 20_000, everyMs: 5 } : undefined);
    const { wanted } = (await planOf(first)).plan;
    let held = 0;
    const running = sync(first);
    const timer = setInterval(() => {
      held = first.store.ledger.heldBytes();
      if (held > wanted.bytes / 3) controller.abort();
    }, 20);
    await expect(running).rejects.toMatchObject({ code: 'E_ABORTED' });
    clearInterval(timer);
    const kept = expectRightStore(first.store, cdn);
    expect(kept).toBeGreaterThanOrEqual(wanted.bytes / 3);

    // Names before data: an aborted run keeps the map.
    const offline = await open({ servers: [] });
    expect((await offline.build.root())?.kind).toBe('wow');
    expect((await offline.build.install())?.entries.length).toBeGreaterThan(0);

    server.lie = () => undefined;
    const second = await open();
    const before = (await planOf(second)).plan;
    expect(before.held.bytes).toBeGreaterThan(wanted.bytes / 4);
    const result = await sync(second);
    expect(result).toMatchObject({ missing: nothing, failures: [] });
    // A chunk that had come in part comes again, and the gaps between entries; no more.
    expect(second.traffic.bytes).toBeLessThanOrEqual(before.rangeBytes + 4 * 256 * 1024);
    expectAllRows(second, 'a');
    expectRightStore(second.store, cdn);
  });

  test('a run that was killed between the bytes and the ledger, or between the ledger and a name, is taken up', async () => {
    const first = await open();
    await sync(first);
    const loose = [...first.store.ledger.objects()].filter(({ path, complete }) => complete && isData(path));
    expect(loose.length).toBeGreaterThan(2);
    const [renamed, forgotten] = [loose[0]!.path, loose[1]!.path];
    // Verified to its end and in the ledger, but without its final name.
    fs.renameSync(first.store.file(renamed), `${first.store.layout.temporary}/${renamed.slice(-32)}.partial`);
    first.store.ledger.removeObject(renamed);
    first.store.ledger.addSpans(renamed, [{ start: 0, end: loose[0]!.bytes }]);
    // On disk, not in the ledger.
    fs.renameSync(first.store.file(forgotten), `${first.store.layout.temporary}/${forgotten.slice(-32)}.partial`);
    first.store.ledger.removeObject(forgotten);
    const archives = [...first.store.ledger.objects()].filter(
      ({ path }) => path.endsWith('.index') && isData(path.slice(0, -6)),
    );
    first.store.ledger.removeObject(archives[0]!.path.slice(0, -6));

    const second = await open();
    const before = server.sentBytes;
    expect(await sync(second)).toMatchObject({ missing: nothing, failures: [] });
    expect(server.sentBytes - before).toBe(0);
    for (const path of [renamed, forgotten]) {
      expect(second.store.ledger.completeSize(path)).toBe(cdn.objects.get(path)!.length);
      expect(fs.readFileSync(second.store.file(path)).equals(cdn.objects.get(path)!)).toBe(true);
    }
    expectAllRows(second, 'a');
    expectRightStore(second.store, cdn);
  });

  test('a ledger that is lost costs no data: what is on disk is checked and taken over', async () => {
    await sync(await open());
    await closeAll();
    for (const name of fs.readdirSync(root)) if (name.startsWith('ledger.db')) fs.rmSync(`${root}/${name}`);
    const archives = fs
      .readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => /data\/..\/..\/[0-9a-f]{32}$/.test(path));
    const damaged = `${root}/${archives.find((path) => fs.statSync(`${root}/${path}`).size > 100_000)}`;
    const bytes = fs.readFileSync(damaged);
    bytes[50_000]! ^= 1;
    fs.writeFileSync(damaged, bytes);
    const again = await open();
    const { plan } = await planOf(again);
    const result = await sync(again);
    expect(result).toMatchObject({ missing: nothing, failures: [] });
    expect(again.traffic.bytes).toBeLessThan(plan.wanted.bytes / 2);
    expectRightStore(again.store, cdn);
  });

  test('what no host has is told, the rest is held, and a later run brings it', async () => {
    const first = await open();
    const { plan } = await planOf(first);
    const gone = plan.ranges.find(({ archive }) => archive !== undefined)!;
    const hash = first.build.cdnConfig.archives[gone.archive!]!;
    const path = objectPath({ cdnPath: 'tpr/wow', kind: 'data', hash });
    server.lie = ({ path: asked }) => (asked === path ? { kind: 'status', status: 404 } : undefined);
    const result = await sync(first);
    const lost = plan.ranges.filter(({ archive }) => archive === gone.archive).flatMap((range) => [...range.targets()]);
    expect(result.missing.entries).toBe(lost.length);
    expect(result.failures.every((failure) => failure.path === path && failure.code === 'E_NOT_FOUND')).toBe(true);
    expect(first.store.ledger.builds('wow')[0]).toMatchObject({ wanted: result.wanted, held: result.held });
    expectRightStore(first.store, cdn);

    server.lie = () => undefined;
    const second = await open();
    expect(await sync(second)).toMatchObject({ missing: nothing, failures: [] });
    expectAllRows(second, 'a');
  });

  test('hosts that know no ranges serve it all the same, also the manifests that lie in archives', async () => {
    cdn = generateCdn('--loose-meta', '0', '--seed', 'whole');
    try {
      server.objects = new Map(cdn.objects);
      server.lie = always({ kind: 'whole' });
      const at = await open();
      expect(at.build.locate(at.build.config.install!.ekey!)!.loose).toBe(false);
      // A part of the build, so that no range begins where its archive begins.
      const part = { ...everything, include: ['*.exe'] };
      const { plan } = await planOf(at, part);
      expect(plan.ranges.some(({ start }) => start > 0)).toBe(true);
      expect(await sync(at, part)).toMatchObject({ missing: nothing, failures: [] });
      expectRightStore(at.store, cdn);
      expect(await sync(at)).toMatchObject({ missing: nothing, failures: [] });
      expectAllRows(at, 'a');
      expectRightStore(at.store, cdn);
    } finally {
      cdn = common;
    }
  });

  test('one host that knows no ranges does not make the others send whole objects', async () => {
    others = [await hostOf(cdn), await hostOf(cdn)];
    others[0]!.lie = always({ kind: 'whole' });
    const at = await open();
    const { plan } = await planOf(at, { ...everything, include: ['*.exe'] });
    const opening = at.traffic.bytes;
    await sync(at, { ...everything, include: ['*.exe'] });
    expect(at.traffic.bytes - opening).toBeLessThanOrEqual(plan.rangeBytes + 300_000);
  });

  test('three hosts of which each lies in its own way', async () => {
    server.lie = ({ path }, count) =>
      path.includes('/config/') || count % 2 === 0 ? { kind: 'status', status: 404 } : undefined;
    others = [await hostOf(cdn), await hostOf(cdn)];
    others[0]!.lie = ({ path, range }, count) =>
      isData(path) && count % 3 === 1 ? { kind: 'flip', offset: (range?.start ?? 0) + 60 } : undefined;
    others[1]!.lie = ({ path }, count) => (isData(path) && count % 2 === 1 ? { kind: 'html' } : undefined);
    const at = await open();
    expect(await sync(at)).toMatchObject({ missing: nothing, failures: [] });
    expectAllRows(at, 'a');
    expectRightStore(at.store, cdn);
  });

  test('the plan says what it will ask for, and it asks for no more', async () => {
    const at = await open();
    const { plan } = await planOf(at);
    const asked = dataRequests();
    const bytes = at.traffic.bytes;
    // Root and install are fetched before the data is planned, so they are not asked again.
    await sync(at);
    expect(dataRequests() - asked).toBeLessThanOrEqual(plan.ranges.length + 2);
    expect(at.traffic.bytes - bytes).toBeLessThanOrEqual(plan.rangeBytes);
  });
});
