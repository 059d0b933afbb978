import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { freePort } from '../support/loopback.ts';
import { hasNginx, startNginx } from '../support/nginx.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { makeTree, serveTree } from '../support/synthetic-cdn.ts';
import { type Asking, expectedFiles, type Failed, readTruth, type Truth, wrongFiles } from '../support/truth.ts';

/*
 * Trees of every layout, both builds: after a sync each file of the truth table comes out right without a network,
 * by name, by id, by content key and by encoding key. Every tree has BLTE objects without a chunk table, with one, mixed and encrypted ones.
 */

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

const layouts: { title: string; make: string[] }[] = [
  { title: 'a WoW root without header', make: ['--root-format', 'headerless', '--download-version', '1,2'] },
  { title: 'a TSFM root without version', make: ['--root-format', 'tsfm0', '--download-version', '3,3'] },
  { title: 'a TSFM root of version 1', make: ['--root-format', 'tsfm1'] },
  { title: 'a TSFM root of version 2', make: ['--root-format', 'tsfm2', '--archives', '1', '--raw-z'] },
  { title: 'manifests in archives', make: ['--loose-meta', '0', '--download-version', '2,1'] },
  { title: 'TVFS with files in pieces', make: ['--layout', 'tvfs'] },
  { title: 'TVFS with manifests in archives', make: ['--layout', 'tvfs', '--loose-meta', '0', '--spans', '5'] },
];

interface Extracted {
  files: number;
  bytes: number;
  skipped: number;
  failed: Failed[];
}

/** What is asked for in one run of the program: ways that write different paths. */
interface Ask {
  ways: readonly Asking[];
  locale: string;
}

/** Extracts everything that is asked for in one run, and gives back what is wrong with it. */
async function extractAndCompare(truth: Truth, product: string, store: string, ask: Ask): Promise<string[]> {
  const byWay = ask.ways.map((way) => expectedFiles(truth, way, ask.locale));
  const ways = ask.ways.join(', ');
  if (byWay.some((files) => files.length === 0)) return [`nothing to ask for by one of ${ways} in ${ask.locale}`];
  const expected = byWay.flat();
  const to = join(store, `out-${product}-${ask.ways[0]}-${ask.locale}`);
  const queries = expected.map(({ query }) => query);
  const args = ['extract', product, ...queries, '--to', to, '--locale', ask.locale, '--offline', '--store', store];
  const { status, value } = await pakratJson<Extracted>(args);
  const locked = expected.filter(({ lockedBy }) => lockedBy !== undefined).length;
  const wrong = wrongFiles(expected, to, value.failed ?? []);
  if (value.files !== expected.length - locked)
    wrong.push(`${value.files} files are counted of ${expected.length - locked}`);
  if (value.failed?.length !== locked) wrong.push(`${value.failed?.length} failures are listed, ${locked} are right`);
  if (status !== (locked > 0 ? 7 : 0))
    wrong.push(`exit ${status} with ${locked} locked files: ${JSON.stringify(value).slice(0, 300)}`);
  return wrong.map((line) => `${product} by ${ways} in ${ask.locale}: ${line}`);
}

async function wrongOfBuild(truth: Truth, product: string, store: string): Promise<string[]> {
  const asks: Ask[] = [{ ways: ['name', 'ckey', 'ekey'], locale: 'enUS' }];
  // The older build is there to be told from the newer one: one locale shows that.
  if (product === 'wow') {
    asks.push({ ways: ['name'], locale: 'deDE' });
    if (truth.layout === 'wow') asks.push({ ways: ['fdid'], locale: 'enUS' }, { ways: ['fdid'], locale: 'frFR' });
  }
  const wrong: string[] = [];
  // Two at a time: the machines that run this have two cores.
  for (let i = 0; i < asks.length; i += 2) {
    const pair = asks.slice(i, i + 2).map((ask) => extractAndCompare(truth, product, store, ask));
    wrong.push(...(await Promise.all(pair)).flat());
  }
  return wrong;
}

describe('every file of a build', () => {
  test.each(layouts.map((layout, i) => ({ ...layout, seed: `every-file-${i}`, nginx: hasNginx && i % 2 === 0 })))(
    'comes out right: $title (nginx: $nginx)',
    async ({ title, make, seed, nginx }) => {
      const root = scratch(seed);
      const port = await freePort();
      makeTree(root, port, ['--files', '250', '--total-bytes', '3M', '--seed', seed, ...make]);
      const server = nginx ? await startNginx({ folder: join(root, 'www'), port }) : await serveTree(root, [], port);
      try {
        const store = scratch(`${seed}-store`);
        const service = ['--store', store, '--patch-url', 'ribbitUrl' in server ? server.ribbitUrl : server.url];
        for (const [command, file] of [
          ['keys', 'truth/keys.txt'],
          ['listfile', 'listfile.csv'],
        ] as const)
          expect(runPakrat([command, 'import', join(root, file), '--store', store])).toMatchObject({ status: 0 });
        for (const product of ['wow_old', 'wow']) {
          const { status, value } = await pakratJson(['sync', product, ...service]);
          expect({ title, status, value }).toMatchObject({ status: 0, value: { missing: { entries: 0, bytes: 0 } } });
          const truth = readTruth(root, product === 'wow' ? 'b' : 'a');
          expect((await wrongOfBuild(truth, product, store)).slice(0, 20)).toEqual([]);
        }
      } finally {
        await server.close();
      }
    },
  );
});
