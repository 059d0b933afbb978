import { expect, jest, test } from '@jest/globals';
import { publishBuild } from '../../../../src/publish/publish-build.ts';
import { namesInThread } from '../../../../src/serve/pages/served/names-thread.ts';
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
    const index = await namesInThread(order, worker);
    expect(Array.from(index!.lines(0), ({ name }) => name)).toEqual(['a/one.txt', 'b/two.txt', 'c.txt']);
    expect(index!.lowerBound(Buffer.from('b'))).toBe(index!.lineStart(12));
    index!.close();
    expect(await namesInThread({ ...order, buildConfig: '0'.repeat(32) }, worker)).toBeUndefined();
    expect(await namesInThread({ ...order, store: scratch('none') }, worker)).toBeUndefined();
    // The store is still ours, and right.
    expect((await pakrat.verify()).bad).toEqual([]);
  });
});

test('without its program there is no thread', async () => {
  const order = { store: scratch('none'), locale: 'enUS', product: 'game', buildConfig: '0'.repeat(32) };
  expect(await namesInThread(order)).toBeUndefined();
});
