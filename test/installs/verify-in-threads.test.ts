import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { VerifyResult } from '../../src/app/verify.ts';
import { encodeBlte } from '../../src/formats/blte/encode.ts';
import { builtModule } from '../support/built-module.ts';
import { randomSource } from '../support/hostile.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { flipBytes } from '../support/synced-store.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* What threads find right of a folder is right, and whatever else is told is the same as without them. */

const scratch = scratchFolder();
const built = builtModule('src/keep/proofs/proof-worker.ts');
const program = scratch('program');
const started = scratch('started');
let cdn: SyntheticCdn;
let number = 0;

beforeAll(async () => {
  fs.mkdirSync(program);
  fs.writeFileSync(join(program, 'package.json'), '{"type":"module"}');
  const count = `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(started)}, '.');`;
  fs.writeFileSync(join(program, 'proof-worker.js'), `${count} await import(${JSON.stringify(built)});`);
  const make = ['--files', '300', '--total-bytes', '12M', '--archives', '4', '--loose', '.1', '--local'];
  cdn = await syntheticCdn({ make });
});
afterAll(() => cdn.close());

function copyOf(part: string): string {
  number += 1;
  const folder = scratch(`copy${number}`);
  fs.cpSync(join(cdn.root, part), folder, { recursive: true });
  return folder;
}

async function verified(name: string, threads: number): Promise<VerifyResult> {
  const options = { store: scratch('store'), offline: true, workerUrl: new URL(`file://${program}/any.js`), threads };
  const before = fs.existsSync(started) ? fs.statSync(started).size : 0;
  const result = await withPakrat(options, (pakrat) =>
    pakrat.verify(name, { jobs: threads === 0 ? undefined : threads }),
  );
  expect((fs.existsSync(started) ? fs.statSync(started).size : 0) - before).toBe(threads);
  const { bad, ...rest } = result;
  return { ...rest, bad: [...bad].sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** The result with threads, which is that without them. */
async function sameResult(name: string): Promise<VerifyResult> {
  const alone = await verified(name, 0);
  expect(await verified(name, 2)).toEqual(alone);
  return alone;
}

const filesBelow = (folder: string): string[] =>
  fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => fs.statSync(path).isFile())
    .sort();
const changed = (file: string, change: (bytes: Buffer) => Buffer): void =>
  fs.writeFileSync(file, change(fs.readFileSync(file)));

describe('a folder in the layout of a CDN', () => {
  test('that is right: as many entries and bytes as without threads', async () => {
    const { bad, checked } = await sameResult(`cdn:${copyOf('www/tpr/wow')}`);
    expect(bad).toEqual([]);
    expect(checked.entries).toBeGreaterThan(300);
  });

  test('with damage of each kind: all of it is told', async () => {
    const folder = copyOf('www/tpr/wow');
    const files = filesBelow(join(folder, 'data'));
    const archives = files.filter((file) => files.includes(`${file}.index`));
    const alone = files.filter((file) => !file.endsWith('.index') && !archives.includes(file));
    const [loose = '', looseCut = '', ...others] = alone;
    // One ends where its header does, which is right as far as it goes.
    const hasTable = (file: string): boolean => fs.readFileSync(file).readUInt32BE(4) > 0;
    const headed = others.find(hasTable) ?? '';
    changed(headed, (bytes) => bytes.subarray(0, bytes.readUInt32BE(4)));
    const [flipped = '', cut = '', unlisted = '', longer = ''] = archives;
    changed(flipped, (bytes) => Buffer.from(flipBytes(bytes, 300, 50_000)));
    changed(cut, (bytes) => bytes.subarray(0, bytes.length - 10));
    changed(`${unlisted}.index`, (bytes) => Buffer.from(flipBytes(bytes, 10)));
    changed(longer, (bytes) => Buffer.concat([bytes, Buffer.from('behind the end')]));
    changed(loose, (bytes) => Buffer.from(flipBytes(bytes, 20)));
    changed(looseCut, (bytes) => bytes.subarray(0, bytes.length - 1));
    const [patch = ''] = filesBelow(join(folder, 'patch')).filter((file) => !file.endsWith('.index'));
    changed(patch, (bytes) => Buffer.from(flipBytes(bytes, 3)));
    const { bad } = await sameResult(`cdn:${folder}`);
    const names = bad.map(({ name }) => name).join('\n');
    for (const file of [flipped, cut, unlisted, loose, looseCut, headed, patch])
      expect(names).toContain(file.split(/[/\\]/).at(-1));
  });

  test('with chunks that are larger than what threads read at once: right ones are right, a wrong one is told', async () => {
    const folder = copyOf('www/tpr/wow');
    const random = randomSource(9);
    const large = Buffer.from(Array.from({ length: 1 << 16 }, () => Math.floor(random() * 256)));
    const put = (content: Buffer): string => {
      const { bytes, ekey } = encodeBlte(content, 'b:{*=n}');
      const file = join(folder, 'data', ekey.slice(0, 2), ekey.slice(2, 4), ekey);
      fs.mkdirSync(dirname(file), { recursive: true });
      fs.writeFileSync(file, bytes);
      return file;
    };
    put(Buffer.concat(Array.from({ length: 150 }, () => large)));
    const { bad: none } = await sameResult(`cdn:${folder}`);
    expect(none).toEqual([]);
    const wrong = put(Buffer.concat(Array.from({ length: 151 }, () => large)));
    changed(wrong, (bytes) => {
      bytes[9_000_000]! ^= 1;
      return bytes;
    });
    const { bad } = await sameResult(`cdn:${folder}`);
    expect(bad.map(({ name }) => name)).toEqual([expect.stringContaining(basename(wrong))]);
  });

  test('without an object of one is no such folder', async () => {
    const folder = scratch('empty');
    fs.mkdirSync(folder);
    await expect(verified(`cdn:${folder}`, 0)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });
});

describe('an installed game', () => {
  test('that is right: as many entries and bytes as without threads', async () => {
    const { bad, checked } = await sameResult(`casc:${copyOf('local')}`);
    expect(bad).toEqual([]);
    expect(checked.entries).toBeGreaterThan(200);
  });

  test('with a wrong byte, a hole that was never downloaded, a wrong local header and a cut file: all of it is told', async () => {
    const folder = copyOf('local');
    const [data = ''] = filesBelow(folder).filter((file) => /data\.\d{3}$/.test(file));
    // A local header has 16 bytes of a key, then the size of its entry.
    changed(data, (bytes) => {
      bytes.fill(0, 2_000_000, 2_400_000);
      bytes[1_000_000]! ^= 1;
      bytes[16]! ^= 1;
      return bytes.subarray(0, bytes.length - 100);
    });
    const { bad } = await sameResult(`casc:${folder}`);
    expect(bad.length).toBeGreaterThan(3);
    expect(bad.map(({ message }) => message).join('\n')).toContain('its local header says');
    expect(new Set(bad.map(({ code }) => code))).toEqual(new Set(['E_INTEGRITY', 'E_NOT_FOUND']));
  });

  test('with bytes that are wrong anywhere: told as without threads', async () => {
    const random = randomSource(14);
    for (let round = 0; round < 6; round++) {
      const folder = copyOf('local');
      for (const file of filesBelow(folder).filter((path) => /data\.\d{3}$|\.idx$/.test(path)))
        changed(file, (bytes) => {
          for (let i = 0; i < 3; i++) bytes[Math.floor(random() * bytes.length)]! ^= 1 << Math.floor(random() * 8);
          return bytes;
        });
      const { bad } = await sameResult(`casc:${folder}`);
      expect(bad.length).toBeGreaterThan(0);
    }
  });
});
