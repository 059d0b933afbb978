import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { importListfile } from '../../../src/builds/listfile/listfile-import.ts';
import { toHex } from '../../../src/core/bytes.ts';
import { amountsByTag } from '../../../src/fetch/plan/download-rows.ts';
import { type Selection, selectEntries, tagsWithoutFiles } from '../../../src/fetch/plan/selection.ts';
import { wantedRow } from '../../../src/fetch/plan/wanted.ts';
import { storeLayout } from '../../../src/store/layout.ts';
import type { LyingServer } from '../../support/lying-server.ts';
import { scratchFolder } from '../../support/scratch.ts';
import {
  type GeneratedCdn,
  generateCdn,
  hostOf,
  type OpenedBuild,
  openGenerated,
  type TruthRow,
} from '../../sync/generated-build.ts';

const scratch = scratchFolder();

describe('selectEntries', () => {
  let cdn: GeneratedCdn;
  let server: LyingServer;
  let at: OpenedBuild;
  let manifests: string[];

  beforeAll(async () => {
    cdn = generateCdn('--localized', '0.3', '--foreign', '40');
    server = await hostOf(cdn);
    const names = cdn.truth('a').map(({ fdid, name }) => `${fdid};${name}\n`);
    await importListfile(storeLayout(scratch('store')), Readable.from([Buffer.from(names.join(''))]));
    at = await openGenerated({ root: scratch('store'), cdn, build: 'a', servers: [server] });
    const { encoding, root, install, download, size } = at.build.config;
    manifests = [encoding, root, install, download, size].flatMap((each) => {
      if (each === undefined) return [];
      return each.ekey === undefined ? at.build.encoding.findCkey(each.ckey)!.ekeys : [each.ekey];
    });
  });
  afterAll(async () => {
    await at.close();
    await server.close();
  });

  async function select(more: Partial<Selection>): Promise<Map<string, { size: number; priority: number }>> {
    const rows = await selectEntries(at.build, { tags: [], include: [], all: false, ...more });
    const wanted = new Map(
      [...rows].map((row) => {
        const { ekey, size, priority } = wantedRow(row);
        return [toHex(ekey), { size, priority }] as const;
      }),
    );
    expect(wanted.size).toBe(rows.count);
    expect([...wanted.keys()]).toEqual([...wanted.keys()].toSorted());
    for (const ekey of manifests) expect(wanted.get(ekey)?.priority).toBe(-128);
    return wanted;
  }
  const keysOf = (rows: readonly TruthRow[]): string[] => rows.flatMap(({ ekeys }) => ekeys!.split(','));
  const download = async () => {
    const file = (await at.build.download())!;
    const all = Array.from(file.entries(), (entry) => ({ ...entry, ekey: entry.ekey.slice() }));
    return { file, tags: file.tags, count: file.count, all };
  };

  test('without a choice is the whole build, with the sizes that the CDN has', async () => {
    const wanted = await select({});
    for (const { ekeys, esize } of cdn.truth('a')) {
      const [first] = ekeys!.split(',');
      expect(wanted.get(first!)?.size).toBe(Number(esize));
    }
    for (const ekey of keysOf(cdn.truth('a'))) expect(wanted.has(ekey)).toBe(true);
    // What only other builds use is not this build.
    const all = await select({ all: true });
    expect(all.size).toBeGreaterThan(wanted.size);
    for (const page of at.build.group!.pages()) for (const { ekey } of page) expect(all.has(toHex(ekey))).toBe(true);
    for (const { ekey } of at.build.fileIndex!) expect(all.has(toHex(ekey))).toBe(true);
  });

  test('tags choose as the official client does: OR inside a type, AND across, untagged always', async () => {
    const manifest = await download();
    const names = ['Windows', 'x86_64', 'enUS'];
    const wanted = await select({ tags: names });
    const types = new Map<number, typeof manifest.tags>();
    for (const tag of manifest.tags) types.set(tag.type, [...(types.get(tag.type) ?? []), tag]);
    const has = (mask: Uint8Array, i: number): boolean => ((mask[i >> 3]! >> (7 - (i & 7))) & 1) === 1;
    let chosen = 0;
    for (let i = 0; i < manifest.count; i++) {
      const inAll = [...types.values()].every((tags) => {
        const asked = tags.filter(({ name }) => names.includes(name));
        const tagged = tags.some(({ mask }) => has(mask, i));
        return asked.length === 0 || !tagged || asked.some(({ mask }) => has(mask, i));
      });
      const ekey = toHex(manifest.all[i]!.ekey);
      if (inAll) chosen += 1;
      expect([ekey, wanted.has(ekey)]).toEqual([ekey, inAll || manifests.includes(ekey)]);
    }
    expect(chosen).toBeGreaterThan(0);
    expect(chosen).toBeLessThan(manifest.count);
  });

  test('a tag of one language leaves the other languages out', async () => {
    const rowsOf = (locale: string): TruthRow[] => cdn.truth('a').filter((row) => row.locale === locale);
    const only = (locale: string): string[] => {
      const elsewhere = new Set(keysOf(cdn.truth('a').filter((row) => row.locale !== locale)));
      return keysOf(rowsOf(locale)).filter((ekey) => !elsewhere.has(ekey));
    };
    const wanted = await select({ tags: ['deDE'] });
    expect(only('deDE').length).toBeGreaterThan(0);
    for (const ekey of keysOf(rowsOf('deDE'))) expect(wanted.has(ekey)).toBe(true);
    for (const ekey of only('enUS')) expect(wanted.has(ekey)).toBe(false);
    const both = await select({ tags: ['deDE', 'enUS'] });
    for (const ekey of [...only('deDE'), ...only('enUS')]) expect(both.has(ekey)).toBe(true);
  });

  test('a tag that the build does not have is refused', async () => {
    await expect(select({ tags: ['Windows', 'Amiga'] })).rejects.toMatchObject({
      code: 'E_USAGE',
      message: expect.stringContaining('Amiga'),
    });
  });

  test('globs choose by name, whatever case and slashes, in all variants of a file', async () => {
    const chosen = cdn.truth('a').filter(({ name }) => name!.startsWith('world/'));
    const others = keysOf(cdn.truth('a').filter(({ name }) => !name!.startsWith('world/')));
    expect(chosen.length).toBeGreaterThan(0);
    const named = await select({ include: ['World\\**'] });
    for (const ekey of keysOf(chosen)) expect(named.has(ekey)).toBe(true);
    const shared = new Set([...keysOf(chosen), ...manifests]);
    for (const ekey of others) expect(named.has(ekey)).toBe(shared.has(ekey));
  });

  test('globs find the files of the install manifest', async () => {
    const install = (await at.build.install())!;
    const wanted = await select({ include: ['*.exe'] });
    const executables = install.entries.filter(({ path }) => path.endsWith('.exe'));
    expect(executables.length).toBeGreaterThan(0);
    for (const { ckey } of executables) {
      for (const ekey of at.build.encoding.findCkey(ckey)!.ekeys) expect(wanted.has(ekey)).toBe(true);
    }
    expect(wanted.size).toBeLessThan((await select({})).size / 2);
  });

  test('globs narrow what tags choose', async () => {
    const tagged = await select({ tags: ['Windows', 'x86_64', 'enUS'] });
    const named = await select({ include: ['*.exe'] });
    const both = await select({ tags: ['Windows', 'x86_64', 'enUS'], include: ['*.exe'] });
    expect([...both.keys()]).toEqual([...named.keys()].filter((ekey) => tagged.has(ekey)));
    expect(both.size).toBeLessThan(named.size);
  });

  test('a glob that no name matches is not found', async () => {
    await expect(select({ include: ['no/such/*.file'] })).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
      // This build has a list of names.
      hint: expect.stringContaining('pakrat ls'),
    });
  });

  test('each entry has the priority of the download manifest, manifests come first', async () => {
    const wanted = await select({});
    const manifest = await download();
    const seen = new Set<number>();
    for (let i = 0; i < manifest.count; i++) {
      const { ekey, priority } = manifest.all[i]!;
      if (manifests.includes(toHex(ekey))) continue;
      expect(wanted.get(toHex(ekey))?.priority).toBe(priority);
      seen.add(priority);
    }
    expect(seen.size).toBeGreaterThan(1);
  });

  test('amounts by tag are those of the entries that are wanted', async () => {
    const manifest = await download();
    const rows = await selectEntries(at.build, { tags: ['deDE'], include: [], all: false });
    const amounts = await amountsByTag(rows, manifest.file);
    expect(amounts.map(({ tag }) => tag.name)).toEqual(manifest.tags.map(({ name }) => name));
    const find = (name: string): number => amounts.find(({ tag }) => tag.name === name)!.amount.entries;
    expect(find('deDE')).toBeGreaterThan(0);
    expect(find('enUS')).toBeLessThan(find('deDE'));
    for (const { tag, amount } of amounts) {
      let [entries, bytes] = [0, 0];
      for (let i = 0; i < manifest.count; i++) {
        const { ekey, size } = manifest.all[i]!;
        if (((tag.mask[i >> 3]! >> (7 - (i & 7))) & 1) === 0 || rows.find(ekey) === undefined) continue;
        entries += 1;
        bytes += size;
      }
      expect(amount).toEqual({ entries, bytes });
    }
  });
});

test('a tag that no file has is told: it brings nothing of its own', async () => {
  const tag = (name: string, mask: number) => ({ name, type: 1, mask: Uint8Array.of(mask) });
  const download = { tags: [tag('Windows', 0x80), tag('HighRes', 0)] };
  const install = { tags: [tag('Windows', 0), tag('OSX', 0)] };
  const build = { download: async () => download, install: async () => install };
  const asked = ['windows', 'HighRes', 'osx', 'none'];
  expect(await tagsWithoutFiles(build as unknown as Parameters<typeof tagsWithoutFiles>[0], asked)).toEqual([
    'HighRes',
    'osx',
  ]);
});
