import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { concatBytes } from '../../../src/core/bytes.ts';
import { PakratError } from '../../../src/core/errors.ts';
import { openPak } from '../../../src/paks/index.ts';
import type { ExtractResult } from '../../../src/sources/extract/extract.ts';
import { tarFiles } from '../../../src/sources/extract/extract-tar.ts';
import { tarEnd, tarHeader, tarPadding } from '../../../src/sources/extract/tar.ts';
import { pakSource } from '../../../src/sources/paks/pak-source.ts';
import { quakePak } from '../../support/quake-pak.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

const files = [
  { name: 'short.txt', text: 'one', mtime: new Date('2020-02-03T04:05:06Z') },
  { name: `deep/${'folder/'.repeat(20)}name that is long.txt`, text: 'two' },
  { name: 'Grüße/日本.txt', text: 'x'.repeat(1024) },
  { name: 'empty', text: '' },
];

test('tar lists and unpacks what is written', () => {
  const tar = concatBytes([
    ...files.flatMap(({ name, text, mtime }) => [
      tarHeader(name, text.length, mtime),
      new TextEncoder().encode(text),
      tarPadding(text.length),
    ]),
    tarEnd(),
  ]);
  expect(tar.length % 512).toBe(0);
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  const list = spawnSync('tar', ['t', '--quoting-style=literal'], { input: tar, encoding: 'utf8', env });
  expect(list).toMatchObject({ status: 0, stderr: '' });
  expect(list.stdout.trimEnd().split('\n')).toEqual(files.map(({ name }) => name));
  mkdirSync(scratch('out'));
  expect(spawnSync('tar', ['x', '-C', scratch('out')], { input: tar, env }).status).toBe(0);
  for (const { name, text } of files) expect(readFileSync(scratch('out', name), 'utf8')).toBe(text);
  expect(statSync(scratch('out', 'short.txt')).mtime).toEqual(files[0]!.mtime);
});

test('a header of more than 8 GiB says so in a pax record', () => {
  const size = 9 * 1024 ** 3;
  const header = Buffer.from(tarHeader('large', size));
  expect(header.toString('latin1')).toContain(`19 size=${size}\n`);
  const list = spawnSync('tar', ['tv'], { input: header, encoding: 'utf8' });
  expect(list.stdout).toContain(String(size));
});

test('a full disk ends a tar, and is no trouble of one file', async () => {
  const source = pakSource(await openPak(bytesSource(quakePak([{ name: 'a.txt', content: 'a' }]))), 'x');
  const full = new PakratError('E_STORE_FULL', 'no space left');
  const read = async function* (): AsyncGenerator<Uint8Array> {
    yield* [];
    throw full;
  };
  const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
  const pieces = tarFiles({ ...source, read }, { names: [] }, result);
  await expect(pieces.next()).rejects.toBe(full);
  expect(result.failed).toEqual([]);
});

test('unsafe names are left out of a tar, and named', async () => {
  const pak = quakePak([
    { name: '../up.txt', content: 'bad' },
    { name: 'good.txt', content: 'good' },
  ]);
  const source = pakSource(await openPak(bytesSource(pak)), 'x');
  const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
  const pieces: Uint8Array[] = [];
  for await (const piece of tarFiles(source, { names: [] }, result)) pieces.push(piece);
  const { stdout } = spawnSync('tar', ['t'], { input: concatBytes(pieces), encoding: 'utf8' });
  expect(stdout).toBe('good.txt\n');
  expect(result).toMatchObject({ files: 1, bytes: 4, failed: [{ name: '../up.txt', code: 'E_UNSAFE_PATH' }] });
});
