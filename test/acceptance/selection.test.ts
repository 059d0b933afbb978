import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type GoodServer, serveWell } from '../support/serve-well.ts';
import { makeTree } from '../support/synthetic-cdn.ts';
import { readTagTruth } from '../support/tag-truth.ts';
import { readTruth, type Truth } from '../support/truth.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

describe('a sync of what was chosen', () => {
  const root = scratch('tree');
  let server: GoodServer;
  let truth: Truth;

  beforeAll(async () => {
    const port = await freePort();
    makeTree(root, port, ['--files', '250', '--total-bytes', '1500K', '--seed', 'selection', '--localized', '0.2']);
    truth = readTruth(root, 'b');
    server = await serveWell(root, port);
  });
  afterAll(() => server?.close());

  async function sync(store: string, ...choice: string[]): Promise<SyncReport> {
    const { status, value } = await pakratJson<SyncReport>(['sync', 'wow', ...service(store), ...choice]);
    expect({ status, value }).toMatchObject({ status: 0 });
    return value;
  }
  function service(store: string): string[] {
    return ['--store', scratch(store), '--patch-url', server.url];
  }

  function session(store: string) {
    return { store: scratch(store), patchUrl: server.url };
  }

  /** Which of these can be read without a network; a missing key does not matter for that. */
  async function heldOf(store: string, names: readonly string[]): Promise<Set<string>> {
    const to = scratch(`${store}-out-${Math.random()}`);
    const value = await withPakrat({ store: scratch(store), offline: true }, (pakrat) =>
      pakrat.extract('wow', { names, to }),
    );
    const refused = value.failed.filter(({ code }) => code === 'E_OFFLINE').map(({ name }) => name);
    const strange = value.failed.filter(({ code }) => code !== 'E_OFFLINE' && code !== 'E_KEY_MISSING');
    expect(strange).toEqual([]);
    expect(value.files + value.failed.length).toBe(names.length);
    return new Set(names.filter((name) => !refused.includes(name)));
  }
  const everyEkey = (): string[] => [
    ...new Set(truth.rows.flatMap(({ ekeys }) => ekeys.map((ekey) => `ekey:${ekey}`))),
  ];
  const importNames = (store: string) =>
    withPakrat({ store: scratch(store) }, (pakrat) => pakrat.listfile.import(join(root, 'listfile.csv')));

  test('--tags brings what has a tag of each type, and nothing else', async () => {
    const { byEkey, byInstallPath } = readTagTruth(root, 'b');
    const chosen = (tags: string[]): boolean =>
      tags.includes('Windows') && tags.includes('x86_64') && (tags.includes('enUS') || tags.includes('frFR'));
    const report = await sync('tags', '--tags', 'Windows,x86_64,enUS,frFR');

    const ekeys = [...byEkey].filter(([, tags]) => chosen(tags)).map(([ekey]) => `ekey:${ekey}`);
    expect(ekeys.length).toBeGreaterThan(200);
    expect(ekeys.length).toBeLessThan(byEkey.size - 30);
    expect(await heldOf('tags', everyEkey())).toEqual(new Set(ekeys));
    const installed = [...byInstallPath].filter(([, tags]) => chosen(tags)).map(([path]) => path);
    expect(await heldOf('tags', [...byInstallPath.keys()])).toEqual(new Set(installed));
    // Beside them only the five manifests of the build.
    expect(report.wanted.entries).toBe(ekeys.length + installed.length + 5);
  });

  test('a tag that the build does not have is refused', async () => {
    const work = withPakrat(session('tags'), (pakrat) => pakrat.sync('wow', { tags: ['Windows', 'Amiga'] }));
    await expect(work).rejects.toMatchObject({ code: 'E_USAGE', message: expect.stringContaining('Amiga') });
  });

  test('--include brings every variant of the files whose names match, alone and together with --tags', async () => {
    await importNames('include');
    const ofMaps = (row: Truth['rows'][number]): boolean => /^world\/maps\/zone00\d\/[^/]*\.(adt|blp)$/.test(row.name);
    const named = truth.rows.filter(ofMaps);
    const globs = ['--include', 'world/maps/zone00?/*.adt', '--include', 'WORLD\\maps\\zone00?\\*.blp'];
    const tagged = new Set(
      named.filter(({ locale }) => locale !== 'deDE' && locale !== 'frFR').flatMap(({ ekeys }) => ekeys),
    );
    const { byEkey } = readTagTruth(root, 'b');
    const both = [...tagged].filter((ekey) => byEkey.get(ekey)!.includes('Windows'));
    await sync('include', ...globs, '--tags', 'Windows,enUS');
    expect(await heldOf('include', everyEkey())).toEqual(new Set(both.map((ekey) => `ekey:${ekey}`)));

    const include = globs.filter((word) => word !== '--include');
    await withPakrat(session('include'), (pakrat) => pakrat.sync('wow', { include }));
    const all = named.flatMap(({ ekeys }) => ekeys.map((ekey) => `ekey:${ekey}`));
    expect(all.length).toBeGreaterThan(both.length);
    expect(await heldOf('include', everyEkey())).toEqual(new Set(all));
  });

  test('--include that no name matches says so', async () => {
    const work = withPakrat(session('include'), (pakrat) => pakrat.sync('wow', { include: ['no/such/*.file'] }));
    await expect(work).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('--all keeps every object of the build as the CDN has it', async () => {
    const report = await sync('all', '--all');
    expect(report.missing).toEqual({ entries: 0, bytes: 0 });
    const { configs, passed } = knownObjects();
    const expected = filesBelow(join(root, 'www/tpr')).filter((path) => !passed.has(path.split('/').at(-1)!));
    const ofOther = new Set([configs.build.a, configs.cdn.a]);
    const different = expected.filter((path) => {
      if (ofOther.has(path.split('/').at(-1)!)) return false;
      const ours = join(scratch('all'), 'tpr', path);
      return (
        statSync(ours, { throwIfNoEntry: false }) === undefined ||
        !readFileSync(ours).equals(readFileSync(join(root, 'www/tpr', path)))
      );
    });
    expect(different).toEqual([]);
    for (const kind of ['config', 'data', 'patch'])
      expect(expected.some((path) => path.startsWith(`wow/${kind}/`))).toBe(true);
  });

  /** Names of configs, and of indices that are passed over: archive groups, which a mirror makes itself, and the file index of build a alone. */
  function knownObjects(): { configs: Record<'build' | 'cdn', Record<'a' | 'b', string>>; passed: Set<string> } {
    const summary = JSON.parse(readFileSync(join(root, 'truth/summary.json'), 'utf8'));
    const configFile = (hash: string): string =>
      join(root, 'www/tpr/wow/config', hash.slice(0, 2), hash.slice(2, 4), hash);
    const cdnConfigs = [summary.configs.cdn.a, summary.configs.cdn.b].map((hash) =>
      readFileSync(configFile(hash), 'utf8'),
    );
    const found = cdnConfigs.flatMap((text) => [...text.matchAll(/^(?:patch-)?archive-group = (\w+)$/gm)]);
    const [older, newer] = cdnConfigs.map((text) => /^file-index = (\w+)$/m.exec(text)?.[1]);
    const passed = [...found.map(([, hash]) => hash), ...(older === newer ? [] : [older])];
    return { configs: summary.configs, passed: new Set(passed.map((hash) => `${hash}.index`)) };
  }

  test('--dry-run fetches no data, and the sync after it does what it said', async () => {
    const before = (await server.requests()).length;
    const planned = await sync('dry', '--dry-run');
    const manifests = new Set(manifestEkeys());
    const asked = (await server.requests()).slice(before);
    const data = asked.filter(
      ({ path }) => path.includes('/data/') && !path.endsWith('.index') && !path.startsWith('/tpr/configs'),
    );
    expect(data.map(({ path }) => path.split('/').at(-1)!).filter((name) => !manifests.has(name))).toEqual([]);
    // What planning itself reads is fetched: manifests that lie in archives.
    expect(planned.fetched.entries).toBeLessThanOrEqual(manifests.size);
    expect(planned.plan!.priorities.reduce((sum, { entries }) => sum + entries, 0)).toBe(planned.missing.entries);
    expect(planned.plan!.tags.map(({ tag }) => tag)).toEqual(
      expect.arrayContaining(['Windows', 'x86_64', 'enUS', 'speech']),
    );

    const between = (await server.requests()).length;
    const done = await withPakrat(session('dry'), (pakrat) => pakrat.sync('wow'));
    const ranges = (await server.requests()).slice(between).filter(({ path }) => path.includes('/data/'));
    expect(done.wanted).toEqual(planned.wanted);
    expect(done.held).toEqual(planned.wanted);
    expect(ranges.length).toBe(planned.plan!.requests);
    expect(ranges.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(planned.plan!.bytes);
  });

  /** Encoding keys of the manifests that a plan needs. */
  function manifestEkeys(): string[] {
    const { configs } = knownObjects();
    const hash = configs.build.b;
    const text = readFileSync(join(root, 'www/tpr/wow/config', hash.slice(0, 2), hash.slice(2, 4), hash), 'utf8');
    const pairs = [...text.matchAll(/^(?:encoding|install|download) = \w+ (\w+)$/gm)].map(([, ekey]) => ekey!);
    const summary = JSON.parse(readFileSync(join(root, 'truth/summary.json'), 'utf8'));
    return [...pairs, summary.build_b.root[1]];
  }

  test('--limit-rate holds the rate over all transfers, and --jobs the number of them', async () => {
    const report = await sync('rate', '--limit-rate', '750K', '--jobs', '4');
    const bound = report.fetched.bytes / (750 * 1024);
    expect(bound).toBeGreaterThan(1.5);
    // A quarter of a second may be ahead.
    expect(report.seconds).toBeGreaterThan(bound - 0.3);
    expect(report.seconds).toBeLessThan(bound + 5);
  });
});

/** Every file below a folder, as relative paths. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
