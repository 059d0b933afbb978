import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { fromHex, toHex } from '../../../src/core/bytes.ts';
import { decodeBuildInfo, encodeBuildInfo, type InstalledBuild } from '../../../src/formats/local/build-info.ts';
import {
  bucketOf,
  decodeLocalIndex,
  encodeLocalIndex,
  type LocalEntry,
} from '../../../src/formats/local/local-index.ts';
import { extractFiles } from '../../../src/sources/extract/extract.ts';
import type { VerifyResult } from '../../../src/verify/verify-result.ts';
import { randomSource } from '../../support/hostile.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { readTruth, type TruthRow } from '../../support/truth.ts';
import { buildKeys, importTree, listAll, makeClient, manifestKeys, verifyFolder, withOpened } from './local-tree.ts';

jest.setTimeout(120_000);
const scratch = scratchFolder();

describe('an installed game', () => {
  const root = scratch('tree');
  const store = scratch('store');
  let rows: TruthRow[];

  beforeAll(async () => {
    makeClient(root, 'installed');
    await importTree(root, store);
    rows = readTruth(root, 'b').rows.filter(
      ({ locale, lockedBy, content }) => locale === '-' && lockedBy === undefined && content().length > 500,
    );
  });

  /** A copy of the client that a test may spoil. */
  function copy(name: string): string {
    cpSync(join(root, 'local'), scratch(name), { recursive: true });
    return scratch(name);
  }
  const dataOf = (game: string): string => join(game, 'Data/data');
  const verify = (game: string): Promise<VerifyResult> => verifyFolder(store, `casc:${game}`);
  async function contentOf(game: string, name: string, told: string[] = []): Promise<Uint8Array> {
    return withOpened(
      store,
      game,
      async (source) => {
        const pieces: Uint8Array[] = [];
        for await (const piece of source.read(await source.get(name))) pieces.push(piece.slice());
        return Buffer.concat(pieces);
      },
      { told },
    );
  }
  const indexFile = (game: string, ekey: string, generation = 1): string =>
    join(dataOf(game), `0${bucketOf(fromHex(ekey)).toString(16)}${generation.toString(16).padStart(8, '0')}.idx`);
  const readIndex = (file: string) => decodeLocalIndex(new Uint8Array(readFileSync(file)));
  function entryOf(game: string, { ekeys }: TruthRow): LocalEntry {
    return readIndex(indexFile(game, ekeys[0]!)).find(fromHex(ekeys[0]!))!;
  }
  /** Changes a byte of an entry; offsets count from its local header. */
  function spoil(game: string, row: TruthRow, at: number): void {
    const { archive, offset } = entryOf(game, row);
    const file = join(dataOf(game), `data.${String(archive).padStart(3, '0')}`);
    const bytes = readFileSync(file);
    bytes[offset + at]! ^= 0x55;
    writeFileSync(file, bytes);
  }
  /** Rewrites an index with entries changed or left out. */
  function reindex(
    game: string,
    ekey: string,
    change: (entry: LocalEntry) => LocalEntry | undefined,
    generation = 1,
  ): void {
    const index = readIndex(indexFile(game, ekey));
    const entries = [...index].flatMap((entry) =>
      toHex(entry.key) === ekey.slice(0, 18) ? (change(entry) ?? []) : entry,
    );
    writeFileSync(indexFile(game, ekey, generation), encodeLocalIndex({ bucket: index.bucket, sorted: entries }));
  }

  test('a path is enough, that of the game or of its container; info says what is there', async () => {
    for (const path of [join(root, 'local'), join(root, 'local/Data'), `casc:${dataOf(join(root, 'local'))}`]) {
      const info = await withOpened(store, path, (source) => source.info());
      expect(info).toMatchObject({
        kind: 'casc',
        product: 'wow',
        name: '11.2.0.60100',
        buildConfig: buildKeys(root).b,
      });
      const files = readdirSync(dataOf(join(root, 'local'))).filter((name) => name.startsWith('data.'));
      const bytes = files.reduce((sum, name) => sum + readFileSync(join(dataOf(join(root, 'local')), name)).length, 0);
      expect(info.installed).toMatchObject({ bytes });
      const [wanted, present] = [info.wanted, info.present] as { entries: number; bytes: number }[];
      expect(present!.entries).toBeGreaterThan(150);
      expect(present!.entries).toBeLessThanOrEqual(wanted!.entries);
    }
  });

  test('what is not installed is listed as such, counted, and refused by name', async () => {
    const game = copy('partly');
    const row = rows[0]!;
    reindex(game, row.ekeys[0]!, () => undefined);
    await withOpened(store, game, async (source) => {
      const missing = (await listAll(source)).filter(({ note }) => note !== undefined);
      expect(missing).toMatchObject([
        { note: 'not installed', facts: { fileDataId: row.fileDataId, ekey: row.ekeys[0] } },
      ]);
      const names = [row.name, rows[1]!.name];
      const result = await extractFiles(source, { names, to: scratch('partly-out') });
      expect(result).toMatchObject({
        files: 1,
        failed: [{ code: 'E_NOT_FOUND', message: expect.stringContaining('not installed') }],
      });
      expect(result.failed[0]!.message).toContain(row.name);
    });
    const amount = (path: string) =>
      withOpened(store, path, async (source) => (await source.info()).present as { entries: number });
    expect((await amount(game)).entries).toBe((await amount(join(root, 'local'))).entries - 1);
  });

  test('a second encoding, which was not installed, is refused by its key', async () => {
    const other = readTruth(root, 'b').rows.find(({ ekeys }) => ekeys.length > 1)!;
    await expect(contentOf(join(root, 'local'), `ekey:${other.ekeys[1]}`)).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
    });
    await expect(contentOf(join(root, 'local'), `ekey:${'f'.repeat(32)}`)).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
    });
  });

  test('bytes that were never downloaded, and a data file that is gone, are not installed', async () => {
    const game = copy('holes');
    const row = rows[2]!;
    const { archive, offset, size } = entryOf(game, row);
    const file = join(dataOf(game), `data.${String(archive).padStart(3, '0')}`);
    writeFileSync(file, readFileSync(file).fill(0, offset, offset + size));
    await expect(contentOf(game, row.name)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect(Buffer.compare(await contentOf(game, rows[3]!.name), rows[3]!.content())).toBe(0);
    rmSync(file);
    await expect(contentOf(game, rows[3]!.name)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('entries without a local header, or with rubbish in its place, are read', async () => {
    const game = copy('headers');
    const [row, bare] = [rows[4]!, rows[5]!];
    for (let at = 0; at < 30; at++) spoil(game, row, at);
    reindex(game, bare.ekeys[0]!, (entry) => ({ ...entry, offset: entry.offset + 30, size: entry.size - 30 }));
    for (const each of [row, bare]) expect(Buffer.compare(await contentOf(game, each.name), each.content())).toBe(0);
    expect((await verify(game)).bad).toEqual([]);
  });

  test('the newest index of a bucket counts; when it is damaged, the one before it', async () => {
    const game = copy('generations');
    const row = rows[6]!;
    const ekey = row.ekeys[0]!;
    // Hexadecimal: a is newer than 9.
    reindex(game, ekey, (entry) => entry, 0xa);
    reindex(game, ekey, () => undefined, 0x9);
    reindex(game, ekey, () => undefined, 0x1);
    expect(Buffer.compare(await contentOf(game, row.name), row.content())).toBe(0);
    writeFileSync(
      indexFile(game, ekey, 0xb),
      readFileSync(indexFile(game, ekey, 0xa))
        .subarray(0, 4096)
        .fill(1, 100),
    );
    const told: string[] = [];
    expect(Buffer.compare(await contentOf(game, row.name, told), row.content())).toBe(0);
    expect(told).toEqual([expect.stringContaining('0000000b.idx')]);
    expect((await verify(game)).bad).toMatchObject([
      { name: indexFile(game, ekey, 0xb), code: expect.stringMatching(/^E_FORMAT/) },
    ]);
  });

  test('a bucket whose only index cannot be read costs its entries: all others are extracted', async () => {
    const game = copy('no-bucket');
    const extract = (to: string) =>
      withOpened(store, game, (source) => extractFiles(source, { names: [], to: scratch(to) }));
    const whole = await extract('whole-out');
    // Not that of the manifests, without which there are no names.
    const needed = new Set(Object.values(manifestKeys(root)).map((ekey) => indexFile(game, ekey)));
    const lost = rows.find(({ ekeys }) => !needed.has(indexFile(game, ekeys[0]!)))!;
    writeFileSync(indexFile(game, lost.ekeys[0]!), '');
    const left = await extract('no-bucket-out');
    expect(left.failed).toContainEqual(expect.objectContaining({ name: lost.name, code: 'E_FORMAT_TRUNCATED' }));
    expect(left.files + left.failed.length).toBe(whole.files + whole.failed.length);
    expect(left.files).toBeGreaterThan(whole.files / 2);
    expect(await withOpened(store, game, (source) => source.info())).toMatchObject({ kind: 'casc' });
  });

  test('verify finds every kind of damage, and where', async () => {
    expect(await verify(join(root, 'local'))).toMatchObject({ bad: [], repaired: 0 });
    const game = copy('damaged');
    // Last byte, first byte of the BLTE header, the size in the local header.
    const [chunk, header, local] = [rows[7]!, rows[8]!, rows[9]!];
    spoil(game, chunk, entryOf(game, chunk).size - 1);
    spoil(game, header, 30 + 7);
    spoil(game, local, 16);
    const config = join(game, 'Data/config', buildKeys(root).b.replace(/^(..)(..)/, '$1/$2/$1$2'));
    const { bad, checked } = await verify(game);
    expect(checked.entries).toBeGreaterThan(200);
    const named = (row: TruthRow) => bad.find(({ name }) => name.endsWith(row.ekeys[0]!.slice(0, 18)));
    expect(named(chunk)).toMatchObject({ code: 'E_INTEGRITY' });
    expect(named(header)?.code).toMatch(/^E_/);
    expect(named(local)).toMatchObject({ code: 'E_INTEGRITY', message: expect.stringContaining('local header') });
    expect(bad).toHaveLength(3);
    for (const row of [chunk, header])
      await expect(contentOf(game, row.name)).rejects.toMatchObject({
        code: expect.stringMatching(/^E_(INTEGRITY|FORMAT)/),
      });
    writeFileSync(config, `${readFileSync(config, 'utf8')}\n`);
    expect((await verify(game)).bad.map(({ name }) => name)).toContain(`config/${buildKeys(root).b}`);
    await expect(contentOf(game, rows[0]!.name)).rejects.toMatchObject({ code: 'E_INTEGRITY' });
  });

  test('an entry under the key of another is refused', async () => {
    const game = copy('swapped');
    const [one, other] = [
      rows[10]!,
      rows.slice(11).find((row) => row.content().length !== rows[10]!.content().length)!,
    ];
    const place = entryOf(game, other);
    reindex(game, one.ekeys[0]!, ({ key }) => ({ ...place, key }));
    // Without a local header only the hash of the entry tells.
    for (let at = 0; at < 30; at++) spoil(game, other, at);
    await expect(contentOf(game, one.name)).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    const { bad } = await verify(game);
    expect(bad).toMatchObject([{ name: expect.stringContaining(one.ekeys[0]!.slice(0, 18)), code: 'E_INTEGRITY' }]);
  });

  test('whatever bytes are changed, no wrong content comes out', async () => {
    const game = copy('flips');
    const random = randomSource(11);
    for (const name of readdirSync(dataOf(game)).filter((each) => each.startsWith('data.'))) {
      const bytes = readFileSync(join(dataOf(game), name));
      for (let i = 0; i < 60; i++) bytes[Math.floor(random() * bytes.length)]! ^= 1 << Math.floor(random() * 8);
      writeFileSync(join(dataOf(game), name), bytes);
    }
    const expected = rows.filter(({ ekeys }) => ekeys.length === 1);
    // The manifests of the build are in the store already, so that it opens.
    await withOpened(store, game, async (source) => {
      const names = expected.map(({ name }) => name);
      const { failed, files } = await extractFiles(source, { names, to: scratch('flips-out') });
      expect(failed.length).toBeGreaterThan(5);
      expect(files).toBe(expected.length - failed.length);
      expect(new Set(failed.map(({ code }) => code.slice(0, 8)))).not.toContain('E_STORE');
      for (const { name, content } of expected) {
        if (failed.some((each) => each.name === name)) continue;
        expect(Buffer.compare(readFileSync(join(scratch('flips-out'), name)), content())).toBe(0);
      }
    });
    for (const name of readdirSync(dataOf(game)).filter((each) => each.endsWith('.idx'))) {
      writeFileSync(
        join(dataOf(game), name),
        Uint8Array.from({ length: 3000 }, () => Math.floor(random() * 256)),
      );
    }
    expect((await verify(game)).bad).toHaveLength(16);
    await expect(contentOf(game, rows[0]!.name)).rejects.toMatchObject({ code: expect.stringMatching(/^E_FORMAT/) });
  });

  function withBuilds(name: string, change: (build: InstalledBuild) => InstalledBuild[]): string {
    const game = copy(name);
    const file = join(game, '.build.info');
    const info = decodeBuildInfo(new Uint8Array(readFileSync(file)));
    writeFileSync(file, encodeBuildInfo({ ...info, builds: info.builds.flatMap(change) }));
    return game;
  }

  test('of several builds the active one is opened, another one by its name', async () => {
    const other = { product: 'wow_classic', version: '1.15.7', buildKey: 'ab'.repeat(16) };
    const game = withBuilds('several', (build) => [{ ...build, ...other, active: false }, build]);
    const info = (name: string) => withOpened(store, name, (source) => source.info());
    expect(await info(game)).toMatchObject({ product: 'wow', alsoInstalled: ['wow_classic us 1.15.7'] });
    for (const choice of ['11.2.0.60100', '60100'])
      expect(await info(`${game}@${choice}`)).toMatchObject({ product: 'wow' });
    await expect(info(`casc:${game}@wow_classic`)).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
      message: expect.stringContaining('abab'),
    });
    await expect(info(`${game}@fenris`)).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
      hint: expect.stringContaining('wow_classic us 1.15.7'),
    });
    const both = withBuilds('both', (build) => [{ ...build, ...other }, build]);
    await expect(info(both)).rejects.toMatchObject({
      code: 'E_USAGE',
      message: expect.stringMatching(/wow_classic us 1.15.7.*wow us/),
      hint: expect.stringContaining('@wow_classic'),
    });
    expect(await info(`${both}@wow`)).toMatchObject({ product: 'wow' });
    // The folder of a product inside the game says which it is.
    cpSync(join(root, 'truth'), join(both, '_retail_'), { recursive: true });
    writeFileSync(join(both, '_retail_', '.flavor.info'), 'Product Flavor!STRING:0\nwow\n');
    expect(await info(`casc:${join(both, '_retail_')}`)).toMatchObject({ product: 'wow' });
  });

  test('what is no game says so', async () => {
    const open = (name: string) => withOpened(store, name, (source) => source.info());
    await expect(open(`casc:${join(root, 'truth')}`)).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
      hint: expect.any(String),
    });
    await expect(open(`casc:${scratch('nothing')}`)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    const game = copy('empty');
    renameSync(dataOf(game), scratch('moved'));
    await expect(open(game)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });
});
