import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncedBuilds } from '../../src/app/sync.ts';
import type { Progress } from '../../src/core/progress.ts';
import { type PublishedBuild, publishBuild } from '../../src/publish/publish-build.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { objectPath } from '../../src/store/layout.ts';
import { freePort } from '../support/loopback.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
let server: StaticServer;
let port: number;
/** The oldest first. */
const builds: PublishedBuild[] = [];
let other: PublishedBuild;

/** Files of which one is another in each build. */
function publish(product: string, buildId: number, cdn = 'cdn'): Promise<PublishedBuild> {
  const files = Array.from({ length: 20 }, (_, i) => ({
    name: `${i}.txt`,
    fileDataId: i + 1,
    read: () => Buffer.from(i === buildId % 20 ? `${i} of ${buildId}` : `${i} of all`),
  }));
  const place = {
    product,
    cdnPath: 'tpr/family',
    out: scratch(cdn),
    hosts: [`127.0.0.1:${port}`],
    regions: ['us', 'eu'],
  };
  return publishBuild({ ...place, version: `1.0.${buildId}`, buildId, files });
}

beforeAll(async () => {
  port = await freePort();
  for (const id of [101, 102, 103, 104]) builds.push(await publish('game', id));
  other = await publish('sequel', 105);
  server = await serveFolder(scratch('cdn'), { port });
});
afterAll(() => server.close());

const at = (store: string) => ({ store: scratch(store), patchUrl: server.url });
const configs = (of: SyncedBuilds): string[] => of.builds.map(({ build }) => build.buildConfig);
const newestFirst = (): string[] => builds.map(({ buildConfig }) => buildConfig).reverse();

describe('builds of a product', () => {
  test('all that its CDN config names are brought, the newest first, and nothing of them is fetched twice', async () => {
    const before = server.stats.requests;
    const told: Progress[] = [];
    const report = await withPakrat(at('all'), (pakrat) =>
      pakrat.sync(['game'], { builds: 'all', all: true, onProgress: (event) => void told.push(event) }),
    );
    expect(report.failed).toEqual([]);
    expect(configs(report)).toEqual(newestFirst());
    expect(report.builds.map(({ build }) => build.name)).toEqual(['1.0.104', '1.0.103', '1.0.102', '1.0.101']);
    for (const { wanted, held, missing } of report.builds) {
      expect(held).toEqual(wanted);
      expect(missing.entries).toBe(0);
    }
    // Every build after the first lacks what changed alone.
    const [first, ...rest] = report.builds.map(({ fetched }) => fetched.entries);
    for (const entries of rest) expect(entries).toBeLessThan((first ?? 0) / 2);
    // Configs, indices and data once each, and what the version service is asked.
    const files = readdirSync(scratch('all', 'tpr'), { recursive: true, withFileTypes: true }).filter((f) =>
      f.isFile(),
    );
    expect(server.stats.requests - before).toBeLessThanOrEqual(files.length + 8);
    expect(
      told.flatMap((event) => (event.type === 'build' ? `${event.number}/${event.of} ${event.name}` : [])),
    ).toContain(`1/4 game@1.0.104`);
    const again = server.stats.bytes;
    await withPakrat({ ...at('all'), offline: true }, async (pakrat) => {
      expect((await pakrat.status('game')).builds).toHaveLength(4);
      expect(
        (await pakrat.plan(['game'], { builds: 'all', all: true })).builds.map(({ missing }) => missing.entries),
      ).toEqual([0, 0, 0, 0]);
    });
    expect(server.stats.bytes).toBe(again);
  });

  test('the newest so many of several products come, each once, however often they are named', async () => {
    const report = await withPakrat(at('newest'), (pakrat) => pakrat.sync(['game', 'sequel', 'game'], { builds: 2 }));
    expect(report.failed).toEqual([]);
    expect(configs(report)).toEqual([...newestFirst().slice(0, 2), other.buildConfig]);
  });

  test('one that no host has any more is told, and the others come', async () => {
    const gone = builds[2]!;
    const path = objectPath({ cdnPath: 'tpr/family', kind: 'config', hash: gone.buildConfig });
    await publishCopy('less');
    rmSync(scratch('less', path));
    const less = await serveFolder(scratch('less'));
    try {
      const options = { ...at('less-store'), patchUrl: less.url, cdnHost: `127.0.0.1:${less.port}` };
      const report = await withPakrat(options, (pakrat) => pakrat.sync(['game', 'nothing'], { builds: 'all' }));
      expect(configs(report)).toEqual(newestFirst().filter((config) => config !== gone.buildConfig));
      expect(report.failed).toEqual([
        { name: 'nothing', code: 'E_NOT_FOUND', message: expect.any(String) },
        { name: `game@${gone.buildConfig}`, code: 'E_NOT_FOUND', message: expect.any(String) },
      ]);
    } finally {
      await less.close();
    }
  });
});

async function publishCopy(to: string): Promise<void> {
  const { cpSync } = await import('node:fs');
  cpSync(scratch('cdn'), join(scratch(to)), { recursive: true });
}

test('builds that are named are brought in their order; what all of it would take is planned without data', async () => {
  const [oldest] = builds;
  await withPakrat(at('named'), async (pakrat) => {
    const names = [`game@${oldest?.buildConfig}`, 'sequel', 'game@1.0.104'];
    const plan = await pakrat.plan(names);
    expect(plan.builds.every((build) => build.plan !== undefined && build.missing.entries > 0)).toBe(true);
    const report = await pakrat.sync(names);
    expect(configs(report)).toEqual([oldest?.buildConfig, other.buildConfig, builds.at(-1)?.buildConfig]);
  });
});

test('a build is no product of which builds are counted, and no count is no number', async () => {
  await withPakrat(at('usage'), async (pakrat) => {
    const mistake = { code: 'E_USAGE' };
    await expect(pakrat.sync(['game@1.0.101'], { builds: 2 })).rejects.toMatchObject(mistake);
    await expect(pakrat.sync(['game'], { builds: 0 })).rejects.toMatchObject(mistake);
    await expect(pakrat.sync(['game', 'no product!'])).rejects.toMatchObject(mistake);
  });
});
