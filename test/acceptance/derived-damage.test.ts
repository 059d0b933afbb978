import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { isListedFolder, listFiles } from '../../src/app/list.ts';
import { readFile } from '../../src/app/read.ts';
import { withSource } from '../../src/app/session/open-source.ts';
import { Session } from '../../src/app/session/session.ts';
import { isPakratError } from '../../src/core/errors.ts';
import type { Progress } from '../../src/core/progress.ts';
import { checkDerived } from '../../src/keep/check-derived.ts';
import type { Pakrat } from '../../src/pakrat.ts';
import type { ExtractResult } from '../../src/sources/extract/extract.ts';
import { openStore } from '../../src/store/store.ts';
import { randomSource } from '../support/hostile.ts';
import { freePort } from '../support/loopback.ts';
import { makeTree } from '../support/own-cdn.ts';
import { type Run, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type GoodServer, serveWell } from '../support/serve-well.ts';
import { describeTmpfs, withTmpfs } from '../support/tmpfs.ts';
import { readTruth, type TruthRow } from '../support/truth.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(240_000);
const scratch = scratchFolder();

/** Derived files of a store by their paths, and what is in them. */
type Derived = ReadonlyMap<string, Buffer>;

function derivedIn(store: string): Derived {
  const files = ['groups', 'manifests', 'names'].flatMap((folder) =>
    fs.readdirSync(join(store, folder)).map((name) => join(store, folder, name)),
  );
  return new Map(files.filter((file) => !file.includes('.lock')).map((file) => [file, fs.readFileSync(file)]));
}

/** Puts back what was there, and removes what was not. */
function restore(store: string, derived: Derived): void {
  for (const [file, bytes] of derivedIn(store)) {
    const before = derived.get(file);
    if (before === undefined) fs.rmSync(file);
    else if (!before.equals(bytes)) fs.writeFileSync(file, before);
  }
  for (const [file, bytes] of derived) if (!fs.existsSync(file)) fs.writeFileSync(file, bytes);
}

/** Ways in which a file is damaged; undefined where one cannot be had. `swap` puts another of its kind in its place. */
const damages = ['flip', 'cut', 'empty', 'gone', 'swap', 'zeros', 'longer'] as const;

function damage(file: string, how: (typeof damages)[number], derived: Derived, random: () => number): boolean {
  const bytes = Buffer.from(derived.get(file) ?? []);
  const at = Math.floor(random() * bytes.length);
  if (how === 'flip') bytes[at]! ^= 1 << Math.floor(random() * 8);
  else if (how === 'zeros') bytes.fill(0, at, Math.min(at + 64, bytes.length));
  if (how === 'flip' || how === 'zeros') fs.writeFileSync(file, bytes);
  else if (how === 'cut') fs.writeFileSync(file, bytes.subarray(0, at));
  else if (how === 'longer') fs.writeFileSync(file, Buffer.concat([bytes, Buffer.from('more')]));
  else if (how === 'empty') fs.writeFileSync(file, '');
  else if (how === 'gone') fs.rmSync(file);
  else {
    const kind = (path: string): string => path.replace(/[0-9a-f]{32}|listfile-[\w-]+/, '');
    const others = [...derived].filter(
      ([other, bytes]) => other !== file && kind(other) === kind(file) && !bytes.equals(derived.get(file)!),
    );
    const [other] = others[Math.floor(random() * others.length)] ?? [];
    if (other === undefined) return false;
    fs.copyFileSync(other, file);
  }
  return !fs.existsSync(file) || !fs.readFileSync(file).equals(derived.get(file)!);
}

describe.each(['wow', 'tvfs', 'text'] as const)('derived files of a store with builds of layout %s', (layout) => {
  const root = scratch(layout);
  const store = scratch(`${layout}-store`);
  let server: GoodServer;
  let rows: TruthRow[];
  let derived: Derived;
  let listed: string;

  const withSession = async <Result>(body: (session: Session) => Promise<Result>): Promise<Result> => {
    const session = new Session({ store, offline: true, threads: 0 });
    try {
      return await body(session);
    } finally {
      await session.close();
    }
  };
  /** Does work with the library, and with a network. */
  const online = <Result>(work: (pakrat: Pakrat) => Promise<Result>): Promise<Result> =>
    withPakrat({ store, patchUrl: server.url }, work);
  const list = (product = 'wow', ...names: string[]): Promise<string> =>
    withSession(async (session) => {
      const lines: string[] = [];
      await listFiles(session, product, { recursive: true, names }, async (rows) => {
        for await (const row of rows) if (!isListedFolder(row)) lines.push(`${row.name} ${row.size} ${row.md5}`);
      });
      return lines.join('\n');
    });
  const read = ({ name }: TruthRow): Promise<Buffer> =>
    withSession(async (session) => {
      const pieces: Uint8Array[] = [];
      await readFile(session, 'wow', name, {}, (piece) => void pieces.push(piece.slice()));
      return Buffer.concat(pieces);
    });
  const found = async (): Promise<string[]> => {
    const opened = openStore(store, { create: false });
    try {
      const names: string[] = [];
      for await (const { problem } of checkDerived(opened, undefined))
        if (problem !== undefined) names.push(problem.name);
      return names;
    } finally {
      opened.close();
    }
  };

  beforeAll(async () => {
    const port = await freePort();
    const size = ['--files', '120', '--total-bytes', '300K', '--archives', '2'];
    makeTree(root, port, [...size, '--seed', layout, '--layout', layout]);
    rows = readTruth(root, 'b').rows.filter(({ locale, lockedBy }) => locale === '-' && lockedBy === undefined);
    server = await serveWell(root, port);
    await online(async (pakrat) => {
      for (const product of ['wow_old', 'wow']) await pakrat.sync(product);
      await pakrat.keys.import([join(root, 'truth/keys.txt')]);
      if (layout === 'wow') await pakrat.listfile.import(join(root, 'listfile.csv'));
    });
    await list('wow_old');
    listed = await list();
    // A TVFS lists no empty files.
    rows = rows.filter(({ name }) => listed.includes(`${name} `));
    expect(rows.length).toBeGreaterThan(50);
    derived = derivedIn(store);
    expect(await found()).toEqual([]);
  });
  afterAll(() => server?.close());

  /** Uses the store in one way or another. @returns the error that says that the list of names is damaged, if that is what came of it */
  async function useStore(turn: number, random: () => number): Promise<unknown> {
    try {
      if (turn % 3 === 0) expect(await list()).toBe(listed);
      const row = rows[Math.floor(random() * rows.length)]!;
      expect(Buffer.compare(await read(row), row.content())).toBe(0);
      return undefined;
    } catch (error) {
      if (!isPakratError(error) || error.data.list === undefined) throw error;
      return error;
    }
  }

  test('however one is damaged, the check finds it, and whatever is asked then has the right answer', async () => {
    const random = randomSource(11);
    let count = 0;
    let refused = 0;
    for (const [i, file] of [...derived.keys()].entries()) {
      for (const [j, how] of damages.entries()) {
        // What one layout shares with another was damaged in every way there.
        if (layout !== 'wow' && (i + j) % 2 > 0) continue;
        const story = `${how} ${file}`;
        if (!damage(file, how, derived, random)) continue;
        const problems = await found();
        const isList = file.endsWith('.names');
        if (how !== 'gone' || isList) expect([story, ...problems]).toEqual([story, file.slice(store.length + 1)]);
        const error = await useStore(i + j, random);
        if (error !== undefined && !isList) throw new Error(story, { cause: error });
        if (error !== undefined) refused += 1;
        count += 1;
        restore(store, derived);
      }
    }
    expect(count).toBeGreaterThan(layout === 'wow' ? 85 : 26);
    if (layout === 'wow') expect(refused).toBeGreaterThan(1);
  });

  test('names that a glob matches are those of a whole store, however a file is damaged', async () => {
    const glob = 'world/maps/*/*_*';
    const matching = await list('wow', glob);
    expect(matching.split('\n').length).toBeGreaterThan(10);
    const random = randomSource(17);
    let refused = 0;
    for (const file of derived.keys()) {
      for (const how of ['flip', 'flip', 'zeros', 'gone'] as const) {
        if (!damage(file, how, derived, random)) continue;
        try {
          expect(await list('wow', glob)).toBe(matching);
        } catch (error) {
          if (!isPakratError(error) || error.data.list === undefined)
            throw new Error(`${how} ${file}`, { cause: error });
          expect(file).toMatch(/\.names$/);
          refused += 1;
        }
        restore(store, derived);
      }
    }
    expect(refused).toBe(layout === 'wow' ? 4 : 0);
  });

  /** Runs the program on the store, without a network. */
  const run = (...args: string[]): Run => runPakrat([...args, '--store', store, '--offline']);
  const flip = (file: string, at: number): void => {
    const bytes = Buffer.from(derived.get(file)!);
    bytes[Math.floor(bytes.length * at)]! ^= 16;
    fs.writeFileSync(file, bytes);
  };

  const isText = (file: string): boolean => file.endsWith('.names');
  const flipAll = (at: number): string[] => {
    const all = [...derived.keys()].filter((file) => !isText(file));
    for (const file of all) flip(file, at);
    return all.sort();
  };
  const expectExtracted = (to: string, { failed }: Pick<ExtractResult, 'failed'>): void => {
    expect(failed.filter(({ code }) => code !== 'E_KEY_MISSING')).toEqual([]);
    for (const { name, content } of rows) {
      expect([name, fs.readFileSync(join(to, name)).equals(content())]).toEqual([name, true]);
    }
  };

  test('when all are, verify names them, and whatever comes next makes them again', async () => {
    const all = flipAll(0.4);
    const verified = await online((pakrat) => pakrat.verify());
    expect(verified.bad.map(({ name }) => join(store, name)).sort()).toEqual(all);
    expect((await online((pakrat) => pakrat.verify())).bad).toEqual([]);
    flipAll(0.7);
    expect(await list()).toBe(listed);
    flipAll(0.7);
    const row = rows.find(({ content }) => content().length > 0)!;
    expect(Buffer.compare(await read(row), row.content())).toBe(0);
    flipAll(0.7);
    expect(await online((pakrat) => pakrat.sync('wow'))).toMatchObject({ missing: { entries: 0 } });
    flipAll(0.7);
    const to = scratch(`${layout}-out`);
    expectExtracted(to, await online((pakrat) => pakrat.extract('wow', { to })));
    restore(store, derived);
  });

  if (layout !== 'wow') return;

  test('one that is damaged while a build is open is made again, which is told until it is there, and no longer', async () => {
    restore(store, derived);
    const session = new Session({ store, patchUrl: server.url, threads: 0 });
    let steps = 0;
    const onProgress = ({ type }: Progress): void => {
      if (type === 'step') steps += 1;
    };
    try {
      await withSource(session, 'wow', { onProgress }, async ({ source }) => {
        const entries = await Promise.all(rows.map(({ name }) => source.get(name)));
        const opened = steps;
        for (const [file, bytes] of derived) {
          if (!file.includes('manifests')) continue;
          const damaged = Buffer.from(bytes);
          // Not the end, which was read when it was opened.
          for (let at = 0; at < bytes.length - 500; at += 500) damaged[at]! ^= 1;
          fs.writeFileSync(file, damaged);
        }
        for (const [i, { name, content }] of rows.entries()) {
          const pieces: Uint8Array[] = [];
          for await (const piece of source.read(entries[i]!)) pieces.push(piece.slice());
          expect([name, Buffer.concat(pieces).equals(content())]).toEqual([name, true]);
        }
        expect(steps).toBeGreaterThan(opened);
        const told = steps;
        await sleep(300);
        expect(steps).toBe(told);
      });
    } finally {
      await session.close();
      restore(store, derived);
    }
  });

  test('so it is for the program, which says no word of it', () => {
    const all = flipAll(0.4);
    const verified = run('verify', '--json');
    expect(verified.status).toBe(3);
    const { bad } = JSON.parse(verified.stdout) as { bad: { name: string }[] };
    expect(bad.map(({ name }) => join(store, name)).sort()).toEqual(all);
    expect(run('verify', '--quiet').status).toBe(0);
    expect(run('ls', 'wow', '-R', '--quiet').stdout.trim().split('\n')).toHaveLength(listed.split('\n').length);

    flipAll(0.7);
    const [row] = rows.filter(({ content }) => content().length > 0);
    const cat = run('cat', 'wow', row!.name);
    expect([cat.status, cat.stderr]).toEqual([0, '']);
    expect(cat.stdout === Buffer.from(row!.content()).toString()).toBe(true);
    flipAll(0.7);
    expect(runPakrat(['sync', 'wow', '--store', store, '--patch-url', server.url, '--quiet'])).toMatchObject({
      status: 0,
      stderr: '',
    });
    flipAll(0.7);
    const to = scratch('program-out');
    expectExtracted(to, JSON.parse(run('extract', 'wow', '--to', to, '--json').stdout) as ExtractResult);
    restore(store, derived);
  });

  describeTmpfs('on a disk that may only be read', () => {
    test('what is damaged is made again beside the store, each time, and nothing of that is left', async () => {
      await withTmpfs('64m', async (folder, _, remount) => {
        flipAll(0.3);
        fs.cpSync(store, `${folder}/store`, { recursive: true });
        restore(store, derived);
        remount('ro');
        const reading = ['--store', `${folder}/store`, '--offline', '--quiet'];
        const env = { TMPDIR: scratch('beside') };
        fs.mkdirSync(env.TMPDIR);
        const [row] = rows.filter(({ content }) => content().length > 0);
        const cat = runPakrat(['cat', 'wow', row!.name, ...reading], { env });
        expect([cat.status, cat.stderr]).toEqual([0, '']);
        expect(cat.stdout === Buffer.from(row!.content()).toString()).toBe(true);
        expect(fs.readdirSync(env.TMPDIR)).toEqual([]);
        // All of it is lacking again.
        const names = runPakrat(['ls', 'wow', '-R', ...reading], { env })
          .stdout.trim()
          .split('\n');
        expect(names).toHaveLength(listed.split('\n').length);
        expect(fs.readdirSync(env.TMPDIR)).toEqual([]);
        expect(runPakrat(['verify', ...reading], { env }).status).toBe(3);
      });
    });
  });

  const textFile = (): string => [...derived.keys()].find(isText)!;
  const badText = (): object => ({
    bad: [{ name: textFile().slice(store.length + 1), message: expect.stringContaining('listfile import') }],
  });

  test('a list of names of which a bit is wrong refuses what needs names, by its own name, and the rest goes on', async () => {
    flip(textFile(), 0.5);
    const refused = {
      code: 'E_FORMAT_CHECKSUM',
      message: expect.stringContaining(textFile()),
      hint: expect.stringContaining('pakrat listfile import'),
    };
    await expect(list()).rejects.toMatchObject(refused);
    await online(async (pakrat) => {
      await expect(pakrat.extract('wow', { to: scratch('none') })).rejects.toMatchObject(refused);
      await using source = await pakrat.open('wow');
      const listing = (async () => {
        for await (const entry of source.list(['*.blp'])) throw new Error(`there is ${entry.name}`);
      })();
      await expect(listing).rejects.toMatchObject(refused);
      expect(Buffer.compare(await source.bytes(`ckey:${rows[0]!.ckey}`), rows[0]!.content())).toBe(0);
      await pakrat.sync('wow');
      expect(await pakrat.verify()).toMatchObject(badText());
    });
    restore(store, derived);
  });

  test('for the program so is one that is gone, and an import makes it good', async () => {
    const text = textFile();
    fs.rmSync(text);
    for (const args of [
      ['ls', 'wow'],
      ['extract', 'wow', '--to', scratch('none')],
    ]) {
      const { status, stdout, stderr } = run(...args);
      expect([args, status, stdout, stderr]).toEqual([args, 3, '', expect.stringContaining(text)]);
      expect(stderr).toContain('pakrat listfile import');
    }
    const at = ['--store', store, '--patch-url', server.url, '--quiet'];
    expect(runPakrat(['sync', 'wow', ...at]).status).toBe(0);
    expect(run('cat', 'wow', `ckey:${rows[0]!.ckey}`).status).toBe(0);
    const verified = run('verify', '--json');
    expect([verified.status, JSON.parse(verified.stdout)]).toMatchObject([3, badText()]);
    const imported = run('listfile', 'import', join(root, 'listfile.csv'));
    expect(imported).toMatchObject({ status: 0, stderr: expect.stringContaining('was damaged') });
    expect(await list()).toBe(listed);
    expect((await online((pakrat) => pakrat.verify())).bad).toEqual([]);
  });

  test('names of another product at the same ids give no bytes under a wrong name, and a note counts them', async () => {
    const wrong = rows.map(({ fileDataId }) => `${fileDataId};other/${fileDataId}.db2\n`).join('');
    fs.writeFileSync(scratch('other.csv'), wrong);
    await online((pakrat) => pakrat.listfile.import(scratch('other.csv')));
    const { stdout, stderr } = run('ls', 'wow', '-R', '--json');
    const value = JSON.parse(stdout) as { name: string; fileDataId: number }[];
    const hashless = value.filter(({ name }) => name.startsWith('other/'));
    const byId = new Map(rows.map((row) => [row.fileDataId, row]));
    const hashed = rows.length - new Set(hashless.map(({ fileDataId }) => fileDataId)).size;
    expect(hashed).toBeGreaterThan(40);
    expect(stderr).toContain(`${hashed} names of the imported list are not used`);
    const misled = value.find(({ name, fileDataId }) => !name.startsWith('other/') && byId.has(fileDataId))!;
    const cat = run('cat', 'wow', `other/${misled.fileDataId}.db2`);
    expect([cat.status, cat.stderr]).toEqual([4, expect.stringContaining('of the imported list')]);
    const right = byId.get(misled.fileDataId)!;
    expect(Buffer.compare(await read(right), right.content())).toBe(0);
  });
});
