import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { openPakrat } from '../../src/pakrat.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { quakePak } from '../support/quake-pak.ts';
import { runPakrat, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

const scratch = scratchFolder();

function canMount(): boolean {
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK);
    return existsSync('/proc/self/mounts') && existsSync('node_modules/fuse-native');
  } catch {
    return false;
  }
}

function describeFuse(name: string, body: () => void): void {
  if (!canMount()) console.warn(`SKIPPED, no FUSE here: ${name}`);
  (canMount() ? describe : describe.skip)(name, body);
}

const large = Buffer.alloc(3_000_000, 'some text, ');

function makePak(): string {
  writeFileSync(
    scratch('m.pak'),
    quakePak([
      { name: 'maps/a.bsp', content: 'A' },
      { name: 'large.bin', content: large },
      { name: 'large.bin', content: 'hidden' },
      { name: '../evil', content: 'E' },
    ]),
  );
  return scratch('m.pak');
}

function isMounted(folder: string): boolean {
  return readFileSync('/proc/self/mounts', 'utf8').includes(folder);
}

async function mounted(folder: string, source = [makePak()]): Promise<ReturnType<typeof startPakrat>> {
  mkdirSync(folder, { recursive: true });
  const started = startPakrat(['mount', source[0]!, folder, ...source.slice(1)]);
  for (let tries = 0; tries < 1200 && started.child.exitCode === null && !isMounted(folder); tries++) await sleep(50);
  return started;
}

describeFuse('mount', () => {
  test('shows a PAK until SIGINT', async () => {
    const folder = scratch('pak');
    const { child, ended } = await mounted(folder);
    try {
      expect((await readdir(folder)).sort()).toEqual(['large.bin', 'maps']);
      expect((await readFile(`${folder}/maps/a.bsp`)).toString()).toBe('A');
      expect((await readFile(`${folder}/large.bin`)).equals(large)).toBe(true);
      expect((await stat(`${folder}/large.bin`)).size).toBe(large.length);
      expect(spawnSync('sh', ['-c', `echo x > ${folder}/new`]).status).not.toBe(0);
    } finally {
      child.kill('SIGINT');
    }
    expect(await ended).toMatchObject({ status: 0 });
    expect(isMounted(folder)).toBe(false);
  });
});

describe('mount, on a build', () => {
  const [what, cannot] = canMount() ? [test, ''] : [test.skip, ' (no FUSE here)'];
  what(`files of a build are fetched when they are read, until SIGTERM${cannot}`, async () => {
    const cdn = await syntheticCdn({ make: ['--files', '30', '--total-bytes', '100K', '--patches', '5'] });
    const [store, folder] = [scratch('store'), scratch('build')];
    const options = ['--store', store, '--patch-url', cdn.url];
    const pakrat = await openPakrat({ store, patchUrl: cdn.url, threads: 0 });
    const source = await pakrat.open('wow');
    const { value: first } = await source.list()[Symbol.asyncIterator]().next();
    await pakrat.close();
    const { child, ended } = await mounted(folder, ['wow', ...options]);
    try {
      const bytes = await readFile(`${folder}/${first!.name}`);
      expect(bytes.length).toBe(first!.size);
      const offline = await openPakrat({ store, offline: true });
      const held = (await offline.open('wow')).bytes(first!.name);
      expect(bytes.equals(await held.finally(() => offline.close()))).toBe(true);
    } finally {
      child.kill('SIGTERM');
    }
    expect(await ended).toEqual({ status: 0, stdout: expect.any(String), stderr: expect.any(String) });
    expect(isMounted(folder)).toBe(false);
    await cdn.close();
  });
});

describeFuse('mount, on a build that the disk has spoilt', () => {
  test('a file is right, or an error, however often it is read', async () => {
    const cdn = await syntheticCdn({ make: ['--files', '60', '--total-bytes', '2M', '--patches', '5'] });
    const [store, folder] = [scratch('spoilt'), scratch('spoilt-build')];
    const right = await withPakrat({ store, patchUrl: cdn.url, threads: 0 }, async (pakrat) => {
      await pakrat.sync('wow');
      await using source = await pakrat.open('wow');
      const files = new Map<string, Uint8Array>();
      for await (const { name } of source.list())
        files.set(name, await source.bytes(name).catch(() => new Uint8Array()));
      return files;
    });
    await cdn.close();
    for (const name of readdirSync(`${store}/tpr/wow/data`, { recursive: true, encoding: 'utf8' })) {
      const file = `${store}/tpr/wow/data/${name}`;
      if (!/[0-9a-f]{32}$/.test(name)) continue;
      const bytes = readFileSync(file);
      for (let at = 500; at < bytes.length; at += 60_000) bytes[at]! ^= 0x55;
      writeFileSync(file, bytes);
    }
    const { child, ended } = await mounted(folder, ['wow', '--store', store, '--offline', '--quiet']);
    const outcomes: unknown[] = [];
    try {
      for (const [name, bytes] of right) {
        const reads = await Promise.all(
          [1, 2].map(() =>
            readFile(`${folder}/${name}`).then(
              (read) => (read.equals(bytes) ? 'right' : 'wrong'),
              (error: NodeJS.ErrnoException) => error.code,
            ),
          ),
        );
        outcomes.push(...reads);
      }
    } finally {
      child.kill('SIGTERM');
    }
    expect((await ended).status).toBe(0);
    expect(new Set(outcomes)).toEqual(new Set(['right', 'EIO', 'EACCES']));
    expect(outcomes.filter((outcome) => outcome === 'EIO').length).toBeGreaterThan(10);
  });
});

test('what cannot be mounted is an error, and mounts nothing', () => {
  expect(runPakrat(['mount', scratch('none.pak'), scratch('m')]).status).not.toBe(0);
  expect(runPakrat(['mount', makePak(), scratch('a"b')]).status).toBe(2);
});
