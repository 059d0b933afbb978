import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { makeTree, serveTree } from '../support/synthetic-cdn.ts';

/* Twenty trees of every layout, each found by its channels alone, with objects that have more and less than the generator gives them. */

jest.setTimeout(20 * 60_000);
const scratch = scratchFolder();
const seeds = Date.now();
const layouts = [
  ['--layout', 'tvfs'],
  ['--layout', 'text'],
  ...['headerless', 'tsfm0', 'tsfm1', 'tsfm2'].map((format) => ['--root-format', format]),
];

/** How the objects of the channels differ from those that were made. */
const changes: [string, (value: Json) => void][] = [
  ['as made', () => {}],
  ['with more fields', addFields],
  ['with no field that may be absent', leaveOut],
  ['of a product in one region only', (value) => oneRegion(value)],
];

type Json = Record<string, unknown>;

const trees = Array.from({ length: 20 }, (_, number) => {
  const [changed, change] = changes[number % changes.length]!;
  const layout = layouts[number % layouts.length]!;
  return { title: `tree ${number}, ${layout.join(' ')}, ${changed}`, seed: seeds + number, layout, change };
});

describe('trees found by channels alone', () => {
  test.each(trees)('$title, seed $seed', async ({ seed, layout, change }) => {
    const root = scratch(String(seed));
    const port = await freePort();
    makeTree(root, port, ['--files', '150', '--total-bytes', '2M', '--seed', String(seed), ...layout]);
    rewriteChannels(join(root, 'www'), change);
    const server = await serveTree(root, [], port);
    const store = scratch(`${seed}-store`);
    try {
      const service = ['--store', store, '--patch-url', `channels+${server.url}`];
      for (const product of ['wow', 'wow_old']) {
        const { status, value } = await pakratJson<SyncReport>(['sync', product, ...service]);
        expect({ status, value }).toMatchObject({ status: 0, value: { missing: { entries: 0 } } });
      }
    } finally {
      await server.close();
    }
    const { bytes, wrong } = checkHeldBytes(store, join(root, 'www'));
    expect(wrong).toEqual([]);
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(runPakrat(['verify', '--store', store])).toMatchObject({ status: 0 });
    // The trees differ, and no other service was asked.
    const others = server.requests().filter(({ path }) => /versions$|cdns$|^\/v2/.test(path));
    expect(others).toEqual([]);
  });
});

/** Changes each object that the catalogue leads to, and names it anew. */
function rewriteChannels(www: string, change: (value: Json) => void): void {
  const summary = JSON.parse(readFileSync(join(www, 'summary'), 'utf8')) as { public: { channel: string } };
  const fileOf = (name: string): string => join(www, 'blue', name.slice(0, 2), name.slice(2, 4), name);
  const rewrite = (name: string): string => {
    const value = JSON.parse(readFileSync(fileOf(name), 'utf8'), (key, inner) =>
      key === 'definition' || key === 'cdns' ? rewrite(String(inner)) : inner,
    ) as Json;
    change(value);
    const text = JSON.stringify(value);
    const renamed = md5Hex(Buffer.from(text));
    mkdirSync(dirname(fileOf(renamed)), { recursive: true });
    writeFileSync(fileOf(renamed), text);
    return renamed;
  };
  const channel = rewrite(summary.public.channel);
  writeFileSync(join(www, 'summary'), JSON.stringify({ public: { channel, more: 1 }, path: 'blue' }));
}

function addFields(value: Json): void {
  for (const inner of Object.values(value)) {
    if (Array.isArray(inner)) inner.filter((one) => typeof one === 'object').forEach(addFields);
    else if (typeof inner === 'object' && inner !== null) addFields(inner as Json);
  }
  Object.assign(value, { later: { nested: [1, { x: null }] }, note: 'ümlaut', flag: false });
}

function leaveOut(value: Json): void {
  for (const name of ['armadilloKey', 'pipelineId', 'build', 'infrastructure', 'name']) delete value[name];
  const { products = [], productConfig } = value as { products?: Json[]; productConfig?: Json };
  for (const product of products) {
    delete product.infrastructure;
    delete product.product;
    if (product.builds === undefined) delete product.regions;
  }
  delete productConfig?.cdnPath;
}

/** What is there for one region; the session asks for another. */
function oneRegion({ products = [] }: { products?: Json[] }): void {
  for (const product of products) {
    for (const name of ['builds', 'regions']) {
      const rows = product[name] as { branches: string[] }[] | undefined;
      product[name] = rows?.filter(({ branches }) => branches.includes('eu'));
    }
  }
}
