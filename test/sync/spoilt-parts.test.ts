import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Build } from '../../src/builds/build.ts';
import type { EntryPlace } from '../../src/builds/objects.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { isHeld } from '../../src/fetch/held-spans.ts';
import { buildSource } from '../../src/sources/build-source.ts';
import { objectPath } from '../../src/store/layout.ts';
import { syncBuild } from '../../src/sync/sync-build.ts';
import type { LyingServer } from '../support/lying-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { hasGenerator } from '../support/synthetic-cdn.ts';
import {
  expectRightStore,
  type GeneratedCdn,
  generateCdn,
  hostOf,
  openGenerated,
  type TruthRow,
} from './generated-build.ts';

/* A store whose disk has spoilt or lost a manifest or an entry since it was held. */

const scratch = scratchFolder();

/** A store that holds a build, and what is in it. */
interface Synced {
  cdn: GeneratedCdn;
  server: LyingServer;
  root: string;
  names: number;
  places: Map<string, EntryPlace>;
}

type Part = readonly [what: string, find: (build: Build) => string];

const rootOf: Part = ['the root', ({ config, encoding }) => encoding.findCkey(config.root!.ckey)!.ekeys[0]!];
const encoding: Part = ['the encoding file', ({ config }) => config.encoding.ekey!];
const install: Part = ['the install manifest', ({ config }) => config.install!.ekey!];
const vfsRoot: Part = ['the vfs-root', ({ config }) => config.vfsRoot!.ekey!];
const nested: Part = ['a nested manifest', ({ config }) => config.vfs[1]!.ekey!];

const kinds: [name: string, options: string[], parts: Part[]][] = [
  ['loose', ['--loose-meta', '1'], [encoding, rootOf, install]],
  ['in an archive', ['--loose-meta', '0'], [rootOf, install]],
  // In trees of our own a TVFS has no manifest in it.
  ['of a TVFS', ['--layout', 'tvfs', '--loose-meta', '1'], hasGenerator ? [vfsRoot, nested] : [vfsRoot]],
];
const stores = new Map<string, Synced>();

async function countNames(build: Build): Promise<number> {
  let count = 0;
  for await (const _ of buildSource(build, { locale: 'enUS' }).list(() => true)) count += 1;
  return count;
}

beforeAll(async () => {
  for (const [kind, options, parts] of kinds) {
    const cdn = generateCdn(...options);
    const server = await hostOf(cdn);
    const root = scratch(kind);
    const { fetcher, build, close } = await openGenerated({ root, cdn, build: 'a', servers: [server] });
    const { missing } = await syncBuild(fetcher, build, { tags: [], include: [], all: false });
    expect(missing.entries).toBe(0);
    const places = new Map(parts.map(([what, find]) => [what, build.locate(find(build))!]));
    expect([...places.values()].map(({ loose }) => loose)).toEqual(parts.map(() => kind !== 'in an archive'));
    stores.set(kind, { cdn, server, root, names: await countNames(build), places });
    await close();
  }
});

afterAll(async () => {
  for (const { server } of stores.values()) await server.close();
});

const harms: [how: string, harm: (file: string, place: EntryPlace) => void][] = [
  [
    'with other bytes',
    (file, { offset, size }) => {
      const bytes = fs.readFileSync(file);
      bytes[offset + (size >> 1)]! ^= 1;
      fs.writeFileSync(file, bytes);
    },
  ],
  ['cut', (file, { offset, size }) => fs.truncateSync(file, offset + (size >> 1))],
  ['gone', (file) => fs.rmSync(file)],
  [
    'with a folder in its place',
    (file) => {
      fs.rmSync(file);
      fs.mkdirSync(file);
    },
  ],
];

const cases = kinds.flatMap(([kind, , parts]) =>
  parts.flatMap(([what]) => harms.map(([how, harm]) => [what, kind, how, harm] as const)),
);

describe('a file', () => {
  const rowOf = (wanted: (row: TruthRow) => boolean): TruthRow =>
    stores
      .get('loose')!
      .cdn.truth('a')
      .find((row) => Number(row.size) > 500 && row.locale === '-' && wanted(row))!;
  const isPlain = ({ keyname }: TruthRow): boolean => keyname === '-';

  /** A copy of the store in which a byte of an entry is another, opened. */
  async function spoilt(name: string, { ekeys = '' }: TruthRow, servers: readonly LyingServer[]) {
    const { root, cdn } = stores.get('loose')!;
    const copy = scratch(name);
    fs.cpSync(root, copy, { recursive: true });
    const at = await openGenerated({ root: copy, cdn, build: 'a', servers });
    const place = at.build.locate(ekeys.split(' ')[0]!)!;
    const file = at.store.file(objectPath(place.object));
    const bytes = fs.readFileSync(file);
    bytes[place.offset + (place.size >> 1)]! ^= 1;
    fs.writeFileSync(file, bytes);
    const read = async (ckey: string | undefined): Promise<string> => {
      const source = buildSource(at.build, { locale: 'enUS' });
      const pieces: Uint8Array[] = [];
      for await (const piece of source.read(await source.get(`ckey:${ckey}`))) pieces.push(piece.slice());
      return md5Hex(Buffer.concat(pieces));
    };
    return { ...at, place, read, copy };
  }

  test('whose entry the disk has spoilt is fetched again where that may be, and nothing else is', async () => {
    const { cdn, server } = stores.get('loose')!;
    const row = rowOf(isPlain);
    const at = await spoilt('spoilt file', row, [server]);
    server.asked.length = 0;
    expect(await at.read(row.ckey)).toBe(row.ckey);
    expect(new Set(server.asked.map(({ path }) => path))).toEqual(new Set([objectPath(at.place.object)]));
    expect(at.traffic.bytes).toBeLessThan(at.place.size + 2 * 65536);
    expectRightStore(at.store, cdn);
    await at.close();
  });

  test('is refused offline, and held as before', async () => {
    const row = rowOf(isPlain);
    const at = await spoilt('spoilt file offline', row, []);
    await expect(at.read(row.ckey)).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    expect(isHeld(at.store, at.place)).toBe(true);
    await at.close();
  });

  test('that cannot be read for another reason is not asked for again', async () => {
    const { root, cdn, server } = stores.get('loose')!;
    const at = await openGenerated({ root, cdn, build: 'a', servers: [server] });
    const place = at.build.locate(rowOf(isPlain).ekeys!.split(' ')[0]!)!;
    expect(await at.build.objects.lose!(place)).toBe(false);
    expect(isHeld(at.store, place)).toBe(true);
    await at.close();
  });
});

describe.each(cases)('%s, %s, %s', (what, kind, how, harm) => {
  /** A copy of the store, with nothing derived in it and that harm done. */
  function harmed(): Synced & { place: EntryPlace; file: string } {
    const synced = stores.get(kind)!;
    const root = scratch(`${what} ${kind} ${how}`);
    fs.rmSync(root, { recursive: true, force: true });
    fs.cpSync(synced.root, root, { recursive: true });
    for (const folder of ['manifests', 'names']) fs.rmSync(join(root, folder), { recursive: true });
    const place = synced.places.get(what)!;
    const path = objectPath(place.object);
    const file = [join(root, path), join(root, 'partial', path)].find((one) => fs.existsSync(one))!;
    harm(file, place);
    return { ...synced, root, place, file };
  }

  test('is fetched again where that may be, and nothing else is', async () => {
    const { root, cdn, server, names, place } = harmed();
    server.asked.length = 0;
    const at = await openGenerated({ root, cdn, build: 'a', servers: [server] });
    expect(await countNames(at.build)).toBe(names);
    expect(new Set(server.asked.map((asked) => asked.path))).toEqual(new Set([objectPath(place.object)]));
    expect(at.traffic.bytes).toBeLessThan(place.size + 2 * 65536);
    expect(isHeld(at.store, place)).toBe(true);
    await at.close();
    const again = await openGenerated({ root, cdn, build: 'a', servers: [] });
    expect(await countNames(again.build)).toBe(names);
    if (how === 'with other bytes') expectRightStore(again.store, cdn);
    await again.close();
  });

  test('offline that is told, and costs what only it lists', async () => {
    const { root, cdn, names, place } = harmed();
    const notes: { text: string; code: string | undefined }[] = [];
    const onNote = (text: string, code?: string): unknown => notes.push({ text, code });
    const opening = openGenerated({ root, cdn, build: 'a', servers: [], onNote });
    const isDamaged = how === 'with other bytes' || how === 'cut';
    if (what === 'the encoding file') {
      await expect(opening).rejects.toMatchObject({
        message: expect.stringMatching(isDamaged ? /^the encoding file is damaged/ : /^the encoding file is not there/),
        hint: expect.stringContaining('pakrat verify --repair'),
      });
      return;
    }
    const at = await opening;
    const listed = await countNames(at.build);
    expect(listed).toBeGreaterThan(0);
    // Files of the nested manifest have other names as well.
    if (what !== 'a nested manifest') expect(listed).not.toBe(names);
    expect(isHeld(at.store, place)).toBe(true);
    await at.close();
    const code = { 'with other bytes': 'E_INTEGRITY', cut: 'E_FORMAT_TRUNCATED' }[how as string] ?? 'E_NOT_FOUND';
    expect(notes).toContainEqual({ text: expect.stringMatching(/manifest|root/), code });
  });
});
