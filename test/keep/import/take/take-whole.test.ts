import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ImportOptions, ImportReport } from '../../../../src/app/import.ts';
import { builtModule } from '../../../support/built-module.ts';
import { checkHeldBytes } from '../../../support/held-bytes.ts';
import { syntheticCdn } from '../../../support/own-cdn.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import type { SyntheticCdn } from '../../../support/served-cdn.ts';
import { flipBytes } from '../../../support/synced-store.ts';
import { withPakrat } from '../../../support/with-pakrat.ts';

/* What threads find right is taken whole; whatever else is told and taken is the same as without them. */

const scratch = scratchFolder();
const built = builtModule('src/keep/proofs/proof-worker.ts');
const workerUrl = new URL(`file://${scratch('program')}/any.js`);
let cdn: SyntheticCdn;
let number = 0;

beforeAll(async () => {
  fs.mkdirSync(scratch('program'));
  fs.writeFileSync(join(scratch('program'), 'package.json'), '{"type":"module"}');
  fs.writeFileSync(join(scratch('program'), 'proof-worker.js'), `import ${JSON.stringify(built)};`);
  cdn = await syntheticCdn({ make: ['--files', '400', '--total-bytes', '16M', '--archives', '6', '--loose', '.05'] });
});
afterAll(() => cdn.close());

const www = (): string => join(cdn.root, 'www');
const fresh = (name: string): string => {
  number += 1;
  return scratch(`${name}${number}`);
};

const sizeOf = (file: string): number => fs.statSync(file).size;

interface Taken {
  report: ImportReport;
  store: string;
  /** The most bytes that were told to be done, and the last: nothing is counted twice in the end. */
  most: number;
  last: number;
  total: number;
}

async function imported(folder: string, threads: number, options: ImportOptions = {}): Promise<Taken> {
  const store = fresh('store');
  let [most, last, total] = [0, 0, 0];
  const onProgress: ImportOptions['onProgress'] = (event) => {
    if (event.type !== 'bytes' || event.phase !== 'import') return;
    most = Math.max(most, event.done);
    [last, total] = [event.done, event.total ?? 0];
    options.onProgress?.(event);
  };
  const report = await withPakrat({ store, threads, workerUrl, offline: true }, (pakrat) =>
    pakrat.import(folder, { ...options, onProgress }),
  );
  expect(fs.readdirSync(join(store, 'tmp')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  return { report, store, most, last, total };
}

/** The folder of the CDN, and its archives, the largest first. */
function mirror(): { root: string; archives: string[] } {
  const root = fresh('mirror');
  fs.cpSync(www(), root, { recursive: true });
  const files = fs.readdirSync(join(root, 'tpr/wow/data'), { recursive: true, encoding: 'utf8' });
  const archives = files
    .filter((path) => files.includes(`${path}.index`))
    .map((path) => join(root, 'tpr/wow/data', path))
    .sort((a, b) => sizeOf(b) - sizeOf(a));
  expect(archives.length).toBeGreaterThan(5);
  return { root, archives };
}

test('a mirror that is right: the same report, the same bytes, and all archives whole', async () => {
  const { root } = mirror();
  const alone = await imported(root, 0);
  const { report, store, most, last, total } = await imported(root, 2);
  expect(report).toEqual(alone.report);
  expect(report).toMatchObject({ damaged: [], unknown: [], lacking: { entries: 0 } });
  expect([most, last]).toEqual([total, total]);
  const held = checkHeldBytes(store, www());
  expect(held).toEqual(checkHeldBytes(alone.store, www()));
  expect(held.wrong).toEqual([]);
  expect(held.bytes).toBe(report.taken.bytes);
  // Nothing was taken entry by entry.
  expect(fs.existsSync(join(alone.store, 'partial'))).toBe(true);
  expect(fs.existsSync(join(store, 'partial'))).toBe(false);
});

test('one with a wrong byte, a cut, a hole, bytes behind the end and an archive that is there twice: told and taken as without threads', async () => {
  const { root, archives } = mirror();
  const [wrong = '', cut = '', holed = '', longer = '', twice = ''] = archives;
  fs.writeFileSync(wrong, flipBytes(fs.readFileSync(wrong), 300, 100_000));
  fs.truncateSync(cut, fs.statSync(cut).size - 10);
  const bytes = fs.readFileSync(holed);
  fs.writeFileSync(holed, bytes.fill(0, 0, bytes.length / 2));
  fs.appendFileSync(longer, 'behind the end');
  const other = twice.replace(root, join(root, 'other'));
  fs.cpSync(twice, other, { recursive: true });
  const alone = await imported(root, 0);
  const { report, store, last } = await imported(root, 2);
  const sorted = ({ damaged, unknown, ...rest }: ImportReport): unknown => ({
    ...rest,
    damaged: [...damaged].sort((a, b) => a.name.localeCompare(b.name)),
    unknown: [...unknown].sort((a, b) => a.name.localeCompare(b.name)),
  });
  expect(sorted(report)).toEqual(sorted(alone.report));
  expect(report.damaged.length).toBeGreaterThan(0);
  expect(report.lacking.entries).toBeGreaterThan(1);
  expect(last).toBe(alone.last);
  expect(checkHeldBytes(store, www())).toEqual(checkHeldBytes(alone.store, www()));
  expect(checkHeldBytes(store, www()).wrong).toEqual([]);
});

test('with --dry-run and with hard links: the same report as without threads', async () => {
  const { root, archives } = mirror();
  fs.writeFileSync(archives[1]!, flipBytes(fs.readFileSync(archives[1]!), 5000, 100_000));
  const twice = archives[2]!;
  fs.cpSync(twice, twice.replace(root, join(root, 'other')), { recursive: true });
  for (const options of [{ dryRun: true }, { link: true }]) {
    const alone = await imported(root, 0, options);
    const { report, store } = await imported(root, 2, options);
    expect(report).toEqual(alone.report);
    expect(checkHeldBytes(store, www())).toEqual(checkHeldBytes(alone.store, www()));
  }
});

test('changed while it is taken: what is not as it was is told, and no wrong byte is taken', async () => {
  const { root, archives } = mirror();
  const below = fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => join(root, path));
  const large = below.filter((path) => below.includes(`${path}.index`)).reduce((sum, path) => sum + sizeOf(path), 0);
  let isChanged = false;
  const onProgress: ImportOptions['onProgress'] = (event) => {
    // The first archive has begun.
    if (isChanged || event.type !== 'bytes' || event.done <= (event.total ?? 0) - large) return;
    isChanged = true;
    for (const file of archives) fs.writeFileSync(file, flipBytes(fs.readFileSync(file), 300, 100_000));
  };
  const { report, store } = await imported(root, 2, { onProgress });
  expect(isChanged).toBe(true);
  expect(report.damaged.length).toBeGreaterThan(0);
  expect(report.taken.entries).toBeGreaterThan(0);
  expect(checkHeldBytes(store, www()).wrong).toEqual([]);
});

test('interrupted while copies are under way: nothing of them is left, what was taken is right, and the next run takes the rest', async () => {
  const { root } = mirror();
  const store = fresh('store');
  const controller = new AbortController();
  const within = (signal?: AbortSignal): Promise<ImportReport> =>
    withPakrat({ store, threads: 2, workerUrl, offline: true }, (pakrat) =>
      pakrat.import(root, {
        signal,
        onProgress: (event) => event.type === 'bytes' && event.done > 4_000_000 && controller.abort(),
      }),
    );
  await expect(within(controller.signal)).rejects.toMatchObject({ code: 'E_ABORTED' });
  expect(fs.readdirSync(join(store, 'tmp')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  const before = checkHeldBytes(store, www());
  expect(before.wrong).toEqual([]);
  const { taken, held } = await within();
  expect(checkHeldBytes(store, www())).toMatchObject({ wrong: [], bytes: taken.bytes + held.bytes });
  expect(held.bytes).toBe(before.bytes);
});
