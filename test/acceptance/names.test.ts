import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { ExtractResult } from '../../src/sources/extract/extract.ts';
import { freePort } from '../support/loopback.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type GoodServer, serveWell } from '../support/serve-well.ts';
import { makeTree } from '../support/synthetic-cdn.ts';
import { readTruth, type TruthRow } from '../support/truth.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

interface Listed {
  name: string;
  size: number;
  ckey: string;
  ekey: string;
}

describe('choosing files of a build', () => {
  const root = scratch('tree');
  const offline = ['--store', scratch('store'), '--offline'];
  let server: GoodServer;
  let rows: TruthRow[];
  let all: Listed[];

  beforeAll(async () => {
    const port = await freePort();
    makeTree(root, port, ['--files', '250', '--total-bytes', '1M', '--seed', 'names', '--archives', '2']);
    rows = readTruth(root, 'b').rows.filter(({ locale, lockedBy }) => locale === '-' && lockedBy === undefined);
    server = await serveWell(root, port);
    await withPakrat({ store: scratch('store'), patchUrl: server.url }, async (pakrat) => {
      await pakrat.sync('wow');
      await pakrat.listfile.import(join(root, 'listfile.csv'));
      await pakrat.keys.import([join(root, 'truth/keys.txt')]);
    });
    all = await list();
  });
  afterAll(() => server?.close());

  const list = async (...args: string[]): Promise<Listed[]> =>
    (await pakratJson<Listed[]>(['ls', 'wow', '-R', ...offline, ...args])).value;

  test('every row has the size and the keys that the truth table has', () => {
    const listed = new Map(all.map((row) => [row.name.toLowerCase(), row]));
    for (const { name, ckey, ekeys, content } of rows) {
      expect(listed.get(name.toLowerCase())).toMatchObject({ ckey, ekey: ekeys[0], size: content().length });
    }
    expect(rows.length).toBeGreaterThan(150);
  });

  test('ls --regex lists what has it, whatever the case; with globs both must fit', async () => {
    const names = all.map(({ name }) => name);
    for (const [args, expected] of [
      [['--regex', '^inter', '--regex', '(.)\\1(?!.*blp$)'], (name: string) => /^inter|(.)\1(?!.*blp$)/i.test(name)],
      [['*.blp', '--regex', '[13579]\\.(BLP|m2)$'], (name: string) => /[13579]\.blp$/i.test(name)],
    ] as const) {
      const chosen = (await list(...args)).map(({ name }) => name);
      expect(chosen).toEqual(names.filter(expected));
      expect(chosen.length).toBeGreaterThan(2);
      expect(chosen.length).toBeLessThan(names.length);
    }
    expect(runPakrat(['ls', 'wow', ...offline, '--regex', '('])).toMatchObject({ status: 2, stdout: '' });
  });

  test('extract --list takes names, ids and keys, and reports what is not there', async () => {
    const [a, b, c, d] = rows.filter(({ content }) => content().length > 100) as [
      TruthRow,
      TruthRow,
      TruthRow,
      TruthRow,
    ];
    const lines = [
      a.name,
      `${b.fileDataId};b/by-id.bin`,
      `ckey:${c.ckey};by-ckey.bin`,
      `ekey;${d.ekeys[0]};by-ekey.bin`,
    ];
    writeFileSync(scratch('list.txt'), `# some files\n${lines.join('\n')}\nno/such.file\n${a.name};../../out.bin\n`);
    mkdirSync(scratch('listed'));
    const to = scratch('listed', 'deep');
    const run = await pakratJson<ExtractResult>([
      'extract',
      'wow',
      ...offline,
      '--list',
      scratch('list.txt'),
      '--to',
      to,
    ]);
    expect(run).toMatchObject({
      status: 4,
      value: { files: 4, failed: [{ name: 'no/such.file', code: 'E_NOT_FOUND' }, { code: 'E_UNSAFE_PATH' }] },
    });
    const read = (name: string): Buffer => readFileSync(join(to, name));
    expect(read('b/by-id.bin').equals(b.content())).toBe(true);
    expect(read('by-ckey.bin').equals(c.content())).toBe(true);
    expect(read('by-ekey.bin').equals(d.content())).toBe(true);
    const files = readdirSync(scratch('listed'), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files).toHaveLength(4);

    const piped = runPakrat(['extract', 'wow', ...offline, '--list', '-', '--to', scratch('piped'), '--json'], {
      input: `${a.name};one.bin\nckey:12\n`,
    });
    expect(piped.status).toBe(5);
    expect(JSON.parse(piped.stdout).error.message).toContain('line 2');
    const right = runPakrat(['extract', 'wow', ...offline, '--list', '-', '--to', scratch('piped'), '--quiet'], {
      input: `${a.name};one.bin\n`,
    });
    expect(right.status).toBe(0);
    expect(readFileSync(scratch('piped', 'one.bin')).equals(a.content())).toBe(true);
  });
});
