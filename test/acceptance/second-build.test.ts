import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { serveWell } from '../support/serve-well.ts';
import { makeTree } from '../support/synthetic-cdn.ts';
import { readTruth, type Truth } from '../support/truth.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

interface Summary {
  configs: Record<'build' | 'cdn', Record<'a' | 'b', string>>;
}

/** Size of an object as it lies on the CDN. */
function sizeOf(root: string, kind: string, name: string): number {
  return statSync(join(root, 'www/tpr/wow', kind, name.slice(0, 2), name.slice(2, 4), name)).size;
}

/** A line of a config file, as words. */
function configWords(root: string, hash: string, name: string): string[] {
  const text = readFileSync(join(root, 'www/tpr/wow/config', hash.slice(0, 2), hash.slice(2, 4), hash), 'utf8');
  return new RegExp(`^${name} = (.*)$`, 'm').exec(text)?.[1]?.split(' ') ?? [];
}

/** What build B has and build A has not: archives that are new with it hold nothing else, its loose objects and manifests, its configs and indices. */
function differenceInBytes(root: string): number {
  const { configs } = JSON.parse(readFileSync(join(root, 'truth/summary.json'), 'utf8')) as Summary;
  const loose = (truth: Truth): Set<string> =>
    new Set(truth.rows.filter(({ archive }) => archive === 'loose').flatMap(({ ekeys }) => ekeys));
  const objects = (which: 'a' | 'b'): Map<string, number> => {
    const [build, cdn] = [configs.build[which], configs.cdn[which]];
    const sizes = new Map<string, number>();
    for (const config of [build, cdn]) sizes.set(config, sizeOf(root, 'config', config));
    for (const archive of configWords(root, cdn, 'archives')) {
      sizes.set(archive, sizeOf(root, 'data', archive));
      sizes.set(`${archive}.index`, sizeOf(root, 'data', `${archive}.index`));
    }
    const fileIndex = `${configWords(root, cdn, 'file-index')[0]}.index`;
    sizes.set(fileIndex, sizeOf(root, 'data', fileIndex));
    for (const ekey of loose(readTruth(root, which))) sizes.set(ekey, sizeOf(root, 'data', ekey));
    for (const name of ['encoding', 'install', 'download', 'size']) {
      const ekey = configWords(root, build, name)[1]!;
      sizes.set(ekey, sizeOf(root, 'data', ekey));
    }
    // The root is loose too, under a key that only encoding knows: the summary says it.
    const summary = JSON.parse(readFileSync(join(root, 'truth/summary.json'), 'utf8')) as Record<
      string,
      { root: string[] }
    >;
    const rootEkey = summary[`build_${which}`]!.root[1]!;
    sizes.set(rootEkey, sizeOf(root, 'data', rootEkey));
    return sizes;
  };
  const held = objects('a');
  return [...objects('b')].reduce((sum, [name, size]) => sum + (held.has(name) ? 0 : size), 0);
}

describe('the second build after the first', () => {
  test('fetches only what differs, and nothing when it is there already', async () => {
    const [root, store, port] = [scratch('tree'), scratch('store'), await freePort()];
    makeTree(root, port, ['--files', '400', '--total-bytes', '8M', '--seed', 'second-build']);
    const server = await serveWell(root, port);
    try {
      const args = ['--store', store, '--patch-url', server.url];
      const first = await pakratJson<SyncReport>(['sync', 'wow_old', ...args]);
      expect(first).toMatchObject({ status: 0, value: { missing: { entries: 0 } } });
      const before = await server.bytesSent();

      const second = await pakratJson<SyncReport>(['sync', 'wow', ...args]);
      expect(second).toMatchObject({ status: 0, value: { missing: { entries: 0 } } });
      const after = await server.bytesSent();
      const difference = differenceInBytes(root);
      expect(after - before).toBeGreaterThanOrEqual(difference);
      expect(after - before).toBeLessThanOrEqual(1.05 * difference);
      expect(difference).toBeLessThan(before / 2);
      // The server also sent the tables of the version service, which are not counted as fetched.
      expect(second.value.fetched.bytes).toBe(difference);

      const third = await pakratJson<SyncReport>(['sync', 'wow', ...args]);
      expect(third.value.fetched).toEqual({ entries: 0, bytes: 0, requests: 0 });
      const asked = (await server.requests()).filter(({ path }) => path.startsWith('/tpr/'));
      expect(new Set(asked.map(({ path, range }) => `${path} ${range}`)).size).toBe(asked.length);
    } finally {
      await server.close();
    }
  });
});
