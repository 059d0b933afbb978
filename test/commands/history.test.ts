import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { HistoryReport } from '../../src/app/history.ts';
import { type PublishedBuild, publishBuild } from '../../src/publish/publish-build.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { freePort } from '../support/loopback.ts';
import { runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// A whole process; the machine may be busy.
jest.setTimeout(60_000);
const scratch = scratchFolder();
const store = scratch('store');
let server: StaticServer;
let port: number;

beforeAll(async () => {
  port = await freePort();
});
afterAll(() => server?.close());

function publish(version: string, buildId: number): Promise<PublishedBuild> {
  const files = [{ name: 'a.txt', fileDataId: 1, read: () => Buffer.from(version) }];
  const place = { product: 'game', out: scratch('cdn'), hosts: [`127.0.0.1:${port}`], regions: ['us', 'eu'] };
  return publishBuild({ ...place, root: 'wow', version, buildId, files });
}

test('every build that was live while the store was asked is there, the last first, with what is held of it', async () => {
  const builds: PublishedBuild[] = [await publish('1.0', 100)];
  server = await serveFolder(scratch('cdn'), { port });
  const history = await withPakrat({ store, patchUrl: server.url }, async (pakrat) => {
    await pakrat.sync('game');
    for (const [version, buildId] of [
      ['1.1', 101],
      ['1.2', 102],
    ] as const) {
      builds.push(await publish(version, buildId));
      await pakrat.versions('game');
    }
    await pakrat.versions('game');
    return pakrat.history('game');
  });
  expect(history.builds).toMatchObject(
    builds.reverse().map(({ version, buildConfig, cdnConfig, buildId }) => ({
      name: version,
      buildId: String(buildId),
      buildConfig,
      cdnConfig,
      regions: ['us', 'eu'],
    })),
  );
  const [newest, between, oldest] = history.builds;
  expect([newest?.held, between?.held]).toEqual([null, null]);
  expect(oldest?.held).toEqual(oldest?.wanted);
  expect(oldest?.held?.entries).toBeGreaterThan(0);
  for (const { firstSeen, lastSeen } of history.builds) {
    expect(Date.parse(String(firstSeen))).toBeLessThanOrEqual(Date.parse(String(lastSeen)));
    expect(Math.abs(Date.now() - Date.parse(String(lastSeen)))).toBeLessThan(120_000);
  }
  // It was asked for twice.
  expect(newest?.firstSeen).not.toBe(newest?.lastSeen);

  const run = runPakrat(['history', 'game', '--store', store]);
  expect(run.status).toBe(0);
  expect(run.stdout).toMatch(/^game: 3 builds were seen$/m);
  expect(run.stdout).toMatch(new RegExp(`^1\\.0 .* us eu +${oldest?.buildConfig.slice(0, 8)} +held$`, 'm'));
  const shown = JSON.parse(runPakrat(['history', 'game', '--store', store, '--json']).stdout) as HistoryReport;
  expect(shown).toEqual(history);
});

test('a product that nobody asked for, and a store that is not there, are not found', async () => {
  const notFound = { code: 'E_NOT_FOUND', hint: expect.any(String) };
  await withPakrat({ store, offline: true }, async (pakrat) => {
    await expect(pakrat.history('other')).rejects.toMatchObject(notFound);
  });
  await withPakrat({ store: scratch('none'), offline: true }, async (pakrat) => {
    await expect(pakrat.history('game')).rejects.toMatchObject(notFound);
  });
});
