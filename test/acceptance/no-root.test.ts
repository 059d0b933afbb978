import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { md5Hex } from '../../src/core/hash.ts';
import type { Pakrat } from '../../src/pakrat.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { ServedTree } from '../support/served-cdn.ts';
import { makeTree, serveTree } from '../support/synthetic-cdn.ts';
import { expectedFiles, readTruth, wrongFiles } from '../support/truth.ts';
import { withPakrat } from '../support/with-pakrat.ts';

const scratch = scratchFolder();

const tree = scratch('tree');
let server: ServedTree;
/** The build config of `wow` that the version service names. */
let named: string;

beforeAll(async () => {
  const port = await freePort();
  makeTree(tree, port, ['--files', '80', '--total-bytes', '300K', '--layout', 'tvfs']);
  named = builtConfig();
  server = await serveTree(tree, [], port);
});
afterAll(() => server?.close());

function builtConfig(): string {
  return JSON.parse(readFileSync(join(tree, 'truth/summary.json'), 'utf8')).configs.build.b;
}

/** Gives the build `wow` of the tree another build config, made from its own. */
function changeConfig(change: (config: string) => string): void {
  const path = (hash: string) => join(tree, 'www/tpr/wow/config', hash.slice(0, 2), hash.slice(2, 4), hash);
  const config = change(readFileSync(path(builtConfig()), 'utf8'));
  const hash = md5Hex(new TextEncoder().encode(config));
  mkdirSync(dirname(path(hash)), { recursive: true });
  writeFileSync(path(hash), config);
  const versions = join(tree, 'www/wow/versions');
  writeFileSync(versions, readFileSync(versions, 'utf8').replaceAll(named, hash));
  named = hash;
}

/** Syncs the build with the keys of some files, and does more with the session. */
async function synced<Result>(
  store: string,
  keyFiles: readonly string[],
  work: (pakrat: Pakrat) => Promise<Result>,
): Promise<Result> {
  return withPakrat({ store, patchUrl: server.url }, async (pakrat) => {
    if (keyFiles.length > 0) await pakrat.keys.import(keyFiles);
    expect((await pakrat.sync('wow')).missing.entries).toBe(0);
    return work(pakrat);
  });
}

const infoOf = async (store: string): Promise<unknown> =>
  (await pakratJson(['info', 'wow', '--offline', '--store', store])).value;
/** What `ls` lists. */
const listOf = async (store: string): Promise<Listed[]> =>
  (await pakratJson<Listed[]>(['ls', 'wow', '-R', '--offline', '--store', store])).value;

const withoutVfs = (config: string) => config.replace(/^vfs-.*\n/gm, '');

interface Listed {
  name: string;
  ckey: string;
}

describe('a build whose names nobody knows', () => {
  test('with a mere stub for a root: install names, and info says where they come from', async () => {
    changeConfig(withoutVfs);
    const store = scratch('stub-store');
    const { install } = readTruth(tree, 'b');
    await synced(store, [], async (pakrat) => {
      const names: string[] = [];
      for await (const { name } of (await pakrat.open('wow')).list()) names.push(name);
      expect(names.sort()).toEqual(install.map(({ path }) => path).sort());
    });
    expect(await infoOf(store)).toMatchObject({
      root: 'install',
      notes: [expect.stringMatching(/no root.*install manifest/)],
    });
  });

  test('with a root of no known kind: every content by its key, install files by name, and info says so', async () => {
    const truth = readTruth(tree, 'b');
    // The root is some file of the game.
    const odd = truth.rows.find((row) => row.lockedBy === undefined && row.content().length > 100)!;
    changeConfig((config) => withoutVfs(config).replace(/^root = .*$/m, `root = ${odd.ckey}`));
    const store = scratch('odd-store');
    const installed = truth.install.map(({ path }) => path);
    const expected = [
      ...(['ckey', 'ekey'] as const).flatMap((asking) => expectedFiles(truth, asking)),
      ...installed.flatMap((path) => expectedFiles(truth, 'name').filter(({ query }) => query === path)),
    ];
    expect(expected.length).toBeGreaterThan(150);
    const to = scratch('odd-out');
    const names = expected.map(({ query }) => query);
    // The root may be a file that is encrypted.
    const keys = [join(tree, 'truth/keys.txt')];
    const { failed } = await synced(store, keys, (pakrat) => pakrat.extract('wow', { names, to }));
    expect(wrongFiles(expected, to, failed)).toEqual([]);

    expect(await infoOf(store)).toMatchObject({
      root: null,
      notes: [expect.stringMatching(/^E_UNSUPPORTED: root [0-9a-f]{32} /)],
    });
    const listed = await listOf(store);
    const named = listed.map(({ name }) => name).filter((name) => !name.startsWith('ckey:'));
    expect(named.sort()).toEqual(installed.sort());
    const byKey = new Set(listed.map(({ ckey }) => ckey));
    expect(truth.rows.filter(({ ckey }) => !byKey.has(ckey))).toEqual([]);
  });
});
