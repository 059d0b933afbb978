import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { treeOf } from '../publish/published.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* A build whose encoding file no host has any more, or has right: with --all the rest is kept, as long as there is a host for it. */

const scratch = scratchFolder();
let cdn: SyntheticCdn;
/** The build config. */
let b: string;
/** The encoded encoding file, below the CDN, and its bytes. */
let path: string;
let bytes: Buffer;
let count = 0;

beforeAll(async () => {
  cdn = await syntheticCdn({
    make: ['--files', '40', '--total-bytes', '300K', '--archives', '2', '--loose-meta', '1'],
  });
  ({ b } = (cdn.summary.configs as { build: { b: string } }).build);
  const mirror = 'www/tpr/wow';
  const config = fs.readFileSync(join(cdn.root, mirror, 'config', b.slice(0, 2), b.slice(2, 4), b), 'utf8');
  const ekey = /^encoding = \w+ (\w+)$/m.exec(config)![1]!;
  path = join(cdn.root, mirror, 'data', ekey.slice(0, 2), ekey.slice(2, 4), ekey);
  bytes = fs.readFileSync(path);
});
beforeEach(() => {
  count += 1;
});
afterAll(() => cdn?.close());

const sync = async (store: string, ...flags: string[]) =>
  startPakrat(['sync', 'wow', '--store', store, '--patch-url', cdn.url, '--json', ...flags]).ended;
/** Every object of a store, whole or in part. */
const objects = (store: string) => ({
  ...treeOf(join(store, 'tpr')),
  ...(fs.existsSync(join(store, 'partial')) && treeOf(join(store, 'partial'))),
});

test.each<[string, () => void]>([
  ['lacks', () => fs.rmSync(path)],
  [
    'is damaged',
    () => fs.writeFileSync(path, Buffer.concat([bytes.subarray(0, 100), Buffer.alloc(bytes.length - 100)])),
  ],
])('that %s costs itself alone with --all; when a host has it again the build is whole', async (_, spoil) => {
  const [whole, store] = [scratch(`whole${count}`), scratch(`store${count}`)];
  expect((await sync(whole, '--all')).status).toBe(0);
  spoil();
  const lacking = await sync(store, '--all');
  expect([lacking.status, JSON.parse(lacking.stdout).error]).toMatchObject([
    9,
    { code: 'E_INCOMPLETE', message: expect.stringContaining('1 entry is still missing') },
  ]);
  expect(lacking.stderr).toContain('the encoding file cannot be had');
  const { [Object.keys(objects(whole)).find((name) => path.endsWith(name))!]: own, ...rest } = objects(whole);
  expect(own).toBeDefined();
  expect(objects(store)).toEqual(rest);
  await withPakrat({ store, offline: true }, async (pakrat) => {
    expect(await pakrat.verify()).toMatchObject({ bad: [] });
    // Nobody knows what it names: nothing of it goes.
    expect(await pakrat.gc()).toMatchObject({ objects: 0, bytes: 0 });
    expect((await pakrat.status()).builds).toMatchObject([{ held: { bytes: expect.any(Number) } }]);
  });
  expect(objects(store)).toEqual(rest);

  fs.writeFileSync(path, bytes);
  const done = await sync(store, '--all');
  expect([done.status, JSON.parse(done.stdout)]).toMatchObject([
    0,
    { fetched: { entries: 1 }, missing: { entries: 0 } },
  ]);
  expect(objects(store)).toEqual(objects(whole));
  await withPakrat({ store, offline: true }, async (pakrat) => {
    const { files, failed } = await pakrat.extract('wow', { to: scratch(`out${count}`) });
    expect(files).toBeGreaterThan(30);
    for (const { code } of failed) expect(code).toBe('E_KEY_MISSING');
  });
});

test('a mirror without it is imported, which tells what lacks, and called complete by nobody', async () => {
  fs.rmSync(path);
  const store = scratch(`import${count}`);
  const imported = await startPakrat(['import', join(cdn.root, 'www/tpr/wow'), '--store', store]).ended;
  expect(imported).toMatchObject({ status: 0, stderr: expect.stringContaining('the encoding file cannot be had') });
  const { builds } = await withPakrat({ store, offline: true }, (pakrat) => pakrat.status());
  const { product, name } = builds.find(({ buildConfig }) => buildConfig === b)!;
  for (const [command, said] of [
    [['status'], new RegExp(`${name} .*unfinished, not counted`)],
    [['history', product], new RegExp(`${name} .*${b.slice(0, 8)} .*unfinished`)],
    [['products', '--offline'], new RegExp(`${name} \\(unfinished\\)`)],
  ] as const)
    expect((await startPakrat([...command, '--store', store]).ended).stdout).toMatch(said);
  fs.writeFileSync(path, bytes);
});

test('without --all the sync ends with what it is that lacks, and says what keeps the rest', async () => {
  fs.rmSync(path);
  const { status, stdout } = await sync(scratch(`part${count}`));
  expect([status, JSON.parse(stdout).error]).toMatchObject([
    4,
    {
      code: 'E_NOT_FOUND',
      message: expect.stringContaining('the encoding file cannot be had: no host has '),
      hint: expect.stringContaining('`pakrat sync PRODUCT --all` keeps the rest'),
    },
  ]);
  fs.writeFileSync(path, bytes);
});
