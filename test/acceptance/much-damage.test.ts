import { cpSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { StatusReport } from '../../src/app/status.ts';
import { freePort } from '../support/loopback.ts';
import { makeTree } from '../support/own-cdn.ts';
import { pakratJson, runPakrat, runShell } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type GoodServer, serveWell } from '../support/serve-well.ts';
import { readTruth } from '../support/truth.ts';

/* More than ten thousand things that are wrong: a disk that is not there, or gives back something else. */

// Whole processes; the machine may be busy.
jest.setTimeout(180_000);
const scratch = scratchFolder();

interface Row {
  name: string;
  message: string;
  count?: number;
}

/** Rows of their own at most. */
const mostRows = 10_000;
const sum = (rows: readonly Row[]): number => rows.reduce((total, { count = 1 }) => total + count, 0);

const root = scratch('tree');
const whole = scratch('whole');
let server: GoodServer;
let network: string[];
let copies = 0;

beforeAll(async () => {
  const port = await freePort();
  makeTree(root, port, ['--files', '12000', '--total-bytes', '3M', '--seed', 'much-damage']);
  server = await serveWell(root, port);
  network = ['--patch-url', server.url, '--cdn-host', `127.0.0.1:${port}`];
  const synced = await pakratJson(['sync', 'wow', '--store', whole, ...network]);
  expect(synced).toMatchObject({ status: 0, value: { missing: { entries: 0 } } });
});
afterAll(() => server?.close());

/** The data files below a folder: archives and loose objects, not their indices. */
function dataFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|\/)data\/..\/..\/[0-9a-f]{32}$/.test(path) && !path.includes('configs/'))
    .map((path) => join(folder, path));
}

/** Keeps the sizes of files, and nothing else of them. */
function spoil(files: readonly string[]): void {
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) writeFileSync(file, Buffer.alloc(statSync(file).size, 'Z'));
}

/** A store of which each entry is damaged. */
function spoiledStore(): string {
  copies += 1;
  const store = scratch(`spoiled${copies}`);
  cpSync(whole, store, { recursive: true });
  spoil(dataFiles(store));
  return store;
}

function statusOf(store: string): StatusReport['builds'][number] {
  const { stdout } = runPakrat(['status', '--json', '--store', store]);
  return (JSON.parse(stdout) as StatusReport).builds[0]!;
}

function repair(store: string): Promise<{ status: number | null; value: { bad: Row[]; repaired: number } }> {
  return pakratJson(['verify', '--repair', '--store', store, ...network]);
}

describe('a store of which nothing is right any more', () => {
  test('verify counts all that is bad, names the first ten thousand, and nothing is held then', async () => {
    const store = spoiledStore();
    const { wanted } = statusOf(store);
    expect(wanted.entries).toBeGreaterThan(mostRows + 2000);
    const { status, value } = await pakratJson<{ bad: Row[] }>(['verify', '--store', store]);
    expect(status).toBe(3);
    expect(sum(value.bad)).toBe(wanted.entries);
    const shared = value.bad.filter(({ count }) => count !== undefined);
    expect(value.bad.length - shared.length).toBe(mostRows);
    expect(shared.length).toBeLessThanOrEqual(dataFiles(store).length + 1);
    expect(statusOf(store).held.entries).toBe(0);
  });

  test('verify says in words how much of each archive is bad', () => {
    const store = spoiledStore();
    const { wanted } = statusOf(store);
    const { status, stdout } = runPakrat(['verify', '--store', store, '--quiet']);
    expect(status).toBe(3);
    expect(stdout).toContain(`${wanted.entries.toLocaleString('en')} bad, 0 repaired`);
    const inArchives = [...stdout.matchAll(/^ {2}\S+: ([\d,]+) entries: .*BLTE/gm)].map(([, count]) =>
      Number(count!.replaceAll(',', '')),
    );
    const alone = stdout.match(/^ {2}\S+: BLTE/gm) ?? [];
    expect(inArchives.reduce((a, b) => a + b) + alone.length).toBe(wanted.entries);
    expect(stdout.split('\n').length).toBeLessThan(dataFiles(store).length + 10);
  });

  test('verify --repair brings all of it back', async () => {
    const store = spoiledStore();
    const { wanted } = statusOf(store);
    const { status, value } = await repair(store);
    expect({ status, repaired: value.repaired }).toEqual({ status: 0, repaired: wanted.entries });
    expect(statusOf(store).held).toEqual(wanted);
    const again = await pakratJson<{ bad: Row[] }>(['verify', '--store', store]);
    expect(again).toMatchObject({ status: 0, value: { bad: [] } });
  });

  test('verify --repair brings back archives whose files are gone', async () => {
    const store = spoiledStore();
    const { wanted } = statusOf(store);
    for (const file of dataFiles(store)) rmSync(file);
    const { status, value } = await repair(store);
    expect({ status, bad: sum(value.bad), repaired: value.repaired }).toEqual({
      status: 0,
      bad: wanted.entries,
      repaired: wanted.entries,
    });
    expect(statusOf(store).held).toEqual(wanted);
  });

  test('extract counts each file that it cannot give, into a folder and as a tar', async () => {
    const store = spoiledStore();
    const out = scratch(`out${copies}`);
    const args = ['extract', 'wow', '--offline', '--store', store];
    const { status, value } = await pakratJson<{ files: number; failed: Row[] }>([...args, '--to', out]);
    expect(status).not.toBe(0);
    expect(value.files).toBe(0);
    const files = new Set(readTruth(root, 'b').rows.map(({ name }) => name)).size;
    expect(sum(value.failed)).toBeGreaterThanOrEqual(files);
    expect(value.failed.length).toBeGreaterThan(mostRows);
    expect(value.failed.length).toBeLessThan(mostRows + 20);
    const written = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(written).toEqual([]);
    const tar = runShell(`pakrat ${args.join(' ')} --quiet --to - | tar t | wc -l`, { timeoutMs: 120_000 });
    expect(tar.stdout.trim()).toBe('0');
    expect(tar.stderr).toContain(`${sum(value.failed).toLocaleString('en')} not extracted`);
    expect(tar.stderr).toMatch(/ and [\d,]+ others$/m);
  });
});

describe('a folder of which nothing is right any more', () => {
  test('verify of a CDN folder and import of it count all that is bad', async () => {
    const folder = join(scratch('folder'), 'tpr/wow');
    cpSync(join(root, 'www/tpr/wow'), folder, { recursive: true });
    const right = await pakratJson<{ checked: { entries: number }; bad: Row[] }>(['verify', `cdn:${folder}`]);
    expect(right).toMatchObject({ status: 0, value: { bad: [] } });
    const files = dataFiles(folder);
    spoil(files);
    const { status, value } = await pakratJson<{ checked: { entries: number }; bad: Row[] }>([
      'verify',
      `cdn:${folder}`,
    ]);
    expect(status).toBe(3);
    expect(value.checked).toEqual(right.value.checked);
    expect(sum(value.bad)).toBeGreaterThan(mostRows + 2000);
    expect(value.bad.length).toBeLessThan(mostRows + files.length);
    const importArgs = ['import', folder, '--product', 'wow', '--store', scratch('taken'), '--cdn-path', 'tpr/wow'];
    const taken = await pakratJson<{ damaged: Row[] }>([...importArgs, ...network]);
    expect(taken.status).toBe(3);
    expect(sum(taken.value.damaged)).toBe(sum(value.bad));
    expect(taken.value.damaged.length).toBeLessThan(mostRows + files.length);
  });
});
