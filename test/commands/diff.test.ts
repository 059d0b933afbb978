import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { DiffOptions } from '../../src/app/diff.ts';
import { type TruthFile, truthDiff, truthFetch, truthFiles } from '../support/diff-truth.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { syntheticCdn } from '../support/synthetic-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

interface Amount {
  entries: number;
  bytes: number;
}

interface Report extends Record<'added' | 'removed' | 'changed' | 'renamed', { name: string; by?: string }[]> {
  failed: { name: string; code: string }[];
  summary: Record<'added' | 'removed' | 'changed' | 'renamed' | 'unchanged', { files: number; bytes: number }> & {
    by: Record<string, number>;
    fetch: Amount | null;
    missing: Amount | null;
  };
}

function lists({ added, removed, changed, renamed }: Report): unknown {
  return { added, removed, changed, renamed };
}

function sum(files: readonly { size: number }[]): number {
  return files.reduce((bytes, { size }) => bytes + size, 0);
}

/** Compares with the library. @returns what `--json` would print */
async function diffOf(
  session: Parameters<typeof withPakrat>[0],
  [before, after]: readonly [string, string],
  options?: DiffOptions,
): Promise<Report> {
  const report = await withPakrat(session, (pakrat) => pakrat.diff(before, after, options));
  const { added, removed, changed, renamed, failed, summary } = report;
  const whole = { added: [...added], removed: [...removed], changed: [...changed], renamed: [...renamed] };
  return JSON.parse(JSON.stringify({ ...whole, failed, summary })) as Report;
}

describe('diff, of two builds', () => {
  let cdn: SyntheticCdn;
  let options: string[];
  let session: { store: string; patchUrl: string };
  let truth: (build: 'a' | 'b') => TruthFile[];
  const diff = (options?: DiffOptions): Promise<Report> => diffOf(session, ['wow_old', 'wow'], options);

  beforeAll(async () => {
    cdn = await syntheticCdn({
      make: [
        '--files',
        '250',
        '--total-bytes',
        '1500K',
        '--loose',
        '0.05',
        '--multi-ekey',
        '0.1',
        '--seed',
        'difference',
      ],
    });
    options = ['--store', scratch('store'), '--patch-url', cdn.url];
    session = { store: scratch('store'), patchUrl: cdn.url };
    truth = (build) => truthFiles(cdn.root, build);
  });
  afterAll(() => cdn.close());

  test('without a list of names: by id, exactly what the tables of the generator say', async () => {
    const [before, after] = (['a', 'b'] as const).map((build) => truthFiles(cdn.root, build, { named: false }));
    const expected = truthDiff(before!, after!);
    const { value: report } = await pakratJson<Report>(['diff', 'wow_old', 'wow', ...options]);
    expect(lists(report)).toEqual(expected);
    expect(expected.added!.length * expected.removed!.length * expected.changed!.length).toBeGreaterThan(0);
    const { added, removed, unchanged, fetch } = report.summary;
    expect(added).toEqual({ files: expected.added!.length, bytes: sum(expected.added as TruthFile[]) });
    expect(removed).toEqual({ files: expected.removed!.length, bytes: sum(expected.removed as TruthFile[]) });
    expect(unchanged.files).toBe(after!.length - expected.added!.length - expected.changed!.length);
    expect(fetch).toEqual(truthFetch(cdn.root));
  });

  test('with a list of names: by name, ids beside; another locale has other contents', async () => {
    await withPakrat(session, (pakrat) => pakrat.listfile.import(join(cdn.root, 'listfile.csv')));
    expect(lists(await diff())).toEqual(truthDiff(truth('a'), truth('b')));
    const [before, after] = (['a', 'b'] as const).map((build) => truthFiles(cdn.root, build, { locale: 'deDE' }));
    expect(truthDiff(before!, after!)).not.toEqual(truthDiff(truth('a'), truth('b')));
    expect(lists(await diffOf({ ...session, locale: 'deDE' }, ['wow_old', 'wow']))).toEqual(truthDiff(before!, after!));
  });

  test('globs choose names on both sides; one that nothing has leaves nothing', async () => {
    const isWorld = ({ name }: TruthFile): boolean => /^world\/.*\.(adt|blp)$/.test(name);
    const expected = truthDiff(truth('a').filter(isWorld), truth('b').filter(isWorld));
    const globs = ['world/**/*.adt', 'world/**/*.blp'];
    const { value: report } = await pakratJson<Report>(['diff', 'wow_old', 'wow', ...globs, ...options]);
    expect(lists(report)).toEqual(expected);
    const { fetch } = report.summary;
    expect(fetch!.entries).toBeGreaterThan(0);
    expect(fetch!.entries).toBeLessThan(truthFetch(cdn.root).entries);
    const none = await diff({ globs: ['*.none'] });
    expect(none.summary).toMatchObject({ unchanged: { files: 0 }, fetch: { entries: 0, bytes: 0 } });
  });

  test('the other way round, added is removed', async () => {
    expect(lists(await diffOf(session, ['wow', 'wow_old']))).toEqual(truthDiff(truth('b'), truth('a')));
  });

  test('a build and itself: nothing, and nothing to fetch', async () => {
    const { status, value } = await pakratJson<Report>(['diff', 'wow', 'wow', '--exit-code', ...options]);
    expect(status).toBe(0);
    expect(value.summary).toMatchObject({ changed: { files: 0 }, unchanged: { files: truth('b').length } });
    expect(value.summary.fetch).toEqual({ entries: 0, bytes: 0 });
  });

  test('no file is fetched; what is missing is what sync would fetch, before and after the first build is there', async () => {
    const dryRun = async (): Promise<Amount> => (await withPakrat(session, (pakrat) => pakrat.plan('wow'))).missing;
    const first = await diff();
    expect(first.summary.missing).toEqual(await dryRun());
    const before = cdn.requests().length;
    await diff();
    expect(cdn.requests().length - before).toBe(0);

    await withPakrat(session, (pakrat) => pakrat.sync('wow_old'));
    const held = await diff();
    expect(held.summary.fetch).toEqual(first.summary.fetch);
    expect(held.summary.missing).toEqual(await dryRun());
    // Diff itself brought the names of the second build.
    expect(held.summary.missing!.entries).toBeLessThan(held.summary.fetch!.entries);
    expect(held.summary.missing!.entries).toBeGreaterThan(held.summary.fetch!.entries - 6);
  });

  test('for people: a line for each file, then sums; only names; only sums by folder; that files differ is 1 if asked', () => {
    const run = (status: number, ...args: string[]): string[] => {
      const ran = runPakrat(['diff', 'wow_old', 'wow', ...options, '--quiet', ...args]);
      expect(ran.status).toBe(status);
      return ran.stdout.trimEnd().split('\n');
    };
    const { added, removed, changed } = truthDiff(truth('a'), truth('b')) as {
      added: TruthFile[];
      removed: TruthFile[];
      changed: { name: string; before: TruthFile; after: TruthFile }[];
    };
    const lines = [
      ...added.map(({ name, size }) => ({ name, line: `A  ${name}  ${size}` })),
      ...removed.map(({ name, size }) => ({ name, line: `D  ${name}  ${size}` })),
      ...changed.map(({ name, before, after }) => {
        const growth = after.size - before.size;
        return { name, line: `M  ${name}  ${after.size} (${growth < 0 ? '' : '+'}${growth})` };
      }),
    ].sort((a, b) => (a.name < b.name ? -1 : 1));
    const shown = run(0);
    expect(shown.slice(0, -2)).toEqual(lines.map(({ line }) => line));
    expect(shown.at(-2)).toMatch(
      new RegExp(`^${added.length} added \\(.*\\), ${removed.length} removed .*, ${changed.length} changed`),
    );
    expect(shown.at(-1)).toMatch(/^to fetch: \d+ entries \(.*\) beyond the first build, /);
    expect(run(1, '--name-only', '--exit-code')).toEqual(lines.map(({ name }) => name));
    const summary = run(0, '--summary', '--offline');
    const world = (files: { name: string }[]): number => files.filter(({ name }) => name.startsWith('world/')).length;
    expect(summary[1]!.split(/\s+/).slice(0, 4)).toEqual([
      'world/',
      ...[added, removed, changed].map((files) => String(world(files))),
    ]);
    expect(summary).not.toContain(lines[0]!.line);
    const { stdout } = runPakrat(['diff', 'wow_old', 'wow', ...options, '--summary', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      failed: [],
      summary: {
        added: { files: added.length },
        folders: expect.arrayContaining([expect.objectContaining({ folder: 'world/', added: world(added) })]),
      },
    });
  });

  test('bad arguments are 2', async () => {
    const status = (...args: string[]): number | null => runPakrat(['diff', ...args, ...options]).status;
    expect(status('wow')).toBe(2);
    expect(status('wow', 'wow', '--summary', '--name-only')).toBe(2);
    const nowhere = diffOf(session, ['wow', scratch('nowhere/at/all')]);
    await expect(nowhere).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('offline it works with what is held', async () => {
    const value = await diffOf({ ...session, offline: true }, ['wow_old', 'wow']);
    expect(lists(value)).toEqual(truthDiff(truth('a'), truth('b')));
  });

  test('offline without the manifests of a sync: the files as ever, and nothing said about fetching', async () => {
    const names = { store: scratch('names-only'), patchUrl: cdn.url };
    await withPakrat(names, async (pakrat) => {
      for (const product of ['wow_old', 'wow']) {
        const source = await pakrat.open(product);
        for await (const { name } of source.list(['*.none'])) throw new Error(`there is ${name}`);
      }
    });
    const value = await diffOf({ ...names, offline: true }, ['wow_old', 'wow']);
    expect(value.changed).toHaveLength(truthDiff(truth('a'), truth('b')).changed!.length);
    expect(value.summary).toMatchObject({ fetch: null, missing: null });
  });

  test('a build and what was extracted of it: only what is locked or damaged differs', async () => {
    const to = scratch('extracted');
    const made = await withPakrat(session, (pakrat) => pakrat.extract('wow', { to }));
    const locked = made.failed.map(({ name }) => name).sort();
    expect(locked.length).toBeGreaterThan(0);
    // More than one file may have the content that is now there under the first name.
    const files = truth('b').filter(({ name, size }) => !locked.includes(name) && size > 10);
    const [damaged, longer, gone] = files as [TruthFile, TruthFile, TruthFile];
    const bytes = readFileSync(join(to, damaged.name));
    bytes[3]! ^= 1;
    writeFileSync(join(to, damaged.name), bytes);
    writeFileSync(join(to, longer.name), 'x', { flag: 'a' });
    rmSync(join(to, gone.name));
    writeFileSync(join(to, 'new.txt'), 'new');
    const value = await diffOf({ ...session, offline: true }, ['wow', to]);
    expect(value.added.map(({ name }) => name)).toEqual(['new.txt']);
    expect(value.removed.map(({ name }) => name)).toEqual([...locked, gone.name].sort());
    expect(value.changed.map(({ name, by }) => `${name} ${by}`).sort()).toEqual(
      [`${damaged.name} content`, `${longer.name} size`].sort(),
    );
    expect(value.summary).toMatchObject({ fetch: null, missing: null });
  });
});

describe('diff, of builds with roots of other kinds', () => {
  test.each(['tvfs', 'text'])('%s', async (layout) => {
    const cdn = await syntheticCdn({ make: ['--files', '80', '--total-bytes', '300K', '--layout', layout] });
    try {
      const value = await diffOf({ store: scratch(layout), patchUrl: cdn.url }, ['wow_old', 'wow']);
      const [before, after] = (['a', 'b'] as const).map((build) => truthFiles(cdn.root, build));
      expect(lists(value)).toEqual(truthDiff(before!, after!));
      expect(value.changed.length).toBeGreaterThan(0);
      // Of the files of a TVFS that are in several pieces, which are the same in both builds, the pieces were compared.
      expect(value.summary.by.keys).toBe(layout === 'tvfs' ? 2 : undefined);
    } finally {
      await cdn.close();
    }
  });
});

/** Names and bytes of the files of a folder, by node:fs alone. */
function filesOf(folder: string): Map<string, Buffer> {
  return new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((found) => {
      const path = join(found.parentPath, found.name);
      return found.isFile() ? [[path.slice(folder.length + 1), readFileSync(path)] as const] : [];
    }),
  );
}

describe('diff, of PAKs and folders', () => {
  const key = '0123456789abcdef'.repeat(4);
  const folders = (): [Map<string, Buffer>, Map<string, Buffer>] => [filesOf(scratch('old')), filesOf(scratch('new'))];

  beforeAll(async () => {
    const write = (name: string, text: string): void => {
      mkdirSync(join(scratch(name), '..'), { recursive: true });
      writeFileSync(scratch(name), text);
    };
    write('old/maps/a.bsp', 'a map '.repeat(20_000));
    write('old/maps/deep/same', 'the same');
    write('old/empty', '');
    write('old/gone.txt', 'gone');
    for (let i = 0; i < 40; i++) write(`old/many/${i}.txt`, `file ${i} `.repeat(i));
    cpSync(scratch('old'), scratch('new'), { recursive: true });
    // Of equal size, of another size, from nothing, new and gone.
    write('new/maps/a.bsp', `b${'a map '.repeat(20_000).slice(1)}`);
    write('new/many/7.txt', 'short');
    write('new/many/0.txt', 'no longer empty');
    write('new/z/new.txt', 'new');
    rmSync(scratch('new/gone.txt'));
    await withPakrat({}, async ({ pack }) => {
      for (const side of ['old', 'new']) {
        const pak = (name: string): string => scratch(`${side}-${name}.pak`);
        await pack.quake(pak('quake'), scratch(side));
        await pack.unreal(pak('unreal'), scratch(side), { compress: 'zlib' });
        await pack.unreal(pak('hashed'), scratch(side), { compress: 'zlib', version: '8A' });
        await pack.unreal(pak('encrypted'), scratch(side), { compress: 'zlib', key: [key] });
      }
    });
  });

  function expected(): Record<'added' | 'removed' | 'changed', string[]> & { unchanged: number } {
    const [before, after] = folders();
    const both = [...after.keys()].filter((name) => before.has(name));
    const changed = both.filter((name) => !before.get(name)!.equals(after.get(name)!)).sort();
    return {
      added: [...after.keys()].filter((name) => !before.has(name)).sort(),
      removed: [...before.keys()].filter((name) => !after.has(name)).sort(),
      changed,
      unchanged: both.length - changed.length,
    };
  }

  async function found(before: string, after: string): Promise<ReturnType<typeof expected> & { report: Report }> {
    return told(await diffOf({}, [before, after], { pak: { key: [key] } }));
  }

  function told(report: Report): ReturnType<typeof expected> & { report: Report } {
    const names = (list: { name: string }[]): string[] => list.map(({ name }) => name);
    const { added, removed, changed, failed, summary } = report;
    expect(failed).toEqual([]);
    const counts = { added: names(added), removed: names(removed), changed: names(changed) };
    return { ...counts, unchanged: summary.unchanged.files, report };
  }

  const paths = (): [string, string][] => [
    [scratch('old'), scratch('new')],
    [scratch('old-quake.pak'), scratch('new-quake.pak')],
    [scratch('old-unreal.pak'), scratch('new-unreal.pak')],
    [scratch('old-encrypted.pak'), scratch('new-unreal.pak')],
    [scratch('old-hashed.pak'), scratch('new-hashed.pak')],
    [scratch('old-quake.pak'), scratch('new')],
    [scratch('old'), scratch('new-unreal.pak')],
    [`folder:${scratch('old')}`, scratch('new-quake.pak')],
  ];

  test('what node:fs finds by reading both, whichever way they are stored', async () => {
    const truth = expected();
    expect(truth).toMatchObject({ added: ['z/new.txt'], removed: ['gone.txt'] });
    for (const [before, after] of paths()) {
      const { report, ...names } = await found(before, after);
      expect({ before, after, ...names }).toEqual({ before, after, ...truth });
      const by = report.changed.map(({ name, by }) => `${name} ${by}`);
      expect(by).toEqual(['many/0.txt size', 'many/7.txt size', 'maps/a.bsp content'].sort());
    }
    // Equal stored bytes are told by their hash, without reading.
    const { by } = (await found(scratch('old-hashed.pak'), scratch('new-hashed.pak'))).report.summary;
    expect(by).toEqual({ content: 1, sha1: truth.unchanged - 1, size: 3 });
  });

  test('so it is for the program, which is given the key', async () => {
    const args = ['diff', scratch('old-encrypted.pak'), scratch('new-unreal.pak'), '--key', key];
    const { status, value } = await pakratJson<Report>(args);
    const { report: _, ...names } = told(value);
    expect({ status, ...names }).toEqual({ status: 0, ...expected() });
  });

  test('entries that are locked are named as not compared, and the exit code says so', async () => {
    const sides = [scratch('old-encrypted.pak'), scratch('new')] as const;
    const { failed, changed } = await diffOf({}, sides);
    expect(failed.length).toBeGreaterThan(30);
    expect(new Set(failed.map(({ code }) => code))).toEqual(new Set(['E_KEY_MISSING']));
    // What sizes tell needs no key.
    expect(changed.map(({ name }) => name)).toEqual(['many/0.txt', 'many/7.txt']);
    const shown = runPakrat(['diff', ...sides]);
    expect(shown).toMatchObject({ status: 7, stdout: expect.stringMatching(/not compared:\n {2}/) });
  });

  test('folders that are a game are read as one, unless they are asked for as folders', async () => {
    mkdirSync(scratch('game/id1'), { recursive: true });
    cpSync(scratch('old-quake.pak'), scratch('game/id1/pak0.pak'));
    expect(await found(scratch('game'), scratch('old'))).toMatchObject({ added: [], removed: [], changed: [] });
    expect(await found(`folder:${scratch('game')}`, scratch('old'))).toMatchObject({ removed: ['id1/pak0.pak'] });
    const none = diffOf({}, [`pak:${scratch('old')}`, scratch('old')]);
    await expect(none).rejects.toMatchObject({ code: expect.stringMatching(/^E_FORMAT/) });
    await expect(diffOf({}, [`folder:${scratch('none')}`, scratch('old')])).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
    });
  });

  test('names from outside reach a terminal as text only', () => {
    mkdirSync(scratch('odd'));
    writeFileSync(scratch('odd', 'a\u001b[31m\nb'), '');
    symlinkSync('/etc/passwd', scratch('odd', 'link'));
    const { stdout } = runPakrat(['diff', scratch('old'), scratch('odd'), '--quiet']);
    expect(stdout).toContain('A  a\\x1b[31m\\x0ab  0\n');
    expect(stdout).not.toContain('link');
  });
});
