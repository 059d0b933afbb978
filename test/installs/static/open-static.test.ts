import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { isBuildSource } from '../../../src/sources/build-source.ts';
import { extractFiles } from '../../../src/sources/extract/extract.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { expectedFiles, readTruth } from '../../support/truth.ts';
import { importTree, listAll, makeClient, verifyFolder, withOpened, wrongOf } from '../casc/local-tree.ts';
import { makeStaticWithEncoding, makeStaticWithoutEncoding } from './static-tree.ts';

jest.setTimeout(120_000);
const scratch = scratchFolder();

describe('a static container', () => {
  test('with an encoding file: every file comes out right by each of its names', async () => {
    const [root, store, game] = [scratch('tree'), scratch('store'), scratch('Overwatch')];
    makeClient(root, 'static', ['--keys', '2']);
    await importTree(root, store);
    // The client has not every encoding; the folder of the CDN has.
    const cdn = `cdn:${join(root, 'www/tpr/wow')}@WOW-60100patch11.2.0_Retail`;
    const keys = await withOpened(store, cdn, async (source) => {
      if (!isBuildSource(source)) throw new Error('no build');
      return makeStaticWithEncoding(source.build, join(game, 'data'));
    });
    const truth = readTruth(root, 'b');
    for (const asking of ['name', 'fdid', 'ckey'] as const) {
      expect(await wrongOf(store, game, expectedFiles(truth, asking), { to: scratch(`out-${asking}`) })).toEqual([]);
    }
    const moved = expectedFiles(truth, 'ekey').map((file) => {
      const ekey = keys.get(file.query.slice('ekey:'.length))!;
      return { ...file, query: `ekey:${ekey}`, paths: [`ekey-${ekey}`] };
    });
    expect(await wrongOf(store, game, moved, { to: scratch('out-ekey') })).toEqual([]);
    expect(await withOpened(store, game, (source) => source.info())).toMatchObject({
      kind: 'casc',
      product: 'pro',
      name: '3.13.4',
    });
    const { bad, checked } = await verifyFolder(store, `casc:${game}`);
    expect(bad).toEqual([]);
    expect(checked.entries).toBe(keys.size + 1);

    // The last byte of a data file is that of an entry: of its last chunk, or of an entry without chunks.
    const files = readdirSync(join(game, 'data')).filter((name) => name.startsWith('data.'));
    expect(files.length).toBeGreaterThan(2);
    const spoilt = join(game, 'data', files[0]!);
    const bytes = readFileSync(spoilt);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(spoilt, bytes);
    expect((await verifyFolder(store, `casc:${game}`)).bad).toMatchObject([
      { name: expect.stringContaining(files[0]!), code: expect.stringMatching(/^E_(INTEGRITY|FORMAT)/) },
    ]);

    renameSync(spoilt, `${spoilt}.away`);
    await withOpened(store, game, async (source) => {
      const absent = (await listAll(source)).filter(({ note }) => note === 'not installed');
      expect(absent.length).toBeGreaterThan(5);
      const { failed } = await extractFiles(source, { names: [absent[0]!.name], to: scratch('absent') });
      expect(failed).toMatchObject([{ code: 'E_NOT_FOUND', message: expect.stringContaining('not installed') }]);
    });
  });

  test('without one, its manifests bare zlib streams: every file comes out right by its name', async () => {
    const [root, store, game] = [scratch('tvfs'), scratch('tvfs-store'), scratch('Diablo II Resurrected')];
    makeClient(root, 'static-tvfs', ['--layout', 'tvfs', '--spans', '2']);
    await importTree(root, store);
    await withOpened(store, join(root, 'local'), async (source) => {
      if (!isBuildSource(source)) throw new Error('no build');
      await makeStaticWithoutEncoding(source.build, join(game, 'Data'));
    });
    const truth = readTruth(root, 'b');
    const installed = new Set(truth.install.map(({ path }) => path));
    for (const locale of ['enUS', 'deDE']) {
      const expected = expectedFiles(truth, 'name', locale).filter(({ query }) => !installed.has(query));
      expect(expected.length).toBeGreaterThan(10);
      expect(await wrongOf(store, game, expected, { to: scratch(`tvfs-${locale}`), locale })).toEqual([]);
    }
    const { bad, checked } = await verifyFolder(store, `casc:${game}`);
    expect(bad).toEqual([]);
    expect(checked.entries).toBeGreaterThan(100);
    await withOpened(store, game, async (source) => {
      expect((await listAll(source)).filter(({ note }) => note !== undefined)).toEqual([]);
    });
    rmSync(join(game, 'Data/.build.config'));
    await expect(withOpened(store, `casc:${game}`, (source) => source.info())).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
    });
  });
});
