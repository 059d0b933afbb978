import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parseSourceName } from '../../../src/app/session/open-source.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { encodeBlte } from '../../../src/formats/blte/encode.ts';
import type { VerifyResult } from '../../../src/verify/verify-result.ts';
import { type DbFile, fileDb } from '../../builds/roots/file-db-bytes.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { readTruth, type TruthRow } from '../../support/truth.ts';
import { buildKeys, importTree, listAll, makeClient, verifyFolder, withOpened } from '../casc/local-tree.ts';

jest.setTimeout(120_000);
const scratch = scratchFolder();

describe('a folder in the layout of a CDN', () => {
  const root = scratch('tree');
  const store = scratch('store');
  let rows: TruthRow[];

  beforeAll(async () => {
    makeClient(root, 'cdn-folder', ['--patches', '3', '--loose', '0.2']);
    await importTree(root, store);
    rows = readTruth(root, 'b').rows.filter(
      ({ locale, lockedBy, content }) => locale === '-' && lockedBy === undefined && content().length > 500,
    );
  });

  /** A copy of the CDN that a test may spoil. */
  function copy(name: string): string {
    cpSync(join(root, 'www/tpr/wow'), scratch(name), { recursive: true });
    return scratch(name);
  }
  const objectFile = (folder: string, kind: string, hash: string): string =>
    join(folder, kind, hash.slice(0, 2), hash.slice(2, 4), hash);
  const info = (name: string) => withOpened(store, name, (source) => source.info());
  const verify = (folder: string): Promise<VerifyResult> => verifyFolder(store, `cdn:${folder}`);
  const contentOf = (name: string, file: string, from = store): Promise<Buffer> =>
    withOpened(from, name, async (source) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of source.read(await source.get(file))) pieces.push(piece.slice());
      return Buffer.concat(pieces);
    });
  function keepOnly(folder: string, build: string): void {
    for (const other of Object.values(buildKeys(root)))
      if (other !== build) rmSync(objectFile(folder, 'config', other));
  }

  test('paths, prefixes and builds behind an @ are told apart', () => {
    const folder = join(root, 'www/tpr/wow');
    expect(parseSourceName(folder)).toEqual({ scheme: 'cdn', rest: folder });
    expect(parseSourceName(`${folder}@abcd`)).toEqual({ scheme: 'cdn', rest: `${folder}@abcd` });
    expect(parseSourceName(join(root, 'local'))).toMatchObject({ scheme: 'casc' });
    expect(parseSourceName(`${join(root, 'local')}@wow`)).toMatchObject({ scheme: 'casc' });
    expect(parseSourceName(join(root, 'local/Data'))).toMatchObject({ scheme: 'casc' });
    expect(parseSourceName(root)).toMatchObject({ scheme: 'pak' });
    expect(parseSourceName('pak:x')).toEqual({ scheme: 'pak', rest: 'x' });
    expect(parseSourceName('wow@11.2.0.60100')).toMatchObject({ scheme: 'tact' });
  });

  test('of several builds one must be named, by its config, the start of it, or its name', async () => {
    const folder = join(root, 'www/tpr/wow');
    const { a, b } = buildKeys(root);
    const several = {
      code: 'E_USAGE',
      message: expect.stringMatching(`(${a}.*${b})|(${b}.*${a})`),
      hint: expect.stringContaining(`${folder}@`),
    };
    await expect(info(folder)).rejects.toMatchObject(several);
    for (const choice of [a, a.slice(0, 8), 'WOW-60000patch11.2.0_Retail', '11.2.0.60000', '60000']) {
      expect(await info(`${folder}@${choice}`)).toMatchObject({
        kind: 'cdn',
        buildConfig: a,
        buildName: 'WOW-60000patch11.2.0_Retail',
      });
    }
    const { cdnConfig, cdnConfigs } = await info(`${folder}@${a}`);
    // The archives of both CDN configs are read as one; that has no name that a CDN knows.
    expect(cdnConfigs).toHaveLength(2);
    expect(cdnConfig).toBeUndefined();
    const unknown = { code: 'E_NOT_FOUND', hint: expect.stringContaining(b) };
    await expect(info(`cdn:${folder}@${'0'.repeat(32)}`)).rejects.toMatchObject(unknown);
  });

  test('the only build of a folder is the one that is meant', async () => {
    const folder = copy('single');
    keepOnly(folder, buildKeys(root).b);
    expect(await info(folder)).toMatchObject({
      buildConfig: buildKeys(root).b,
      present: { archives: expect.any(Number) },
    });
  });

  test('what the folder lacks is refused by name; the rest is read', async () => {
    const folder = copy('partly');
    keepOnly(folder, buildKeys(root).b);
    const loose = rows.find(({ archive }) => archive === 'loose')!;
    const [gone, hole, short, kept] = rows.filter(
      (row, i) => row.archive !== 'loose' && rows.findIndex(({ archive }) => archive === row.archive) === i,
    ) as [TruthRow, TruthRow, TruthRow, TruthRow?];
    rmSync(objectFile(folder, 'data', loose.ekeys[0]!));
    rmSync(objectFile(folder, 'data', gone.archive));
    const size = statSync(objectFile(folder, 'data', hole.archive)).size;
    writeFileSync(objectFile(folder, 'data', hole.archive), new Uint8Array(size));
    for (const row of [loose, gone, hole]) {
      const missing = { code: 'E_NOT_FOUND', message: expect.stringContaining(row.name) };
      await expect(contentOf(folder, row.name)).rejects.toMatchObject(missing);
    }
    const whole = short ?? kept;
    expect(Buffer.compare(await contentOf(folder, whole!.name), whole!.content())).toBe(0);
    // An archive without its index is not known of at all. Another store, for the first one remembers all of them.
    rmSync(`${objectFile(folder, 'data', gone.archive)}.index`);
    const fresh = scratch('fresh-store');
    await importTree(root, fresh);
    expect(Buffer.compare(await contentOf(folder, whole!.name, fresh), whole!.content())).toBe(0);
    await expect(contentOf(folder, gone.name, fresh)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    const facts = (await info(folder)) as { archives: number; present: { archives: number } };
    expect(facts.present.archives).toBe(facts.archives - 1);
  });

  test('verify finds damage in configs, indices, archives, loose objects and patches', async () => {
    const right = await verify(join(root, 'www/tpr/wow'));
    expect(right.bad).toEqual([]);
    expect(right.checked.entries).toBeGreaterThan(200);
    const folder = copy('damaged');
    const archived = rows.find(({ archive }) => archive !== 'loose')!;
    const loose = rows.find(({ archive }) => archive === 'loose')!;
    const patches = join(folder, 'patch');
    const patch = readdirSync(patches, { recursive: true, encoding: 'utf8' })
      .map((name) => join(patches, name))
      .find((file) => /[0-9a-f]{32}$/.test(file) && statSync(file).isFile())!;
    const archive = objectFile(folder, 'data', archived.archive);
    const index = readdirSync(join(folder, 'data'), { recursive: true, encoding: 'utf8' }).find(
      (name) => name.endsWith('.index') && !name.includes(archived.archive),
    )!;
    const files = [
      archive,
      objectFile(folder, 'data', loose.ekeys[0]!),
      objectFile(folder, 'config', buildKeys(root).a),
      join(folder, 'data', index),
      patch,
    ];
    for (const file of files) {
      const bytes = readFileSync(file);
      bytes[bytes.length - 1]! ^= 1;
      writeFileSync(file, bytes);
    }
    const { bad } = await verify(folder);
    for (const file of files)
      expect(bad.map(({ name }) => name.split(' ')[0])).toContain(
        file.replace(/.*\/(config|data|patch)\/..\/..\//, '$1/'),
      );
    expect(bad).toHaveLength(files.length);
  });

  test('a folder with two CDN configs is read through both', async () => {
    // Build a needs the archives of its own CDN config only; without that of build b it must be found all the same.
    const folder = copy('two');
    const { a } = buildKeys(root);
    const cdn = JSON.parse(readFileSync(join(root, 'truth/summary.json'), 'utf8')).configs.cdn as {
      a: string;
      b: string;
    };
    rmSync(objectFile(folder, 'config', cdn.b));
    const row = readTruth(root, 'a').rows.find(
      ({ locale, lockedBy, archive }) => locale === '-' && lockedBy === undefined && archive !== 'loose',
    )!;
    expect(Buffer.compare(await contentOf(`${folder}@${a}`, row.name), row.content())).toBe(0);
    expect(existsSync(join(folder, 'ledger.db'))).toBe(false);
  });

  test('a build without containers: its names are in a file database', async () => {
    const folder = copy('containerless');
    const put = (kind: string, hash: string, bytes: Uint8Array): void => {
      mkdirSync(dirname(objectFile(folder, kind, hash)), { recursive: true });
      writeFileSync(objectFile(folder, kind, hash), bytes);
    };
    const dbFile = (path: string, { ckey, ekeys, encodedSize, content }: Omit<TruthRow, 'name'>): DbFile => ({
      path,
      ckey,
      ekey: ekeys[0]!,
      encodedSize,
      size: content().length,
    });
    // One that no encoding file and no index knows: only the database tells its size.
    const extra = new TextEncoder().encode('only the database knows of this one');
    const own = encodeBlte(extra, 'b:{10=n,*=z}');
    put('data', own.ekey, own.bytes);
    const files = [
      ...rows.slice(0, 20).map((row) => dbFile(`Game\\${row.name}`, row)),
      {
        path: 'Game/extra.txt',
        ckey: md5Hex(extra),
        ekey: own.ekey,
        size: extra.length,
        encodedSize: own.bytes.length,
      },
    ];
    const database = fileDb(files);
    const blte = encodeBlte(database, 'b:{1K=n,*=z}');
    put('data', blte.ekey, blte.bytes);
    const text = readFileSync(objectFile(folder, 'config', buildKeys(root).b), 'utf8').replace(
      /^root = .*$/m,
      `root = ${'0'.repeat(32)}`,
    );
    const config = new TextEncoder().encode(
      `${text}\nbuild-file-db = ${md5Hex(database)} ${blte.ekey}\nbuild-file-db-size = ${database.length} ${blte.bytes.length}\n`,
    );
    put('config', md5Hex(config), config);
    const name = `${folder}@${md5Hex(config)}`;
    expect(await info(name)).toMatchObject({ root: 'file-db' });
    const listed = await withOpened(store, name, listAll);
    expect(listed.filter((entry) => entry.name.startsWith('Game/'))).toHaveLength(files.length);
    for (const row of rows.slice(0, 20))
      expect(Buffer.compare(await contentOf(name, `Game/${row.name}`), row.content())).toBe(0);
    expect((await contentOf(name, 'game\\extra.txt')).toString()).toBe('only the database knows of this one');
  });
});
