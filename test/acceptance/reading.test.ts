import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { ExtractResult } from '../../src/sources/extract/extract.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type GoodServer, serveWell } from '../support/serve-well.ts';
import type { ServedRequest } from '../support/served-cdn.ts';
import { makeTree } from '../support/synthetic-cdn.ts';
import { readTruth, type Truth, type TruthRow } from '../support/truth.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();
const hex = expect.stringMatching(/^[0-9a-f]{32}$/);
const amount = { entries: expect.any(Number), bytes: expect.any(Number) };

describe('reading a build', () => {
  const root = scratch('tree');
  let server: GoodServer;
  let truth: Truth;
  let deadHost: string;

  beforeAll(async () => {
    const port = await freePort();
    deadHost = `127.0.0.1:${await freePort()}`;
    makeTree(root, port, ['--files', '250', '--total-bytes', '3M', '--seed', 'reading', '--archives', '3']);
    truth = readTruth(root, 'b');
    server = await serveWell(root, port);
    await withPakrat(session('whole'), (pakrat) => pakrat.sync('wow'));
  });
  afterAll(() => server?.close());

  function service(store: string): string[] {
    return ['--store', scratch(store), '--patch-url', server.url];
  }
  function session(store: string, offline = false): NonNullable<Parameters<typeof withPakrat>[0]> {
    return { store: scratch(store), patchUrl: server.url, offline };
  }
  /** A file that can be read, lies in an archive and comes in one variant. */
  function plainFile(skip = 0): TruthRow {
    const plain = truth.rows.filter(
      (row) =>
        row.locale === '-' && row.lockedBy === undefined && row.archive !== 'loose' && row.content().length > 2000,
    );
    return plain[skip]!;
  }

  test('every command prints JSON of the promised shape', async () => {
    const json = async (...args: string[]): Promise<unknown> => (await pakratJson(args)).value;
    const offline = ['--store', scratch('whole'), '--offline'];
    const row = { BuildConfig: hex, CDNConfig: hex, VersionsName: '11.2.0.60100', Region: 'us' };
    expect(await json('versions', 'wow', ...service('whole'))).toEqual({
      product: 'wow',
      seqn: 61100,
      rows: expect.arrayContaining([expect.objectContaining(row)]),
    });
    expect(await json('cdns', 'wow', ...service('whole'))).toEqual({
      product: 'wow',
      seqn: 1001,
      rows: expect.arrayContaining([expect.objectContaining({ Name: 'us', Path: 'tpr/wow' })]),
    });
    expect(await json('sync', 'wow', ...service('whole'))).toEqual({
      product: 'wow',
      build: { name: '11.2.0.60100', buildConfig: hex, cdnConfig: hex },
      wanted: amount,
      held: amount,
      missing: { entries: 0, bytes: 0 },
      fetched: { entries: 0, bytes: 0, requests: 0 },
      seconds: expect.any(Number),
    });
    const { fileDataId, ckey, ekeys } = plainFile();
    const name = `fdid:${fileDataId}`;
    expect(await json('ls', 'wow', ...offline, name)).toEqual([
      { name, size: plainFile().content().length, fileDataId, ckey, ekey: ekeys[0], locale: expect.any(String) },
    ]);
    expect(await json('extract', 'wow', name, ...offline, '--to', scratch('shape'))).toEqual({
      files: 1,
      bytes: expect.any(Number),
      skipped: 0,
      failed: [],
    });
    expect(await json('info', 'wow', ...offline)).toMatchObject({
      product: 'wow',
      name: '11.2.0.60100',
      buildConfig: hex,
      hosts: [expect.stringMatching(/^http:/)],
      fallbackHosts: [expect.stringMatching(/^https:/)],
    });
    const error = { message: expect.any(String), hint: expect.any(String), data: expect.any(Object) };
    expect(await json('info', 'nothing', ...offline)).toEqual({ error: { code: 'E_OFFLINE', ...error } });
    // It prints the bytes of a file.
    expect(await json('cat', 'nothing', 'x', ...offline)).toEqual({ error: { code: 'E_USAGE', ...error } });
  });

  test('status says what is held and what is unfinished', async () => {
    await withPakrat(session('part'), async (pakrat) => {
      await pakrat.sync('wow_old', { tags: ['OSX'] });
      await pakrat.plan('wow');
    });
    const { value } = await pakratJson<Record<string, unknown>>(['status', '--store', scratch('part')]);
    const names = { product: 'wow_old', name: '11.2.0.60000', buildConfig: hex };
    const build = { ...names, wanted: amount, held: amount, pinned: false };
    expect(value).toEqual({ store: scratch('part'), builds: [build], bytes: expect.any(Number) });
    const whole = runPakrat(['status', 'wow', '--store', scratch('whole')]);
    expect(whole.stdout).toMatch(/wow\s+11\.2\.0\.60100 .*complete/);
    const nowhere = withPakrat({ store: scratch('nowhere') }, (pakrat) => pakrat.status());
    await expect(nowhere).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect(existsSync(scratch('nowhere'))).toBe(false);
  });

  test('a file that is not held is fetched, only its range, and then held', async () => {
    const row = plainFile();
    await withPakrat(session('demand'), async (pakrat) => {
      const source = await pakrat.open('wow');
      for await (const { name } of source.list(['fdid:1'])) throw new Error(`there is ${name}`);
    });
    const before = (await server.requests()).length;
    const first = runPakrat(['cat', 'wow', `fdid:${row.fileDataId}`, ...service('demand')]);
    expect(first).toMatchObject({ status: 0, stderr: '' });
    const asked = (await server.requests()).slice(before);
    expect(asked.filter(ofArchives)).toHaveLength(1);
    expect(asked.filter(ofArchives)[0]).toMatchObject({ status: 206, bytes: row.encodedSize });
    expect(asked.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(row.encodedSize);

    const to = scratch('demand-out');
    const names = [`fdid:${row.fileDataId}`];
    const again = await withPakrat(session('demand', true), (pakrat) => pakrat.extract('wow', { names, to }));
    expect(again).toMatchObject({ files: 1, failed: [] });
    expect(readFileSync(join(to, readdirSync(to)[0]!)).equals(row.content())).toBe(true);
    const synced = await withPakrat(session('demand'), (pakrat) => pakrat.sync('wow'));
    expect(synced.missing.entries).toBe(0);
    const ranges = (await server.requests()).slice(before).filter(ofArchives);
    expect(overlapping(ranges)).toEqual([]);
  });

  const ofArchives = ({ path, range }: ServedRequest): boolean => path.includes('/data/') && range !== undefined;

  test('--offline refuses what is not held, by name, and says what to do', async () => {
    const [held, other] = [plainFile(), plainFile(1)];
    await withPakrat(session('refused'), (pakrat) =>
      pakrat.extract('wow', { names: [held.name], to: scratch('refused-out') }),
    );
    const offline = ['--store', scratch('refused'), '--offline'];
    const cat = runPakrat(['cat', 'wow', other.name, ...offline]);
    expect(cat).toMatchObject({ status: 1, stdout: '' });
    expect(cat.stderr).toContain('E_OFFLINE');
    expect(cat.stderr).toContain(other.name);
    expect(cat.stderr).toContain('Try this: ');
    const both = await pakratJson<ExtractResult>([
      'extract',
      'wow',
      held.name,
      other.name,
      ...offline,
      '--to',
      scratch('refused-both'),
    ]);
    const failed = [{ name: other.name, code: 'E_OFFLINE', message: expect.stringContaining(other.name) }];
    expect(both).toMatchObject({ status: 1, value: { files: 1, failed } });
    expect(existsSync(join(scratch('refused-both'), other.name))).toBe(false);
    const unknown = withPakrat(session('refused', true), (pakrat) => pakrat.open('wow_old'));
    await expect(unknown).rejects.toMatchObject({ code: 'E_OFFLINE' });
  });

  test('names are found whatever their case and slashes', async () => {
    const row = plainFile(3);
    const to = scratch('upper');
    const name = row.name.toUpperCase().replaceAll('/', '\\');
    await withPakrat(session('whole', true), (pakrat) => pakrat.extract('wow', { names: [name], to }));
    const [file] = readdirSync(to, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(readFileSync(join(file!.parentPath, file!.name)).equals(row.content())).toBe(true);
  });

  test('what is not there is not found: a file, an id, keys, a build, a product', async () => {
    const none = 'f'.repeat(32);
    const to = ['--to', scratch('none'), '--store', scratch('whole'), '--offline'];
    const file = await pakratJson(['extract', 'wow', 'no/such.file', ...to]);
    expect(file).toMatchObject({ status: 4, value: { error: { code: 'E_NOT_FOUND' } } });
    await withPakrat(session('whole', true), async (pakrat) => {
      for (const name of ['fdid:99999999', `ckey:${none}`, `ekey:${none}`]) {
        const work = pakrat.extract('wow', { names: [name], to: scratch('none') });
        await expect(work).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
      }
    });
    for (const build of ['wow@1.2.3.4', 'nosuchproduct']) {
      const work = withPakrat(session('none'), (pakrat) => pakrat.sync(build));
      await expect(work).rejects.toMatchObject({ code: 'E_NOT_FOUND', hint: expect.any(String) });
    }
  });

  test('a build is named by version, build id and build config', async () => {
    const configs = JSON.parse(readFileSync(join(root, 'truth/summary.json'), 'utf8')).configs.build as Record<
      'b',
      string
    >;
    await withPakrat(session('whole', true), async (pakrat) => {
      for (const build of ['11.2.0.60100', '60100', configs.b]) {
        await using source = await pakrat.open(`wow@${build}`);
        expect(await source.info()).toMatchObject({ buildConfig: configs.b });
      }
    });
  });

  test('a dead version service and a dead host end the run soon, with what to do', async () => {
    const dead = { store: scratch('dead'), patchUrl: `http://${deadHost}` };
    const service = withPakrat(dead, (pakrat) => pakrat.sync('wow'));
    await expect(service).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED', hint: expect.any(String) });
    const started = performance.now();
    const alone = { ...session('dead'), cdnHost: deadHost };
    const host = withPakrat(alone, (pakrat) => pakrat.sync('wow'));
    await expect(host).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED' });
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

/** Ranges of one object that were asked more than once in part. */
function overlapping(requests: readonly ServedRequest[]): string[] {
  const seen: { path: string; start: number; end: number }[] = [];
  return requests.flatMap(({ path, range }) => {
    const [start, last] = range!.replace('bytes=', '').split('-').map(Number) as [number, number];
    const twice = seen.some((other) => other.path === path && other.start <= last && start < other.end);
    seen.push({ path, start, end: last + 1 });
    return twice ? [`${path} ${range}`] : [];
  });
}
