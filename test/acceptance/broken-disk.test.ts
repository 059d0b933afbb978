import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../support/loopback.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type SyntheticCdn, syntheticCdn } from '../support/synthetic-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* A disk that gives back no byte of one file: every read of it fails with EIO, until there is another file in its place. */

const scratch = scratchFolder();
const shim = scratch('broken-disk.cjs');
let cdn: SyntheticCdn;
let store: string;
let mirror: string;
/** A path below a CDN folder for each kind of object. */
const parts = new Map<string, string>();

fs.writeFileSync(
  shim,
  `const fs = require('node:fs');
const broken = Number(process.env.BROKEN_INODE);
const readSync = fs.readSync;
fs.readSync = (fd, ...rest) => {
  if (fs.fstatSync(fd).ino !== broken) return readSync(fd, ...rest);
  throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' });
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

/** A run of the program for which a file cannot be read. */
async function runBroken(file: string, ...args: string[]): Promise<{ status: number | null; said: string }> {
  const env = { NODE_OPTIONS: `--require ${shim}`, BROKEN_INODE: String(fs.statSync(file).ino) };
  const { status, stdout, stderr } = await startPakrat(args, { env }).ended;
  return { status, said: stdout + stderr };
}

const kinds = [
  'the build config',
  'the CDN config',
  'the encoding file',
  'the install manifest',
  'an index',
  'an archive',
];

describe.each(kinds)('%s cannot be read', (kind) => {
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

  test('under a server: it is an error that is told, or brought again with --pull-through', async () => {
    const path = join('tpr/wow', parts.get(kind)!);
    // What is fetched of an archive goes into the same file, which gives back nothing here.
    const status = ({ length }: readonly string[]): number => (length === 0 ? 500 : kind === 'an archive' ? 503 : 206);
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
