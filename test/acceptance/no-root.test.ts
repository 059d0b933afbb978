import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { md5Hex } from '../../src/core/hash.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { makeTree, serveTree } from '../support/synthetic-cdn.ts';
import { expectedFiles, type Failed, readTruth, wrongFiles } from '../support/truth.ts';

const scratch = scratchFolder();

/** A tree whose build `wow` has another build config. */
async function serveChanged(name: string, change: (config: string) => string) {
  const tree = scratch(name);
  const port = await freePort();
  makeTree(tree, port, ['--files', '80', '--total-bytes', '300K', '--layout', 'tvfs']);
  const { configs } = JSON.parse(readFileSync(join(tree, 'truth/summary.json'), 'utf8'));
  const path = (hash: string) => join(tree, 'www/tpr/wow/config', hash.slice(0, 2), hash.slice(2, 4), hash);
  const config = change(readFileSync(path(configs.build.b), 'utf8'));
  const hash = md5Hex(new TextEncoder().encode(config));
  mkdirSync(dirname(path(hash)), { recursive: true });
  writeFileSync(path(hash), config);
  const versions = join(tree, 'www/wow/versions');
  writeFileSync(versions, readFileSync(versions, 'utf8').replaceAll(configs.build.b, hash));
  return { tree, server: await serveTree(tree, [], port), store: scratch(`${name}-store`) };
}

const withoutVfs = (config: string) => config.replace(/^vfs-.*\n/gm, '');

interface Listed {
  name: string;
  ckey: string;
}

describe('a build whose names nobody knows', () => {
  test('with a mere stub for a root: install names, and info says where they come from', async () => {
    const { tree, server, store } = await serveChanged('stub', withoutVfs);
    try {
      const args = ['--store', store, '--patch-url', server.url];
      expect((await pakratJson(['sync', 'wow', ...args])).status).toBe(0);
      const { value: info } = await pakratJson(['info', 'wow', '--offline', '--store', store]);
      expect(info).toMatchObject({ root: 'install', notes: [expect.stringMatching(/no root.*install manifest/)] });
      const { value: listed } = await pakratJson<Listed[]>(['ls', 'wow', '--offline', '--store', store]);
      const { install } = readTruth(tree, 'b');
      expect(listed.map(({ name }) => name).sort()).toEqual(install.map(({ path }) => path).sort());
    } finally {
      await server.close();
    }
  }, 30_000);

  test('with a root of no known kind: every content by its key, install files by name, and info says so', async () => {
    // The root is some file of the game.
    const { tree, server, store } = await serveChanged('odd', (config) => {
      const { rows } = readTruth(scratch('odd'), 'b');
      const odd = rows.find((row) => row.lockedBy === undefined && row.content().length > 100)!;
      return withoutVfs(config).replace(/^root = .*$/m, `root = ${odd.ckey}`);
    });
    try {
      const keys = join(tree, 'truth/keys.txt');
      expect(runPakrat(['keys', 'import', keys, '--store', store])).toMatchObject({ status: 0 });
      expect((await pakratJson(['sync', 'wow', '--store', store, '--patch-url', server.url])).status).toBe(0);
      const { value: info } = await pakratJson(['info', 'wow', '--offline', '--store', store]);
      expect(info).toMatchObject({ root: null, notes: [expect.stringMatching(/^E_UNSUPPORTED: root [0-9a-f]{32} /)] });

      const { value: listed } = await pakratJson<Listed[]>(['ls', 'wow', '--offline', '--store', store]);
      const truth = readTruth(tree, 'b');
      const installed = truth.install.map(({ path }) => path);
      expect(
        listed
          .filter(({ name }) => !name.startsWith('ckey:'))
          .map(({ name }) => name)
          .sort(),
      ).toEqual(installed.sort());
      const byKey = new Set(listed.map(({ ckey }) => ckey));
      expect(truth.rows.filter(({ ckey }) => !byKey.has(ckey))).toEqual([]);

      const expected = [
        ...(['ckey', 'ekey'] as const).flatMap((asking) => expectedFiles(truth, asking)),
        ...installed.flatMap((path) => expectedFiles(truth, 'name').filter(({ query }) => query === path)),
      ];
      expect(expected.length).toBeGreaterThan(150);
      const to = scratch('odd-out');
      const queries = expected.map(({ query }) => query);
      const { value } = await pakratJson<{ failed: Failed[] }>([
        'extract',
        'wow',
        ...queries,
        '--to',
        to,
        '--offline',
        '--store',
        store,
      ]);
      expect(wrongFiles(expected, to, value.failed)).toEqual([]);
    } finally {
      await server.close();
    }
  }, 30_000);
});
