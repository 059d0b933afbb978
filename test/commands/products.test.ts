import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { ProductRow } from '../../src/app/products.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type SyntheticCdn, syntheticCdn } from '../support/synthetic-cdn.ts';

// Whole processes; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();
let cdn: SyntheticCdn;
beforeAll(async () => {
  cdn = await syntheticCdn({ make: ['--files', '20', '--total-bytes', '100K', '--seed', 'products'] });
});
afterAll(() => cdn?.close());

async function products(service: string, store: string, ...args: string[]): Promise<ProductRow[]> {
  const all = ['products', ...args, '--store', scratch(store), '--patch-url', service];
  const { status, value } = await pakratJson<ProductRow[]>(all);
  expect({ status, value }).toMatchObject({ status: 0 });
  return value;
}
const bare = (product: string, seqn: number | null): ProductRow => ({ product, seqn, listed: true, builds: [] });

test('channels, HTTP and Ribbit list the same products, with sequence numbers where they have them', async () => {
  const [wow, old] = [61100, 61000];
  expect(await products(`channels+${cdn.url}`, 'a')).toEqual([bare('wow', null), bare('wow_old', null)]);
  for (const service of [cdn.url, `${cdn.url}/v2/products`, cdn.ribbitUrl]) {
    expect(await products(service, 'b')).toEqual([bare('wow', wow), bare('wow_old', old)]);
  }
  expect(await products(cdn.url, 'b', '*_old')).toEqual([bare('wow_old', old)]);
  expect(await products(cdn.url, 'b', 'diablo*')).toEqual([]);
});

test('with what the store holds, a product that is not listed any more too; and offline as it was', async () => {
  const sync = runPakrat(['sync', 'wow', '--store', scratch('held'), '--patch-url', cdn.url]);
  expect(sync).toMatchObject({ status: 0 });
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
  expect(await products(cdn.url, 'held', '--offline')).toEqual(later);
  const text = runPakrat(['products', '--offline', '--store', scratch('held')]).stdout;
  expect(text).toMatch(/^2 products, from .*, as it was at 20/);
  expect(text).toMatch(/^wow +11\.2\.0\.60100, not listed any more$/m);
});

test('nobody who knows: exit 4, and nobody there: exit 1', async () => {
  const known = await pakratJson(['products', '--store', scratch('c'), '--patch-url', `${cdn.url}/nothing`]);
  expect(known).toMatchObject({ status: 4, value: { error: { code: 'E_NOT_FOUND' } } });
  const there = await pakratJson([
    'products',
    '--store',
    scratch('c'),
    '--patch-url',
    `http://127.0.0.1:${await freePort()}`,
  ]);
  expect(there).toMatchObject({ status: 1, value: { error: { code: 'E_NETWORK_EXHAUSTED' } } });
});
