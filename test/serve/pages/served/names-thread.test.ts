import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { Session } from '../../../../src/app/session/session.ts';
import { publishBuild } from '../../../../src/publish/publish-build.ts';
import { link, paths } from '../../../../src/serve/pages/links.ts';
import { namesInThread } from '../../../../src/serve/pages/served/names-thread.ts';
import { startServer } from '../../../../src/serve/server.ts';
import { builtModule } from '../../../support/built-module.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { withPakrat } from '../../../support/with-pakrat.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
const worker = new URL(builtModule('src/serve/pages/served/names-worker.ts'));

test('a thread writes the names of a build beside another that has the store open, and tells nothing of one that is not there', async () => {
  const [out, store] = [scratch('cdn'), scratch('store')];
  const files = ['b/two.txt', 'a/one.txt', 'c.txt'].map((name, i) => ({
    name,
    fileDataId: i + 1,
    read: () => Buffer.from(name),
  }));
  const place = { product: 'game', out, hosts: ['127.0.0.1:9'], regions: ['us'] };
  const { buildConfig } = await publishBuild({ ...place, version: '1', buildId: 1, files });
  const order = { store, locale: 'enUS', product: 'game', buildConfig };
  await withPakrat({ store, offline: true }, async (pakrat) => {
    await pakrat.import(out);
    const { index, notes } = (await namesInThread(order, worker))!;
    expect(Array.from(index.lines(0), ({ name }) => name)).toEqual(['a/one.txt', 'b/two.txt', 'c.txt']);
    expect(index.lowerBound(Buffer.from('b'))).toBe(index.lineStart(12));
    expect(notes).toEqual([]);
    index.close();
    expect(await namesInThread({ ...order, buildConfig: '0'.repeat(32) }, worker)).toBeUndefined();
    expect(await namesInThread({ ...order, store: scratch('none') }, worker)).toBeUndefined();
    // The store is still ours, and right.
    expect((await pakrat.verify()).bad).toEqual([]);
  });
});

test('names that are lost are noted, by a thread and on the page', async () => {
  const [out, store] = [scratch('lost-cdn'), scratch('lost-store')];
  const files = [{ name: 'one.txt', fileDataId: 1, read: () => Buffer.from('one') }];
  const place = { product: 'game', out, hosts: ['127.0.0.1:9'], regions: ['us'] };
  const { buildConfig } = await publishBuild({ ...place, version: '1', buildId: 1, files });
  await withPakrat({ store, offline: true }, (pakrat) => pakrat.import(out));
  // The encoding file alone is left of what lies by itself.
  const below = join(store, 'tpr/game');
  const objects = readdirSync(below, { recursive: true, encoding: 'utf8' });
  const config = readFileSync(join(below, objects.find((path) => path.endsWith(buildConfig))!), 'utf8');
  const [, encoding = ''] = /^encoding = \w+ (\w+)$/m.exec(config)!;
  const loose = objects.filter((path) => /^data.*\/\w{32}$/.test(path) && !objects.includes(`${path}.index`));
  for (const path of loose.filter((name) => !name.endsWith(encoding))) rmSync(join(below, path));
  for (const derived of ['manifests', 'names']) rmSync(join(store, derived), { recursive: true, force: true });
  const order = { store, locale: 'enUS', product: 'game', buildConfig };
  const { index, notes } = (await namesInThread(order, worker))!;
  index.close();
  expect(notes).toContainEqual(expect.stringMatching(/^its vfs-root .* cannot be had/));
  const session = new Session({ store, offline: true, threads: 0 });
  const server = await startServer(session, { port: 0 });
  const page = await fetch(server.url + link(paths.browse, { in: `game@${buildConfig}` }));
  const text = await page.text();
  expect(text).toMatch(/Note: its vfs-root .* cannot be had/);
  expect(text).not.toContain(store);
  await server.close();
  await session.close();
});

test('without its program there is no thread', async () => {
  const order = { store: scratch('none'), locale: 'enUS', product: 'game', buildConfig: '0'.repeat(32) };
  expect(await namesInThread(order)).toBeUndefined();
});
