import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { FileInBuild } from '../../src/app/which.ts';
import { renderWhich } from '../../src/cli/render/which.ts';
import { type PublishedBuild, publishBuild } from '../../src/publish/publish-build.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { freePort } from '../support/loopback.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
const store = scratch('store');
const builds: PublishedBuild[] = [];
let server: StaticServer;
const offline = { store, offline: true };

/** What the file says in each build, the oldest first: it comes, stays, changes, goes, and comes again. */
const texts = [undefined, 'one', 'one', 'two', undefined, 'two'];

beforeAll(async () => {
  const port = await freePort();
  server = await serveFolder(scratch(), { port });
  for (const [i, text] of texts.entries()) {
    const named = text === undefined ? [] : [{ name: 'a.txt', fileDataId: 1, read: () => Buffer.from(text) }];
    const always = { name: 'always.txt', fileDataId: 2, read: () => Buffer.from(`build ${i}`), install: true };
    const place = { product: 'game', out: scratch('cdn'), hosts: [`127.0.0.1:${port}/cdn`], regions: ['us'] };
    builds.push(
      await publishBuild({ ...place, version: `1.${i}.${100 + i}`, buildId: 100 + i, files: [...named, always] }),
    );
  }
});
afterAll(() => server.close());

const pick = (rows: FileInBuild[]) => rows.map(({ name, change }) => `${name} ${change}`);

test('the builds are told by age, with what the file is in each, and nothing is asked of anybody', async () => {
  const cdn = { store, patchUrl: `${server.url}/cdn` };
  // The newest is synced first: when it was synced says nothing of its age.
  await withPakrat(cdn, (pakrat) => pakrat.sync(['game'], { builds: 'all' }));
  const asked = server.stats.requests;
  await withPakrat(offline, async (pakrat) => {
    const { builds: rows } = await pakrat.which('a.txt');
    expect(pick(rows)).toEqual([
      '1.0.100 absent',
      '1.1.101 new',
      '1.2.102 same',
      '1.3.103 changed',
      '1.4.104 gone',
      '1.5.105 new',
    ]);
    expect(rows.map(({ size, held }) => [size, held])).toEqual([
      [null, false],
      [3, true],
      [3, true],
      [3, true],
      [null, false],
      [3, true],
    ]);
    expect(rows[1]?.ckey).toMatch(/^[0-9a-f]{32}$/);
    expect(rows.map(({ ckey }) => ckey === rows[3]?.ckey)).toEqual([false, false, false, true, false, true]);
    const byKey = await pakrat.which(`ckey:${rows[3]?.ckey}`, { product: 'game' });
    expect(pick(byKey.builds)).toEqual([
      '1.0.100 absent',
      '1.1.101 absent',
      '1.2.102 absent',
      '1.3.103 new',
      '1.4.104 gone',
      '1.5.105 new',
    ]);
    expect(pick((await pakrat.which('always.txt')).builds)[1]).toBe('1.1.101 changed');
    expect(renderWhich({ name: 'a.txt', builds: rows }, Number.POSITIVE_INFINITY)).toMatch(
      /^game +1\.3\.103 +changed +3 +held +[0-9a-f]{32}$/m,
    );
  });
  expect(server.stats.requests).toBe(asked);
});

test('a file that no build has, and a product that the store does not know, are not found', async () => {
  await withPakrat(offline, async (pakrat) => {
    const notFound = { code: 'E_NOT_FOUND' };
    await expect(pakrat.which('b.txt')).rejects.toMatchObject(notFound);
    await expect(pakrat.which('a.txt', { product: 'other' })).rejects.toMatchObject(notFound);
    await expect(pakrat.which('ckey:12')).rejects.toMatchObject({ code: 'E_USAGE' });
  });
});

test('a build that cannot be read without a network is told with its reason, and the next is held against the one before it', async () => {
  const third = builds[2]?.buildConfig ?? '';
  rmSync(scratch('store/tpr/game/config', third.slice(0, 2), third.slice(2, 4), third));
  await withPakrat(offline, async (pakrat) => {
    const { builds: rows } = await pakrat.which('a.txt');
    expect(pick(rows)).toEqual([
      '1.0.100 absent',
      '1.1.101 new',
      '1.2.102 null',
      '1.3.103 changed',
      '1.4.104 gone',
      '1.5.105 new',
    ]);
    expect(rows[2]?.problem).toMatchObject({ code: 'E_OFFLINE' });
  });
});
