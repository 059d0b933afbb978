import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import type { ProductTable } from '../../src/app/versions.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { freePort } from '../support/loopback.ts';
import { makeTree, serveTree } from '../support/own-cdn.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { ServedTree } from '../support/served-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

describe('a build found over TACT channels', () => {
  const root = scratch('tree');
  let server: ServedTree;
  let url: string;

  beforeAll(async () => {
    const port = await freePort();
    makeTree(root, port, ['--files', '40', '--total-bytes', '200K']);
    server = await serveTree(root, [], port);
    url = `channels+${server.url}`;
  });
  afterAll(() => server?.close());

  function service(store: string, ...urls: string[]): string[] {
    return ['--store', scratch(store), ...urls.flatMap((one) => ['--patch-url', one])];
  }

  test('is the one that the older services name, and is synced without them', async () => {
    const { value: found } = await pakratJson<ProductTable>(['versions', 'wow', ...service('found', url)]);
    const said = await withPakrat({ store: scratch('said'), patchUrl: server.url }, (pakrat) => pakrat.versions('wow'));
    const us = (table: ProductTable) => table.rows.find(({ Region }) => Region === 'us');
    expect(us(found)).toEqual(us(said));
    const { status, value } = await pakratJson<SyncReport>(['sync', 'wow', ...service('found', url)]);
    expect({ status, value }).toMatchObject({ status: 0, value: { missing: { entries: 0 } } });
    const asked = server.requests().map(({ path }) => path);
    expect(asked.filter((path) => path === '/wow/versions')).toHaveLength(1);
  });

  test('every object is kept under its name, and what the disk spoilt is fetched again', async () => {
    const folder = join(scratch('found'), 'channels');
    const objects = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    expect(objects.length).toBeGreaterThanOrEqual(3);
    for (const { parentPath, name } of objects) expect(md5Hex(readFileSync(join(parentPath, name)))).toBe(name);
    const [first] = objects;
    const spoilt = join(String(first?.parentPath), String(first?.name));
    writeFileSync(spoilt, '{}');
    await withPakrat({ store: scratch('found'), patchUrl: url }, async (pakrat) => {
      await pakrat.versions('wow');
      await pakrat.cdns('wow');
    });
    expect(md5Hex(readFileSync(spoilt))).toBe(first?.name);
  });

  test('a region that no branch names gets the first build, with a word', () => {
    const PAKRAT_CONFIG = scratch('regions.json');
    writeFileSync(PAKRAT_CONFIG, JSON.stringify({ regions: ['us', 'zz'] }));
    const args = ['sync', 'wow', '--region', 'zz', ...service('zz', url)];
    const { status, stderr } = runPakrat(args, { env: { PAKRAT_CONFIG } });
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining('no build for region zz') });
  });

  test('the others carry a sync when an object of the channels lies, and when the service is gone', async () => {
    const objects = join(root, 'www', JSON.parse(readFileSync(join(root, 'www/summary'), 'utf8')).path);
    for (const { parentPath, name } of readdirSync(objects, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )) {
      writeFileSync(join(parentPath, name), '{"products":[]}');
    }
    const alone = await runPakrat(['sync', 'wow', ...service('alone', url)]);
    expect(alone).toMatchObject({ status: 1, stderr: expect.stringContaining('not what its name says') });
    const sync = (store: string) =>
      withPakrat({ store: scratch(store), patchUrl: [url, server.url] }, (pakrat) => pakrat.sync('wow'));
    expect(await sync('lied')).toMatchObject({ missing: { entries: 0 } });
    rmSync(join(root, 'www/summary'));
    expect(await sync('gone')).toMatchObject({ missing: { entries: 0 } });
  });
});
