import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { verifyExitCode } from '../../src/cli/render/verify.ts';
import type { Pakrat } from '../../src/pakrat.ts';
import { type PublishedBuild, publishBuild } from '../../src/publish/publish-build.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { freePort } from '../support/loopback.ts';
import { damageLedger } from '../support/random-damage.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
const builds: PublishedBuild[] = [];
let server: StaticServer;
let number = 0;
let store: string;

beforeAll(async () => {
  const port = await freePort();
  server = await serveFolder(scratch(), { port });
  for (const id of [101, 102]) {
    const files = [{ name: 'a.txt', fileDataId: 1, read: () => Buffer.from(`in ${id}`) }];
    const place = { product: 'game', out: scratch('cdn'), hosts: [`127.0.0.1:${port}/cdn`], regions: ['us'] };
    builds.push(await publishBuild({ ...place, version: `1.0.${id}`, buildId: id, files }));
    store = scratch('synced');
    await use(async (pakrat) => {
      await pakrat.sync('game');
      if (id === 102) await pakrat.sync('game', { all: true });
      if (id === 101) await pakrat.pin(['game@1.0.101']);
    });
  }
});
afterAll(() => server.close());
beforeEach(() => {
  store = scratch(`copy${number++}`);
  cpSync(scratch('synced'), store, { recursive: true });
});

const use = <Result>(work: (pakrat: Pakrat) => Promise<Result>, options = {}): Promise<Result> =>
  withPakrat({ store, patchUrl: `${server.url}/cdn`, ...options }, work);
const history = (): string => `${store}/history.jsonl`;
const known = () =>
  use(
    async (pakrat) => {
      const { builds } = await pakrat.status();
      const status = builds.sort((a, b) => (a.name < b.name ? -1 : 1));
      return { ...(await pakrat.history('game')), status };
    },
    { offline: true },
  );
const verify = () => use((pakrat) => pakrat.verify(), { offline: true });
const repair = () => use((pakrat) => pakrat.repair());

test('a store whose ledger is lost knows its builds and pins again, and a sync takes over what lies there', async () => {
  const before = await known();
  for (const end of ['', '-wal', '-shm']) rmSync(`${store}/ledger.db${end}`, { force: true });
  const after = await known();
  const names = (of: typeof before) =>
    of.builds.map(({ name, regions, firstSeen, pinned }) => ({ name, regions, firstSeen, pinned }));
  expect(names(after)).toEqual(names(before));
  expect(names(after).map(({ pinned }) => pinned)).toEqual([false, true]);
  expect(after.status.map(({ name, wanted }) => [name, wanted])).toEqual(
    before.status.map(({ name, wanted }) => [name, wanted]),
  );
  expect(after.status.every(({ held }) => held.entries === 0)).toBe(true);
  const { fetched } = await use((pakrat) => pakrat.sync('game@1.0.101'));
  expect(fetched.bytes).toBe(0);
  expect((await known()).status.find(({ name }) => name === '1.0.101')?.held).toEqual(
    before.status.find(({ name }) => name === '1.0.101')?.held,
  );
});

test('lines that the file lacks are added again, and a damaged one is told until --repair', async () => {
  expect(verifyExitCode(await verify())).toBe(0);
  const lines = readFileSync(history(), 'utf8').split('\n');
  const pin = lines.findIndex((line) => line.includes('"pin"'));
  writeFileSync(history(), lines.map((line, i) => (i === pin ? line.replace('game', 'gone') : line)).join('\n'));
  const found = await verify();
  expect(found.bad).toEqual([
    expect.objectContaining({
      name: 'history.jsonl',
      message: expect.stringMatching(/^it lacked 1 line .* there again$/),
    }),
    expect.objectContaining({ name: 'history.jsonl', message: `line ${pin + 1} is damaged` }),
  ]);
  expect(found.repaired).toBe(1);
  expect(readFileSync(history(), 'utf8').split('"pin"')).toHaveLength(3);
  expect(verifyExitCode(await verify())).toBe(3);
  expect(verifyExitCode(await repair())).toBe(0);
  expect((await verify()).bad).toEqual([]);
  rmSync(history());
  expect((await verify()).bad).toHaveLength(1);
  expect(existsSync(history())).toBe(true);
  expect((await verify()).bad).toEqual([]);
});

test.each([
  [
    'the build config of a build',
    "UPDATE builds SET build_config = substr(build_config, 2) || 'x' WHERE name = '1.0.101'",
  ],
  [
    'its product, CDN path and selection',
    "UPDATE builds SET product = 'gone', cdn_path = 'tpr/x', selection = '!' WHERE name = '1.0.101'",
  ],
  ['a build that is gone', "DELETE FROM builds WHERE name = '1.0.101'"],
  ['every build', "UPDATE builds SET build_config = 'x' || id, cdn_config = ''"],
  ['a pin', "UPDATE pins SET product = 'gone'"],
  ['a pin that is gone', 'DELETE FROM pins'],
  ['what was wanted', "UPDATE selections SET selection = selection || '!'"],
  ['answers', "UPDATE answers SET body = 'x' || rowid"],
])('damaged rows of the ledger become what the file has: %s', async (_title, sql) => {
  const before = await known();
  damageLedger(store, sql);
  expect(verifyExitCode(await verify())).toBe(3);
  expect(verifyExitCode(await repair())).toBe(0);
  expect((await verify()).bad).toEqual([]);
  const times = { firstSeen: expect.anything(), lastSeen: expect.anything() };
  expect(await known()).toEqual({ ...before, builds: before.builds.map((build) => ({ ...build, ...times })) });
});

test('a folder in its place is told, and set aside by --repair; what the ledger knows is written anew', async () => {
  const before = readFileSync(history());
  rmSync(history());
  mkdirSync(`${history()}/somebody`, { recursive: true });
  const found = await verify();
  expect(found.bad).toMatchObject([{ name: 'history.jsonl', code: 'E_STORE' }]);
  expect(verifyExitCode(found)).toBe(3);
  const mended = await repair();
  expect({ code: verifyExitCode(mended), repaired: mended.repaired }).toEqual({ code: 0, repaired: mended.bad.length });
  expect(readFileSync(history()).length).toBeGreaterThan(before.length / 2);
  const asides = readdirSync(`${store}/tmp`).filter((name) => name.startsWith('aside-'));
  expect(asides.map((name) => readdirSync(`${store}/tmp/${name}`))).toEqual([['somebody']]);
  expect((await verify()).bad).toEqual([]);
  const pinned = async () => (await known()).builds.filter((build) => build.pinned).map(({ name }) => name);
  expect(await pinned()).toEqual(['1.0.101']);
  for (const end of ['', '-wal', '-shm']) rmSync(`${store}/ledger.db${end}`, { force: true });
  expect(await pinned()).toEqual(['1.0.101']);
});

test('rows that an older copy of the ledger lacks are told, and taken back by --repair', async () => {
  const older = scratch('older.db');
  cpSync(`${store}/ledger.db`, older);
  await use((pakrat) => pakrat.pin(['game@1.0.102']));
  const before = await known();
  for (const end of ['', '-wal', '-shm']) rmSync(`${store}/ledger.db${end}`, { force: true });
  cpSync(older, `${store}/ledger.db`);
  const { bad } = await verify();
  expect(bad).toEqual([
    expect.objectContaining({ name: 'ledger.db', message: 'it lacks 1 row that history.jsonl has' }),
  ]);
  expect(verifyExitCode(await repair())).toBe(0);
  expect(await known()).toEqual(before);
});

test('a line of a person, or of another program, is told as damaged and harms nothing', async () => {
  appendFileSync(history(), 'hello\n');
  const found = await verify();
  expect(found.bad.map(({ message }) => message)).toEqual([expect.stringMatching(/^line \d+ is damaged$/)]);
});
