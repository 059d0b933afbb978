import * as fs from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Build } from '../../../src/builds/build.ts';
import type { EntryPlace } from '../../../src/builds/objects.ts';
import { fromHex, toHex } from '../../../src/core/bytes.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { isHeld } from '../../../src/fetch/held-spans.ts';
import type { Selection } from '../../../src/fetch/plan/selection.ts';
import { decodeBlte } from '../../../src/formats/blte/decode.ts';
import { parseEspec, printEspec } from '../../../src/formats/blte/espec.ts';
import {
  decodePatchManifest,
  encodePatchManifest,
  type PatchedFile,
  patchManifestKey,
} from '../../../src/formats/patches/patch-manifest.ts';
import { makeZbsdiff } from '../../../src/formats/patches/zbsdiff.ts';
import { objectPath } from '../../../src/store/layout.ts';
import { applyPatches } from '../../../src/sync/patches/apply-patches.ts';
import { openHeldEntries } from '../../../src/sync/patches/held-entries.ts';
import type { PatchOptions } from '../../../src/sync/patches/patch-plan.ts';
import { planPatchedSync, type SyncOptions, type SyncResult, syncBuild } from '../../../src/sync/sync-build.ts';
import type { LyingServer } from '../../support/lying-server.ts';
import { scratchFolder } from '../../support/scratch.ts';
import {
  expectRightStore,
  type GeneratedCdn,
  generateCdn,
  hostOf,
  type OpenedBuild,
  type OpenOptions,
  openGenerated,
} from '../generated-build.ts';

const scratch = scratchFolder();
const everything: Selection = { tags: [], include: [], all: false };
const nothing = { entries: 0, bytes: 0 };
const patches: PatchOptions = { gapBytes: 4096, maxBytes: 1 << 28 };
const size = ['--files', '120', '--total-bytes', '4M', '--changed', '.4', '--patches', '100', '--keys', '0'];

/** A store that holds build A, made once for a CDN and copied for each test. */
async function storeWithA(cdn: GeneratedCdn, root: string): Promise<void> {
  const server = await hostOf(cdn);
  const at = await openGenerated({ root, cdn, build: 'a', servers: [server] });
  await syncBuild(at.fetcher, at.build, everything);
  await at.close();
  await server.close();
}

describe('a sync with patches', () => {
  let cdn: GeneratedCdn;
  let server: LyingServer;
  let served: GeneratedCdn;
  let opened: OpenedBuild[];
  let number = 0;
  let root: string;

  beforeAll(async () => {
    cdn = generateCdn(...size, '--zlevel', '9');
    await storeWithA(cdn, scratch('a'));
  });
  beforeEach(async () => {
    served = cdn;
    server = await hostOf(cdn);
    opened = [];
    root = copyOfA();
  });
  afterEach(async () => {
    await closeAll();
    await server.close();
  });

  function copyOfA(from = 'a'): string {
    number += 1;
    const to = scratch(`store${number}`);
    fs.cpSync(scratch(from), to, { recursive: true });
    return to;
  }
  async function closeAll(): Promise<void> {
    for (const each of opened.splice(0)) await each.close();
  }
  async function open(more: Partial<OpenOptions> = {}): Promise<OpenedBuild> {
    await closeAll();
    const one = await openGenerated({ root, cdn: served, build: 'b', servers: [server], ...more });
    opened.push(one);
    return one;
  }
  /** Syncs build B over A, and demands that it is whole and right, whatever the patches did. */
  async function syncB(
    options: PatchOptions | undefined,
    at?: OpenedBuild,
    onEntry?: SyncOptions['onEntry'],
  ): Promise<SyncResult & { bytes: number }> {
    const b = at ?? (await open());
    const result = await syncBuild(b.fetcher, b.build, everything, { patches: options, onEntry });
    expect(result).toMatchObject({ missing: nothing, failures: [] });
    expectAllRows(b);
    return { ...result, bytes: b.traffic.bytes };
  }
  const planB = ({ fetcher, build }: OpenedBuild, options = patches) =>
    planPatchedSync(fetcher, build, everything, { patchOptions: options });
  function expectAllRows({ build, store }: OpenedBuild): void {
    for (const row of cdn.truth('b')) {
      for (const ekey of row.ekeys!.split(',')) {
        const place = build.locate(ekey)!;
        const { file, offset } = build.objects.open(place);
        const bytes = fs.readFileSync(file).subarray(offset, offset + place.size);
        expect(md5Hex(decodeBlte(bytes, { ekey }))).toBe(row.ckey);
      }
    }
    expectRightStore(store, { ...served, objects: new Map([...cdn.objects, ...served.objects]) });
  }
  /** Serves another CDN instead. */
  async function serve(other: GeneratedCdn): Promise<void> {
    await server.close();
    served = other;
    server = await hostOf(other);
  }

  const isPatch = (path: string): boolean => path.includes('/patch/');
  const isPatchBody = (path: string): boolean => isPatch(path) && !path.endsWith('.index');
  const dataObjects = ({ store }: OpenedBuild): unknown[] =>
    [...store.ledger.objects()].filter(({ path }) => !isPatch(path));

  test('fetches fewer bytes than one without, by as many as it says, and ends with the same store', async () => {
    const plainBuild = await open({ gapBytes: 0 });
    const plain = await syncB(undefined, plainBuild);
    const objects = dataObjects(plainBuild);
    expect(plain).not.toHaveProperty('patched');
    root = copyOfA();
    const b = await open({ gapBytes: 0 });
    const told: number[] = [];
    const { patched, bytes, wanted, held } = await syncB(patches, b, (size) => told.push(size));
    expect(patched).toMatchObject({ failed: 0 });
    expect(patched!.entries).toBeGreaterThan(15);
    expect(patched!.patchBytes).toBeGreaterThan(0);
    expect(plain.bytes - bytes).toBe(patched!.bytesSaved);
    expect(bytes).toBeLessThan(0.6 * plain.bytes);
    expect({ wanted, held }).toEqual({ wanted: plain.wanted, held: plain.held });
    expect(dataObjects(b)).toEqual(objects);
    // Each entry is told once, however it came.
    expect(told.length).toBeGreaterThan(patched!.entries);
    expect(b.store.ledger.builds('wow')[0]).toMatchObject({ wanted, held });

    const again = await syncB(patches, await open());
    expect(again).toMatchObject({ bytes: 0, patched: { entries: 0, bytesSaved: 0, patchBytes: 0, failed: 0 } });
  });

  test('with the usual gaps too, nothing that was patched is fetched', async () => {
    const at = await open();
    const { patches: plan } = await planB(at);
    server.asked.length = 0;
    const { patched } = await syncB(patches, at);
    expect(patched!.entries).toBe(plan!.choices.length);
    for (const { place } of plan!.choices) {
      const overlapping = server.asked.filter(
        ({ path, range }) =>
          path.endsWith(place.object.hash) && range!.start < place.offset + place.size && range!.end > place.offset,
      );
      expect(overlapping).toEqual([]);
    }
  });

  test('the plan says beforehand what it will do, and fetches only the lists of patches', async () => {
    const planning = await open();
    server.asked.length = 0;
    const { patches: planned } = await planB(planning);
    const { patch } = planning.build.config;
    // The indices of patches, their manifest, and manifests of the build that a plan needs.
    const manifests = new Set([planning.build.config.download!.ekey, planning.build.config.install!.ekey]);
    const bodies = server.asked.map(({ path }) => path.slice(path.lastIndexOf('/') + 1));
    expect(bodies.filter((name) => !name.endsWith('.index') && name !== patch!.ckey && !manifests.has(name))).toEqual(
      [],
    );
    expect(bodies).toContain(patch!.ckey);
    root = copyOfA();
    const { patched } = await syncB(patches);
    expect(patched).toEqual(planned!.expected);
  });

  test('a patch that no host gives right costs its entry nothing but the usual way', async () => {
    const { build } = await open();
    const { patch } = build.config;
    // The manifest is right, or there would be no patches at all.
    server.lie = ({ path }) =>
      isPatchBody(path) && !path.endsWith(patch!.ckey) ? { kind: 'flip', offset: 40 } : undefined;
    const { patched, patchReason } = await syncB(patches, opened[0]!);
    expect(patched!.failed).toBeGreaterThan(0);
    expect(patchReason).toMatch(/patch [0-9a-f]{32} cannot be had/);
  });

  test.each([
    ['gone', { kind: 'status', status: 404 }],
    ['a page of HTML', { kind: 'html' }],
  ] as const)('all lists of patches %s: it is a sync without patches', async (_, lie) => {
    server.lie = ({ path }) => (isPatch(path) ? lie : undefined);
    const { patched, patchReason } = await syncB(patches);
    expect(patched).toEqual({ entries: 0, bytesSaved: 0, patchBytes: 0, failed: 0 });
    expect(patchReason).toBe('the patch manifest cannot be had');
  });

  test('patches that make other contents: nothing wrong is held, and the entries come the usual way', async () => {
    // Each file gets the patches of the next one: right by their keys, wrong by what they make.
    const swapped = withPatches(cdn, (files) =>
      files.map((file, i) => ({ ...file, patches: files[(i + 1) % files.length]!.patches })),
    );
    await serve(swapped);
    const { patched, patchReason } = await syncB(patches);
    expect(patched!.entries).toBe(0);
    expect(patched!.failed).toBeGreaterThan(15);
    expect(patched!.bytesSaved).toBe(-patched!.patchBytes);
    expect(patchReason).toMatch(/patch/);
  });

  test('a patch to another content of the right size: nothing wrong is held', async () => {
    const at = await open();
    const { patches: plan } = await planB(at);
    // The largest entry, so that the patch is worth its bytes.
    const { ckey, place, source } = [...plan!.choices].sort((a, b) => b.place.size - a.place.size)[0]!;
    const wrong = contentOf(place).slice();
    wrong[wrong.length >> 1]! ^= 1;
    const patch = makeZbsdiff(contentOf(source), wrong);
    const patchEkey = fromHex(md5Hex(patch));
    const bad = withPatches(cdn, (files) =>
      files
        .filter(({ targetCkey }) => toHex(targetCkey) === ckey)
        .map((file) => ({ ...file, patches: [{ ...file.patches[0]!, patchEkey, patchSize: patch.length }] })),
    );
    bad.objects.set(objectPath({ cdnPath: 'tpr/wow', kind: 'patch', hash: md5Hex(patch) }), patch);
    // Without an index of loose patches, what no archive has is looked for as a loose one.
    await serve(withConfig(bad, 'cdnConfig', (text) => text.replace(/^patch-file-index.*\n/gm, '')));
    root = copyOfA();
    const { patched, patchReason } = await syncB(patches);
    expect(patched).toMatchObject({ entries: 0, failed: 1 });
    expect(patchReason).toMatch(/does not make content/);
    expect(patched!.patchBytes).toBeGreaterThan(patch.length);
  });

  /** What an entry decodes to. */
  function contentOf({ object, offset, size: bytes }: EntryPlace): Uint8Array {
    return decodeBlte(cdn.objects.get(objectPath(object))!.slice(offset, offset + bytes));
  }

  test('sizes that lie: nothing wrong is held', async () => {
    const lying = withPatches(cdn, (files) =>
      files.map((file, i) => ({
        ...file,
        patches: file.patches.map((patch) => ({ ...patch, sourceSize: i % 2 === 0 ? 1 << 27 : patch.sourceSize - 1 })),
      })),
    );
    await serve(lying);
    const { patched } = await syncB(patches);
    expect(patched!.entries).toBe(0);
    expect(patched!.failed).toBeGreaterThan(15);
  });

  test('an entry that is encoded to another ekey here is not held, and the others are', async () => {
    const at = await open();
    const { patches: plan } = await planB(at);
    const [first, second] = plan!.choices.filter(({ spec }) => spec.type === 'b');
    first!.spec = parseEspec('b:{3K*=z}');
    second!.spec = parseEspec('z:1');
    const told: number[] = [];
    const { patched, patchReason } = await applyPatches(at.fetcher, at.build, plan!, {
      onEntry: (bytes) => told.push(bytes),
    });
    expect(patched).toMatchObject({ failed: 2, entries: plan!.choices.length - 2 });
    expect(told).toHaveLength(plan!.choices.length - 2);
    expect(patchReason).toMatch(/encoded to [0-9a-f]{32} here/);
    for (const choice of plan!.choices) {
      expect(isHeld(at.store, choice.place)).toBe(choice !== first && choice !== second);
    }
    expectRightStore(at.store, cdn);
  });

  test('where the zlib of the publisher is another, no patch is fetched for what it deflated', async () => {
    const other = generateCdn(...size, '--zlevel', '6');
    await storeWithA(other, scratch('a6'));
    root = copyOfA('a6');
    await serve(other);
    const at = await open();
    const { patches: plan } = await planB(at);
    const specs = new Set(plan!.choices.map(({ spec }) => printEspec(spec)));
    expect(specs.size).toBeGreaterThan(0);
    for (const spec of specs) expect(spec).not.toContain('z');
    const result = await syncBuild(at.fetcher, at.build, everything, { patches });
    expect(result).toMatchObject({ missing: nothing, failures: [], patched: { failed: 0 } });
    expectRightStore(at.store, other);
  });

  test('contents above the bound are fetched, not patched', async () => {
    const at = await open();
    const sizes = async (maxBytes: number): Promise<number[]> => {
      const { patches: plan } = await planB(at, { ...patches, maxBytes });
      return plan!.choices.map(({ size: made, sourceSize }) => made + sourceSize);
    };
    const all = (await sizes(1 << 28)).sort((a, b) => a - b);
    const half = all[all.length >> 1]!;
    expect((await sizes(half)).sort((a, b) => a - b)).toEqual(all.filter((sum) => sum <= half));
    const none = await syncB({ ...patches, maxBytes: 100 }, at);
    expect(none).toMatchObject({ patched: { entries: 0, failed: 0 }, patchReason: expect.stringMatching(/no patch/) });
  });

  test('without the old build there is nothing to patch', async () => {
    root = scratch(`fresh${number}`);
    const { patched, patchReason } = await syncB(patches);
    expect(patched).toMatchObject({ entries: 0, failed: 0 });
    expect(patchReason).toMatch(/no patch/);
  });

  test('an old entry that is no longer held, or rotted on disk, leads to nothing wrong', async () => {
    const at = await open();
    const { patches: plan } = await planB(at);
    const inArchive = plan!.choices.filter(({ source }) => !source.loose);
    const [gone, rotten] = [inArchive[0]!, inArchive[1]!];
    const { object, offset: start, size: goneSize } = gone.source;
    at.store.ledger.removeSpans(objectPath(object), [{ start, end: start + goneSize }]);
    const { file, offset } = at.build.objects.open(rotten.source);
    const fd = fs.openSync(file, 'r+');
    const last = offset + rotten.source.size - 1;
    const byte = Buffer.alloc(1);
    fs.readSync(fd, byte, 0, 1, last);
    fs.writeSync(fd, Buffer.of(byte[0]! ^ 1), 0, 1, last);
    const result = await syncBuild(at.fetcher, at.build, everything, { patches });
    fs.writeSync(fd, byte, 0, 1, last);
    fs.closeSync(fd);
    expect(result.patched).toMatchObject({ entries: plan!.choices.length - 2, failed: 1 });
    expect(result).toMatchObject({ failures: [], missing: nothing });
    expectRightStore(at.store, cdn);
  });

  test('an interrupted one goes on: what was made stays, and no patch comes twice', async () => {
    const controller = new AbortController();
    const first = await open({ signal: controller.signal });
    let entries = 0;
    const onEntry = (): void => {
      entries += 1;
      if (entries === 5) controller.abort();
    };
    await expect(syncBuild(first.fetcher, first.build, everything, { patches, onEntry })).rejects.toMatchObject({
      code: 'E_ABORTED',
    });
    expect(entries).toBeGreaterThanOrEqual(5);
    expectRightStore(first.store, cdn);
    const second = await open();
    const { patches: left } = await planB(second);
    const { patched } = await syncB(patches, second);
    expect(left!.jobs).toEqual([]);
    expect(patched).toMatchObject({ entries: left!.choices.length, patchBytes: 0, failed: 0 });
    const asked = server.asked.filter(({ path }) => isPatch(path)).map(({ path, range }) => `${path} ${range?.start}`);
    expect(new Set(asked).size).toBe(asked.length);
  });

  test('with hosts that know no ranges the build still comes whole', async () => {
    server.lie = ({ range }) => (range === undefined ? undefined : { kind: 'whole' });
    const { patched } = await syncB(patches);
    expect(patched).toBeDefined();
  });

  test('held entries are found in the archives of other builds, too', async () => {
    const at = await open({ build: 'a' });
    const elsewhere = { identity: { ...at.build.identity, cdnConfig: '0'.repeat(32) }, locate: () => undefined };
    const found = openHeldEntries(at.store, elsewhere as unknown as Build);
    const row = cdn.truth('a').find(({ archive, size: bytes }) => archive !== 'loose' && Number(bytes) > 0)!;
    const ekey = row.ekeys!.split(',')[0]!;
    expect(found.find(fromHex(ekey))).toEqual(at.build.locate(ekey));
    expect(found.find(fromHex('12'.repeat(16)))).toBeUndefined();
    found.close();
  });
});

const pathOf = (kind: 'config' | 'patch', hash: string): string => objectPath({ cdnPath: 'tpr/wow', kind, hash });

/** The same CDN with another patch manifest for build B, properly named by its build config. */
function withPatches(cdn: GeneratedCdn, change: (files: PatchedFile[]) => PatchedFile[]): GeneratedCdn {
  const objects = new Map(cdn.objects);
  const config = Buffer.from(objects.get(pathOf('config', cdn.identity('b').buildConfig))!).toString();
  const [, key] = /^patch = (\w+)$/m.exec(config)!;
  const manifest = decodePatchManifest(objects.get(pathOf('patch', key!))!);
  const bytes = encodePatchManifest({ ...manifest, files: change([...manifest.files]) });
  objects.set(pathOf('patch', patchManifestKey(bytes)), bytes);
  return withConfig({ ...cdn, objects }, 'buildConfig', (text) =>
    text.replace(`patch = ${key}`, `patch = ${patchManifestKey(bytes)}`),
  );
}

/** The same CDN with another config for build B, under the name that its bytes give it. */
function withConfig(
  cdn: GeneratedCdn,
  which: 'buildConfig' | 'cdnConfig',
  change: (text: string) => string,
): GeneratedCdn {
  const objects = new Map(cdn.objects);
  const text = Buffer.from(objects.get(pathOf('config', cdn.identity('b')[which]))!).toString();
  const changed = Buffer.from(change(text));
  objects.set(pathOf('config', md5Hex(changed)), changed);
  const identity: GeneratedCdn['identity'] = (build) => ({
    ...cdn.identity(build),
    ...(build === 'b' && { [which]: md5Hex(changed) }),
  });
  return { ...cdn, objects, identity };
}
