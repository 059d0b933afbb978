import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import type { Pakrat } from '../../src/pakrat.ts';
import { freePort } from '../support/loopback.ts';
import { hasNginx, startNginx } from '../support/nginx.ts';
import { pakratJson } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { someOf } from '../support/some-of.ts';
import { makeTree, serveTree } from '../support/synthetic-cdn.ts';
import { type Asking, expectedFiles, type Failed, readTruth, type Truth, wrongFiles } from '../support/truth.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/*
 * Trees of every layout, both builds: after a sync each file of the truth table comes out right without a network,
 * by name, by id, by content key and by encoding key. Every tree has BLTE objects without a chunk table, with one, mixed and encrypted ones.
 * The newer build is synced, and extracted in every way that gives other paths, by the built program; the rest by a session here.
 */

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

const layouts: { title: string; make: string[] }[] = [
  { title: 'a WoW root without header', make: ['--root-format', 'headerless', '--download-version', '1,2'] },
  { title: 'a TSFM root without version', make: ['--root-format', 'tsfm0', '--download-version', '3,3'] },
  {
    title: 'a TSFM root of version 1, manifests in archives',
    make: ['--root-format', 'tsfm1', '--loose-meta', '0', '--download-version', '2,1'],
  },
  { title: 'a TSFM root of version 2', make: ['--root-format', 'tsfm2', '--archives', '1', '--raw-z'] },
  { title: 'TVFS with files in pieces', make: ['--layout', 'tvfs'] },
  { title: 'TVFS with manifests in archives', make: ['--layout', 'tvfs', '--loose-meta', '0', '--spans', '5'] },
];

/** Few files, many of them in several locales or with a second encoding. */
const small = ['--files', '100', '--total-bytes', '1M', '--localized', '.16', '--multi-ekey', '.03', '--patches', '20'];

interface Extracted {
  files: number;
  failed: Failed[];
}

/** What is asked for in one extraction: ways that write different paths. */
interface Ask {
  product: string;
  ways: readonly Asking[];
  locale: string;
}

/** Extracts names into a folder. */
type Extract = (ask: Ask, names: readonly string[], to: string) => Promise<Extracted>;

/** Extracts everything that is asked for, and gives back what is wrong with it. */
async function extractAndCompare(truth: Truth, ask: Ask, to: string, extract: Extract): Promise<string[]> {
  const byWay = ask.ways.map((way) => expectedFiles(truth, way, ask.locale));
  const ways = ask.ways.join(', ');
  if (byWay.some((files) => files.length === 0)) return [`nothing to ask for by one of ${ways} in ${ask.locale}`];
  const expected = byWay.flat();
  const names = expected.map(({ query }) => query);
  const { files, failed } = await extract(ask, names, to);
  const locked = expected.filter(({ lockedBy }) => lockedBy !== undefined).length;
  const wrong = wrongFiles(expected, to, failed);
  if (files !== expected.length - locked) wrong.push(`${files} files are counted of ${expected.length - locked}`);
  if (failed.length !== locked) wrong.push(`${failed.length} failures are listed, ${locked} are right`);
  return wrong.map((line) => `${ask.product} by ${ways} in ${ask.locale}: ${line}`);
}

/** By the built program, whose exit tells whether a file was locked. */
function extractWithProgram(store: string): Extract {
  return async ({ product, locale }, names, to) => {
    const args = ['extract', product, ...names, '--to', to, '--locale', locale, '--offline', '--store', store];
    const { status, value } = await pakratJson<Extracted>(args);
    const right = value.failed !== undefined && status === (value.failed.length > 0 ? 7 : 0);
    if (!right) throw new Error(`extract ${product}: exit ${status} with ${JSON.stringify(value).slice(0, 500)}`);
    return value;
  };
}

/** By a session in this process. */
function extractHere(pakrat: Pakrat): Extract {
  return ({ product, locale }, names, to) => pakrat.extract(product, { names, to, locale });
}

/** Extracts both builds from the store alone, in every way and from several locales. @returns what is wrong */
async function wrongOfStore(root: string, store: string): Promise<string[]> {
  const [older, newer] = [readTruth(root, 'a'), readTruth(root, 'b')];
  return withPakrat({ store, offline: true }, async (pakrat) => {
    const here = extractHere(pakrat);
    const everyWay = { ways: ['name', 'ckey', 'ekey'], locale: 'enUS' } as const;
    // The older build is there to be told from the newer one: one locale shows that.
    const asks: [Truth, Ask, Extract][] = [
      [older, { product: 'wow_old', ...everyWay }, here],
      [newer, { product: 'wow', ...everyWay }, extractWithProgram(store)],
      [newer, { product: 'wow', ways: ['name'], locale: 'deDE' }, here],
    ];
    if (newer.layout === 'wow') {
      asks.push([newer, { product: 'wow', ways: ['fdid'], locale: 'enUS' }, here]);
      asks.push([newer, { product: 'wow', ways: ['fdid'], locale: 'frFR' }, here]);
    }
    const wrong: string[] = [];
    for (const [i, [truth, ask, extract]] of asks.entries())
      wrong.push(...(await extractAndCompare(truth, ask, join(store, `out-${i}`), extract)));
    return wrong;
  });
}

describe('every file of a build', () => {
  const rows = layouts.map((layout, i) => ({ ...layout, seed: `every-file-${i}`, nginx: hasNginx && i % 2 === 0 }));
  test.each(someOf(rows, (_, i) => i === 0 || i === 3 || i === 5))(
    'comes out right: $title (nginx: $nginx)',
    async ({ title, make, seed, nginx }) => {
      const root = scratch(seed);
      const port = await freePort();
      makeTree(root, port, [...small, '--seed', seed, ...make]);
      const server = nginx ? await startNginx({ folder: join(root, 'www'), port }) : await serveTree(root, [], port);
      try {
        const store = scratch(`${seed}-store`);
        const patchUrl = 'ribbitUrl' in server ? server.ribbitUrl : server.url;
        const { missing } = await withPakrat({ store, patchUrl }, async (pakrat) => {
          await pakrat.keys.import([join(root, 'truth/keys.txt')]);
          await pakrat.listfile.import(join(root, 'listfile.csv'));
          return pakrat.sync('wow_old');
        });
        expect({ title, missing }).toEqual({ title, missing: { entries: 0, bytes: 0 } });
        const { status, value } = await pakratJson(['sync', 'wow', '--store', store, '--patch-url', patchUrl]);
        expect({ title, status, value }).toMatchObject({ status: 0, value: { missing: { entries: 0, bytes: 0 } } });
        expect((await wrongOfStore(root, store)).slice(0, 20)).toEqual([]);
      } finally {
        await server.close();
      }
    },
  );
});
