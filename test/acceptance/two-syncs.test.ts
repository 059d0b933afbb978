import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { type FamilyFile, familyFiles, publishFamily } from '../support/family.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { claimedBytes } from '../support/interrupt.ts';
import { freePort } from '../support/loopback.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Many processes at once; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();
const filesOf = (version: number): FamilyFile[] => familyFiles(version, { count: 40, changed: 8, bytes: 20_000 });
let server: StaticServer;

beforeAll(async () => {
  const port = await freePort();
  for (const version of [0, 1]) {
    await publishFamily(version, { out: scratch('cdn'), port, files: filesOf(version) });
    if (version === 0) server = await serveFolder(scratch('cdn'), { port, bytesPerSecond: 1_500_000 });
    for (const store of ['alone', 'beside', 'killed 0', 'killed 1'])
      await withPakrat({ store: scratch(store), patchUrl: server.url }, (pakrat) => pakrat.versions('game'));
  }
});
afterAll(() => server.close());

const builds = ['game@1.0', 'game@1.1'];
const start = (store: string, build: string) =>
  startPakrat(['sync', build, '--store', scratch(store), '--patch-url', server.url, '--json', '--quiet']);

async function expectWhole(store: string, versions: readonly number[]): Promise<void> {
  expect(checkHeldBytes(scratch(store), scratch('cdn')).wrong).toEqual([]);
  await withPakrat({ store: scratch(store), offline: true }, async (pakrat) => {
    for (const version of versions) {
      await using build = await pakrat.open(`game@1.${version}`);
      for (const { name, bytes } of filesOf(version)) expect(bytes.equals(await build.bytes(name))).toBe(true);
    }
  });
}

test('two syncs of two builds of a family at once: what they share is fetched once, and both are whole', async () => {
  let before = server.stats.bytes;
  for (const build of builds) expect(await start('alone', build).ended).toMatchObject({ status: 0 });
  const once = server.stats.bytes - before;
  before = server.stats.bytes;
  const ended = await Promise.all(builds.map((build) => start('beside', build).ended));
  expect(ended).toMatchObject([{ status: 0 }, { status: 0 }]);
  // Version tables are asked for by each; what lies in the gaps of a range may come twice.
  expect(server.stats.bytes - before).toBeLessThan(once * 1.1);
  await expectWhole('beside', [0, 1]);
});

test.each([0, 1])('build %i is killed in the middle: the other goes on, and ends well', async (victim) => {
  const store = `killed ${victim}`;
  const runs = builds.map((build) => start(store, build));
  while (claimedBytes(scratch(store)) < 300_000 && runs[victim]?.child.exitCode === null) await sleep(20);
  runs[victim]?.child.kill('SIGKILL');
  const other = 1 - victim;
  expect(await runs[other]?.ended).toMatchObject({ status: 0 });
  await expectWhole(store, [other]);
});
