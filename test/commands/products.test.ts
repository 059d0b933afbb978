import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { ProductRow } from '../../src/app/products.ts';
import { freePort } from '../support/loopback.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();
let cdn: SyntheticCdn;
beforeAll(async () => {
  cdn = await syntheticCdn({ make: ['--files', '20', '--total-bytes', '100K', '--seed', 'products'] });
});
afterAll(() => cdn?.close());

async function products(service: string, store: string, ...globs: string[]): Promise<ProductRow[]> {
  return withPakrat({ store: scratch(store), patchUrl: service }, (pakrat) => pakrat.products({ globs }));
}
const bare = (product: string, seqn: number | null): ProductRow => ({ product, seqn, listed: true, builds: [] });

test('channels, HTTP and Ribbit list the same products, with sequence numbers where they have them', async () => {
  const [wow, old] = [61100, 61000];
  expect(await products(`channels+${cdn.url}`, 'a')).toEqual([bare('wow', null), bare('wow_old', null)]);
  for (const service of [cdn.url, `${cdn.url}/v2/products`, cdn.ribbitUrl]) {
    expect(await products(service, 'b')).toEqual([bare('wow', wow), bare('wow_old', old)]);
  }
  const args = ['products', '*_old', '--store', scratch('b'), '--patch-url', cdn.url];
  expect(await pakratJson<ProductRow[]>(args)).toEqual({ status: 0, value: [bare('wow_old', old)] });
  expect(await products(cdn.url, 'b', 'diablo*')).toEqual([]);
});

test('with what the store holds, a product that is not listed any more too; and offline as it was', async () => {
  await withPakrat({ store: scratch('held'), patchUrl: cdn.url }, (pakrat) => pakrat.sync('wow'));
  // Nobody was asked for the list yet: what the store holds is what there is.
  const store = { store: scratch('held'), offline: true };
  const unlisted = await withPakrat(store, (pakrat) => pakrat.products());
  expect(unlisted).toMatchObject([{ product: 'wow', seqn: null, listed: null, builds: [{ name: '11.2.0.60100' }] }]);
  const [held] = await products(cdn.url, 'held', 'wow');
  expect(held).toMatchObject({ product: 'wow', listed: true, builds: [{ name: '11.2.0.60100' }] });
  expect(held?.builds[0]?.held).toEqual(held?.builds[0]?.wanted);
  const list = join(cdn.root, 'www', 'v2', 'summary');
  writeFileSync(list, 'Product!STRING:0|Seqn!DEC:4|Flags!STRING:0\n## seqn = 70000\nnew|7|\n');
  const later = await products(cdn.url, 'held');
  expect(later.map(({ product, seqn, listed }) => [product, seqn, listed])).toEqual([
    ['new', 7, true],
    ['wow', null, false],
  ]);
  rmSync(list);
  expect(await withPakrat(store, (pakrat) => pakrat.products())).toEqual(later);
  const text = runPakrat(['products', '--offline', '--store', scratch('held')]).stdout;
  expect(text).toMatch(/^2 products, from .*, as it was at 20/);
  expect(text).toMatch(/^wow +11\.2\.0\.60100, not listed any more$/m);
});

test('nobody who knows: exit 4, and nobody there', async () => {
  const known = await pakratJson(['products', '--store', scratch('c'), '--patch-url', `${cdn.url}/nothing`]);
  expect(known).toMatchObject({ status: 4, value: { error: { code: 'E_NOT_FOUND' } } });
  const dead = { store: scratch('c'), patchUrl: `http://127.0.0.1:${await freePort()}` };
  const there = withPakrat(dead, (pakrat) => pakrat.products());
  await expect(there).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED' });
});
