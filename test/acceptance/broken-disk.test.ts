import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../support/loopback.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { someOf } from '../support/some-of.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/*
 * A disk that gives back no byte of one file, and takes none, until there is another file in its place; or one that does not give those of one block: every
 * read of them fails with EIO, and so does every write to a part of the block, for the system would have to read the rest of it.
 */

const scratch = scratchFolder();
const shim = scratch('broken-disk.cjs');
const blockSize = 4096;
let cdn: SyntheticCdn;
let store: string;
let mirror: string;
/** A path below a CDN folder for each kind of object. */
const parts = new Map<string, string>();

fs.writeFileSync(
  shim,
  `const fs = require('node:fs');
const broken = Number(process.env.BROKEN_INODE);
const block = Number(process.env.BROKEN_BLOCK ?? NaN);
const { readSync, writeSync } = fs;
const fail = (syscall) => {
  throw Object.assign(new Error('EIO: i/o error, ' + syscall), { code: 'EIO', syscall });
};
fs.readSync = (fd, ...rest) => {
  if (fs.fstatSync(fd).ino !== broken) return readSync(fd, ...rest);
  const [bytes, offset, size, at] = rest;
  const isInBlock = at >= block && at < block + ${blockSize};
  if (Number.isNaN(block) || isInBlock) fail('read');
  return readSync(fd, bytes, offset, at < block ? Math.min(size, block - at) : size, at);
};
fs.writeSync = (fd, ...rest) => {
  const [, , size, at] = rest;
  const isPart = (place) => Number.isNaN(block) || (place > block && place < block + ${blockSize});
  if (fs.fstatSync(fd).ino === broken && (isPart(at) || isPart(at + size))) fail('write');
  return writeSync(fd, ...rest);
};
`,
);

beforeAll(async () => {
  const make = ['--files', '30', '--total-bytes', '200K', '--archives', '2', '--loose-meta', '1'];
  cdn = await syntheticCdn({ make });
  store = scratch('store');
  await withPakrat({ store, patchUrl: cdn.url }, async (pakrat) => {
    expect((await pakrat.sync('wow', { all: true })).missing.entries).toBe(0);
  });
  mirror = join(cdn.root, 'www/tpr/wow');
  const summary = JSON.parse(fs.readFileSync(join(cdn.root, 'truth/summary.json'), 'utf8'));
  const pathOf = (kind: string, hash: string): string => join(kind, hash.slice(0, 2), hash.slice(2, 4), hash);
  const build = fs.readFileSync(join(mirror, pathOf('config', summary.configs.build.b)), 'utf8');
  const list = fs.readFileSync(join(mirror, pathOf('config', summary.configs.cdn.b)), 'utf8');
  const ekeyOf = (manifest: string): string => new RegExp(`^${manifest} = \\w+ (\\w+)$`, 'm').exec(build)![1]!;
  const [, archive] = /^archives = (\w+)/m.exec(list)!;
  parts.set('the build config', pathOf('config', summary.configs.build.b));
  parts.set('the CDN config', pathOf('config', summary.configs.cdn.b));
  parts.set('the encoding file', pathOf('data', ekeyOf('encoding')));
  parts.set('the install manifest', pathOf('data', ekeyOf('install')));
  parts.set('an index', `${pathOf('data', archive!)}.index`);
  parts.set('an archive', pathOf('data', archive!));
});

afterAll(() => cdn?.close());

/** A disk on which a file cannot be read, or one block of it; whatever name the file has afterwards. */
function brokenDisk(file: string, block?: number): (...args: string[]) => Promise<Outcome> {
  const where = block === undefined ? undefined : { BROKEN_BLOCK: String(block) };
  const env = { NODE_OPTIONS: `--require ${shim}`, BROKEN_INODE: String(fs.statSync(file).ino), ...where };
  return async (...args) => {
    const { status, stdout, stderr } = await startPakrat(args, { env }).ended;
    return { status, said: stdout + stderr };
  };
}

interface Outcome {
  status: number | null;
  said: string;
}

/** A run of the program for which a file cannot be read. */
function runBroken(file: string, ...args: string[]): Promise<Outcome> {
  return brokenDisk(file)(...args);
}

/** Copies a store, under a name of its own. */
function copyStoreOf(folder: string, name: string): string {
  const copy = scratch(name);
  fs.cpSync(folder, copy, { recursive: true });
  return copy;
}

function copyStore(name: string): string {
  return copyStoreOf(store, name);
}

/** Paths of objects of a store that are held in part. */
function partlyHeld(folder: string): string[] {
  return fs
    .readdirSync(join(folder, 'partial'), { recursive: true, encoding: 'utf8' })
    .filter((name) => fs.statSync(join(folder, 'partial', name)).isFile());
}

const kinds = [
  'the build config',
  'the CDN config',
  'the encoding file',
  'the install manifest',
  'an index',
  'an archive',
];

const chosenKinds = someOf(kinds, (kind) => /CDN config|encoding|archive/.test(kind));

describe.each(chosenKinds)('%s cannot be read', (kind) => {
  test('in a store: it is no bug, verify names it and mends it, and what needs it brings it again', async () => {
    const copy = scratch(`store with ${kind}`);
    fs.cpSync(store, copy, { recursive: true });
    for (const folder of ['manifests', 'names', 'groups']) fs.rmSync(join(copy, folder), { recursive: true });
    const path = join('tpr/wow', parts.get(kind)!);
    const file = [join(copy, path), join(copy, 'partial', path)].find((one) => fs.existsSync(one))!;
    const use = ['--store', copy];
    const listed = await runBroken(file, 'ls', 'wow', '-R', '--offline', ...use);
    expect({ ...listed, isExpected: [0, 1, 3].includes(listed.status!) }).toMatchObject({ isExpected: true });
    const checked = await runBroken(file, 'verify', '--offline', ...use);
    expect(checked).toEqual({ status: 3, said: expect.stringContaining(basename(path)) });
    const mended = await runBroken(
      fs.existsSync(file) ? file : shim,
      'verify',
      '--repair',
      '--patch-url',
      cdn.url,
      ...use,
    );
    expect(mended).toMatchObject({ status: 0 });
    const again = await startPakrat(['verify', '--offline', ...use]).ended;
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining('all right') });
  });

  test('for a moment: verify names it, and nothing has to be fetched again', async () => {
    const copy = scratch(`shaky store with ${kind}`);
    fs.cpSync(store, copy, { recursive: true });
    const file = join(copy, 'tpr/wow', parts.get(kind)!);
    const checked = await runBroken(file, 'verify', '--offline', '--store', copy);
    expect(checked).toEqual({ status: 3, said: expect.stringContaining('cannot be read: EIO') });
    await withPakrat({ store: copy, patchUrl: cdn.url }, async (pakrat) => {
      expect((await pakrat.sync('wow', { all: true })).fetched.bytes).toBe(0);
      const { bad, unchecked } = await pakrat.verify();
      expect({ bad, unchecked }).toEqual({ bad: [], unchecked: undefined });
    });
  });

  test('for a moment, while it is repaired and no host has it any more: nothing is lost', async () => {
    const copy = copyStore(`forgotten ${kind}`);
    const path = parts.get(kind)!;
    const [file, atHost] = [join(copy, 'tpr/wow', path), join(mirror, path)];
    const use = ['--repair', '--patch-url', cdn.url, '--store', copy];
    fs.renameSync(atHost, `${atHost}.away`);
    try {
      const failed = await runBroken(file, 'verify', ...use);
      expect(failed).toMatchObject({ status: expect.any(Number), said: expect.stringContaining(basename(path)) });
      expect(failed.status).not.toBe(0);
      expect(await startPakrat(['verify', ...use]).ended).toMatchObject({ status: 0 });
    } finally {
      fs.renameSync(`${atHost}.away`, atHost);
    }
    const checked = await startPakrat(['verify', '--offline', '--store', copy]).ended;
    expect(checked).toMatchObject({ status: 0, stdout: expect.stringContaining('all right') });
    expect(fs.readFileSync(file).equals(fs.readFileSync(atHost))).toBe(true);
    expect(fs.existsSync(join(copy, 'partial', 'tpr/wow', path))).toBe(false);
  });

  test('under a server: it is an error that is told, or brought again with --pull-through', async () => {
    const path = join('tpr/wow', parts.get(kind)!);
    const status = ({ length }: readonly string[]): number => (length === 0 ? 500 : 206);
    for (const pull of [[], ['--pull-through', '--patch-url', cdn.url]]) {
      const copy = scratch(`served with ${kind} ${pull.length}`);
      fs.cpSync(store, copy, { recursive: true });
      const file = join(copy, path);
      const env = { NODE_OPTIONS: `--require ${shim}`, BROKEN_INODE: String(fs.statSync(file).ino) };
      const port = await freePort();
      const args = ['serve', '--store', copy, '--port', String(port), ...pull];
      const { child, ended } = startPakrat(args, { env });
      try {
        await new Promise((resolve) => child.stdout!.once('data', resolve));
        const answer = await fetch(`http://127.0.0.1:${port}/${path}`, { headers: { range: 'bytes=8-39' } });
        const right = fs.readFileSync(join(cdn.root, 'www', path)).subarray(8, 40);
        const isRight = Buffer.from(await answer.arrayBuffer()).equals(right);
        expect([answer.status, isRight]).toEqual(status(pull) === 206 ? [206, true] : [status(pull), false]);
      } finally {
        child.kill('SIGTERM');
      }
      const told = status(pull) === 206 ? '' : expect.stringContaining(`GET /${path}: `);
      expect(await ended).toMatchObject({ status: 0, stderr: told });
    }
  });

  test('in a mirror: it is no bug, verify and import name it, and all else is imported', async () => {
    const file = join(mirror, parts.get(kind)!);
    const checked = await runBroken(file, 'verify', mirror);
    expect(checked).toEqual({ status: 3, said: expect.stringContaining(basename(file, '.index')) });
    const target = scratch(`import with ${kind}`);
    const imported = await runBroken(file, 'import', mirror, '--store', target);
    expect(imported).toEqual({ status: 3, said: expect.stringContaining(basename(file, '.index')) });
    await withPakrat({ store: target, offline: true }, async (pakrat) => {
      const { checked: right, bad } = await pakrat.verify();
      expect(bad).toEqual([]);
      expect(right.entries).toBeGreaterThan(30);
    });
  });
});

describe('one block of an archive cannot be read, nor written in part', () => {
  const archivePath = (): string => join('tpr/wow', parts.get('an archive')!);
  /** The first block, one in the middle, and the last, which is no whole one. */
  const blocksOf = (file: string): number[] => {
    const blocks = Math.ceil(fs.statSync(file).size / blockSize);
    return [0, Math.floor(blocks / 2), blocks - 1].map((number) => number * blockSize);
  };

  const chosenBlocks = someOf([0, 1, 2], (which) => which > 0);
  test.each(chosenBlocks)('verify --repair brings what lies there into a file of its own (%i)', async (which) => {
    const copy = copyStore(`block ${which}`);
    const file = join(copy, archivePath());
    const run = brokenDisk(file, blocksOf(file)[which]!);
    const mended = await run('verify', '--repair', '--patch-url', cdn.url, '--store', copy);
    expect(mended).toEqual({ status: 0, said: expect.stringContaining('cannot be read: EIO') });
    expect(await startPakrat(['verify', '--offline', '--store', copy]).ended).toMatchObject({ status: 0 });
    expect(fs.readFileSync(file).equals(fs.readFileSync(join(mirror, parts.get('an archive')!)))).toBe(true);
  });

  test('a sync goes on with it, also beside what was fetched before, and of a file with another name', async () => {
    const copy = copyStore('synced block');
    const file = join(copy, archivePath());
    fs.linkSync(file, join(copy, 'other name'));
    const run = brokenDisk(file, blocksOf(file)[1]!);
    expect(await run('verify', '--offline', '--store', copy)).toMatchObject({ status: 3 });
    const sync = ['sync', 'wow', '--all', '--patch-url', cdn.url, '--store', copy];
    // What shares the block with what was fetched is found to be lost with it, and comes with the next one.
    const first = await run(...sync);
    expect([0, 9]).toContain(first.status);
    expect(await run(...sync)).toMatchObject({ status: 0 });
    expect(await run('verify', '--offline', '--store', copy)).toMatchObject({ status: 0 });
  });

  test('what is given back around it stays, which is told, until it is repaired', async () => {
    const copy = scratch('two builds');
    await withPakrat({ store: copy, patchUrl: cdn.url }, async (pakrat) => {
      for (const name of ['wow', 'wow_old']) await pakrat.sync(name);
    });
    const others = copyStoreOf(copy, 'one of two builds');
    const left = await startPakrat(['forget', 'wow_old@11.2.0.60000', '--store', others, '--json']).ended;
    expect(JSON.parse(left.stdout)).toMatchObject({ unread: [] });
    const path = partlyHeld(others)[0]!;
    const file = [join(copy, path), join(copy, 'partial', path)].find((one) => fs.existsSync(one))!;
    const run = brokenDisk(file);
    const kept = ['--store', copy, '--json'];
    for (const command of [['forget', 'wow_old@11.2.0.60000'], ['gc']]) {
      const { status, said } = await run(...command, ...kept);
      expect([status, JSON.parse(said)]).toMatchObject([0, { unread: [path] }]);
    }
    expect(await run('gc', '--store', copy)).toMatchObject({
      said: expect.stringContaining('1 object cannot be read'),
    });
    const { status, stdout } = await startPakrat(['gc', ...kept]).ended;
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { unread: [] }]);
    expect(await startPakrat(['verify', '--offline', '--store', copy]).ended).toMatchObject({ status: 0 });
  });
});

test('a history that cannot be read is written anew by verify --repair, and what there was of it stays in tmp/', async () => {
  const copy = copyStore('history');
  const file = join(copy, 'history.jsonl');
  const before = fs.readFileSync(file);
  const run = brokenDisk(file);
  expect(await run('verify', '--offline', '--store', copy)).toMatchObject({ status: 3 });
  const mended = await run('verify', '--repair', '--patch-url', cdn.url, '--store', copy);
  expect(mended).toEqual({ status: 0, said: expect.stringContaining('they are there again') });
  expect(mended.said).not.toContain('not held any more');
  expect(await run('verify', '--offline', '--store', copy)).toMatchObject({ status: 0 });
  const aside = fs.readdirSync(join(copy, 'tmp')).find((name) => name.endsWith('history.jsonl'))!;
  expect(fs.readFileSync(join(copy, 'tmp', aside)).equals(before)).toBe(true);
});

test('a ledger that cannot be read costs an import of that store no object', async () => {
  const taken = scratch('without its ledger');
  const { status, said } = await runBroken(join(store, 'ledger.db'), 'import', store, '--store', taken);
  const message = /ledger\.db: it cannot be read \(.*EIO.*\); objects are taken without it/;
  expect({ status, said }).toEqual({ status: 0, said: expect.stringMatching(message) });
  const { checked } = JSON.parse((await startPakrat(['verify', '--offline', '--store', taken, '--json']).ended).stdout);
  expect(checked.entries).toBeGreaterThan(30);
});
