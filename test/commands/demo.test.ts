import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { compareWithGame } from '../../src/demo/compare.ts';
import type { DemoReport } from '../../src/demo/demo.ts';
import { claimDemoFolder } from '../../src/demo/folder.ts';
import { type FolderFile, listFolderFiles } from '../../src/publish/files/folder-files.ts';
import { type Run, runPakrat, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const game = listFolderFiles('data/sample-game');
const ofLanguage = (locale: string) => game.filter((file) => file.locale === undefined || file.locale === locale);

test('the sample game is small, and has both languages', () => {
  const bytes = game.reduce((sum, { path }) => sum + readFileSync(path).length, 0);
  expect(game.length).toBeGreaterThanOrEqual(40);
  expect(game.length).toBeLessThanOrEqual(60);
  expect(bytes).toBeGreaterThan(1_000_000);
  expect(bytes).toBeLessThan(3_000_000);
  for (const locale of ['enUS', 'deDE'])
    expect(game.filter((file) => file.locale === locale).length).toBeGreaterThan(3);
});

describe('pakrat demo', () => {
  let run: Run;
  let seconds: number;
  beforeAll(async () => {
    mkdirSync(scratch('work'));
    const started = performance.now();
    run = await startPakrat(['demo'], { cwd: scratch('work') }).ended;
    seconds = (performance.now() - started) / 1000;
  }, 60_000);

  test('succeeds, says each step, and shows figures', () => {
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    const steps = run.stdout.match(/^ ?\d+ \S.*$/gm) ?? [];
    expect(steps.map((line) => Number.parseInt(line, 10))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const compared = ofLanguage('enUS').length + ofLanguage('deDE').length;
    expect(run.stdout).toContain(`\n   ${compared} files, `);
    expect(run.stdout).toMatch(/the same, byte for byte\n/);
    expect(run.stdout).toMatch(/^ +\d+ {2}scripts\/main\.lua$/m);
    expect(run.stdout).toContain('LATERNENTIEFE');
  });

  test('takes some seconds: long enough to see it, short enough to wait', () => {
    expect(seconds).toBeGreaterThan(3);
    expect(seconds).toBeLessThan(30);
  });

  test('leaves the folder that it names, and in it store and files', () => {
    expect(readdirSync(scratch('work'))).toEqual(['pakrat-demo']);
    expect(readdirSync(scratch('work', 'pakrat-demo')).sort()).toEqual(['extracted', 'pakrat-demo.txt', 'store']);
    expect(readdirSync(scratch('work', 'pakrat-demo', 'extracted')).sort()).toEqual(['deDE', 'enUS']);
    expect(existsSync(scratch('work', 'pakrat-demo', 'store', 'ledger.db'))).toBe(true);
  });

  test.each(['enUS', 'deDE'])('the files of %s are those of the game', (locale) => {
    const folder = scratch('work', 'pakrat-demo', 'extracted', locale);
    const expected = ofLanguage(locale);
    expect(
      listFolderFiles(folder)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(expected.map(({ name }) => name).sort());
    for (const { name, path } of expected)
      expect(readFileSync(join(folder, name)).equals(readFileSync(path))).toBe(true);
  });

  test('the commands that it shows work as they are, without a network', () => {
    const shown = run.stdout.match(/^ {2}.*(?:run\.js|pakrat) (.*--offline.*)$/gm) ?? [];
    expect(shown.length).toBe(2);
    const outputs = shown.map((line) => {
      const args = line
        .trim()
        .replace(/^(node \S+|pakrat) /, '')
        .split(' ');
      const { status, stdout } = runPakrat(args, { cwd: scratch('work') });
      expect(status).toBe(0);
      return stdout;
    });
    expect(outputs[0]!.trim().split('\n')).toEqual(expect.arrayContaining(['credits.txt', 'texts/']));
    expect(outputs[1]).toBe(readFileSync('data/sample-game/secrets/ending.txt', 'utf8'));
  });
});

/** Starts a demo, and does something to it while it syncs. */
async function disturbDemo(folder: string, disturb: (child: ChildProcess) => unknown): Promise<Run> {
  const { child, ended } = startPakrat(['demo', '--to', folder]);
  const syncing = (): boolean => ['tmp/cdn', 'store/tpr'].every((path) => existsSync(join(folder, path)));
  while (!syncing() && child.exitCode === null) await sleep(20);
  disturb(child);
  return ended;
}

/** Puts a file below a folder. */
function plant(folder: string, path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

describe('pakrat demo --json, where an earlier one was killed', () => {
  const folder = scratch('json');
  let report: DemoReport;
  beforeAll(async () => {
    // What is there while a demo runs, and after it was killed.
    claimDemoFolder(folder);
    plant(folder, 'tmp/cdn/tpr/half', 'x');
    plant(folder, 'store/tpr/half', 'x');
    plant(folder, 'extracted/enUS/left-over', 'x');
    const args = ['demo', '--json', '--to', folder, '--offline', '--locale', 'koKR', '--region', 'cn'];
    // Its own store and services: what is set for other work does not lead it astray.
    const env = { PAKRAT_STORE: scratch('not-this'), PAKRAT_PATCH_URL: 'http://127.0.0.1:9' };
    const { status, stdout, stderr } = await startPakrat(args, { env }).ended;
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    report = JSON.parse(stdout) as DemoReport;
  }, 60_000);

  test('nothing of that is left', () => {
    expect(readdirSync(folder).sort()).toEqual(['extracted', 'pakrat-demo.txt', 'store']);
    for (const path of ['extracted/enUS/left-over', 'store/tpr/half'])
      expect(existsSync(join(folder, path))).toBe(false);
  });

  test('the sync was stopped half-way by the real interruption', () => {
    const { code, wanted, held, served } = report.interrupted;
    expect(code).toBe('E_ABORTED');
    expect(held.bytes).toBeGreaterThan(wanted.bytes * 0.3);
    expect(held.bytes).toBeLessThan(wanted.bytes * 0.9);
    expect(held.entries).toBeGreaterThan(0);
    expect(held.entries).toBeLessThan(wanted.entries);
    expect(served.bytes).toBeGreaterThanOrEqual(held.bytes);
  });

  test('the second run took only the rest, as the server counts', () => {
    const { interrupted, resumed, published } = report;
    const rest = interrupted.wanted.bytes - interrupted.held.bytes;
    expect(resumed.missing).toEqual({ entries: 0, bytes: 0 });
    expect(resumed.held).toEqual({ entries: published.objects, bytes: published.objectBytes });
    expect(resumed.fetched.entries).toBe(interrupted.wanted.entries - interrupted.held.entries);
    expect(resumed.served.bytes).toBeGreaterThanOrEqual(rest);
    // versions and cdns are asked again; a piece that was on its way to the first run may count for the second.
    expect(resumed.served.bytes).toBeLessThan(rest + 32 * 1024);
    expect(resumed.served.bytes).toBeLessThan(published.objectBytes * 0.75);
  });

  test('one file was locked until its key was there', () => {
    expect(report.locked).toMatchObject([
      { name: 'secrets/ending.txt', code: 'E_KEY_MISSING', message: expect.stringContaining('4c414d504f494c31') },
    ]);
    expect(report.keys).toEqual({ read: 1, added: 1, changed: 0 });
  });

  test('all files of both languages were extracted and compared', () => {
    const files = ofLanguage('enUS').length + ofLanguage('deDE').length;
    expect(report.published).toMatchObject({ product: 'lantern', files: game.length });
    expect(report.published.archives).toBeGreaterThan(3);
    expect(report.extracted).toEqual({ files, bytes: report.compared.bytes });
    expect(report.compared).toMatchObject({ files, different: [] });
    expect(report.compared.bytes).toBeGreaterThan(1_000_000);
    expect(existsSync(scratch('not-this'))).toBe(false);
  });
});

test('a file that is not as it was published: exit 3, and which it is', async () => {
  const folder = scratch('spoiled');
  const run = await disturbDemo(folder, () => plant(folder, 'extracted/deDE/maps/one-too-many.map', 'x'));
  expect(run.status).toBe(3);
  expect(run.stderr).toMatch(/^Error: 1 file is not .*one-too-many\.map\n(.*\n)?Code: E_INTEGRITY\n/);
}, 30_000);

describe('compareWithGame', () => {
  const original = (name: string, content: string, locale?: string): FolderFile => {
    const path = `${locale ?? ''}/${name}`;
    plant(scratch('originals'), path, content);
    return { name, locale, path: scratch('originals', path), read: () => new Uint8Array() };
  };
  const compare = (extracted: Record<string, string>) => {
    const folder = scratch('compared', String(Math.random()));
    mkdirSync(folder, { recursive: true });
    for (const [path, content] of Object.entries(extracted)) plant(folder, path, content);
    const originals = [original('a', 'all'), original('t/b', 'english', 'enUS'), original('t/b', 'deutsch', 'deDE')];
    const { files, bytes, different } = compareWithGame(originals, folder, 'deDE');
    return { files, bytes, different: different.map((path) => relative(folder, path)) };
  };

  test('counts what is the same, in one language', () => {
    expect(compare({ a: 'all', 't/b': 'deutsch' })).toEqual({ files: 2, bytes: 10, different: [] });
  });

  test.each([
    ['changed', { a: 'aLl', 't/b': 'deutsch' }, ['a']],
    ['shorter', { a: 'al', 't/b': 'deutsch' }, ['a']],
    ['in the other language', { a: 'all', 't/b': 'english' }, ['t/b']],
    ['missing', { 't/b': 'deutsch' }, ['a']],
    ['one too many', { a: 'all', 't/b': 'deutsch', 't/c': '' }, ['t/c']],
  ])('a file that is %s is named', (_, extracted, different) => {
    expect(compare(extracted as Record<string, string>).different).toEqual(different);
  });
});

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('the folder', () => {
  test.each([
    ['with files of somebody else', ['mine.txt']],
    ['that only looks like a demo', ['store/ledger.db', 'extracted/x']],
    ['with a note of its own under the name of ours', ['pakrat-demo.txt', 'mine.txt']],
  ])('%s is refused and left alone', (_, paths) => {
    const folder = scratch(paths.join('-').replaceAll('/', '_'));
    for (const path of paths) plant(folder, path, 'mine');
    const before = readdirSync(folder, { recursive: true });
    const hint = expect.stringContaining('Name a folder');
    expect(thrown(() => claimDemoFolder(folder))).toMatchObject({ code: 'E_USAGE', hint });
    expect(readdirSync(folder, { recursive: true })).toEqual(before);
    for (const path of paths) expect(readFileSync(join(folder, path), 'utf8')).toBe('mine');
  });

  test('a file in its place is refused', () => {
    writeFileSync(scratch('file'), 'mine');
    const { status, stdout, stderr } = runPakrat(['demo', '--to', scratch('file')]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('Code: E_USAGE\nTry this: Name a folder');
    expect(readFileSync(scratch('file'), 'utf8')).toBe('mine');
  });

  test.each([
    ['once', false],
    ['and again at once, which waits for nothing', true],
  ])(
    'of a demo that was interrupted %s has no CDN tree',
    async (_, isTwice) => {
      const folder = scratch(`interrupted-${isTwice}`);
      const run = await disturbDemo(folder, async (child) => {
        child.kill('SIGINT');
        await sleep(10);
        if (isTwice) child.kill('SIGINT');
      });
      expect(run).toMatchObject({ status: 130, stderr: expect.stringContaining('E_ABORTED') });
      expect(run.stderr).toContain('a demo begins anew');
      expect(readdirSync(folder).sort()).toEqual(['pakrat-demo.txt', 'store']);
    },
    30_000,
  );
});
