import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import PQueue from 'p-queue';
import { isNoFile, resultUnless } from '../../src/core/errors.ts';
import { type Run, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { someOf } from '../support/some-of.ts';

// To open a pipe waits for whoever writes to it: where that is nobody, a program that waits so hears no signal.

const scratch = scratchFolder();
const patienceMs = 20_000;
const file = (name: string): string => join(scratch('files'), name);
const pipe = file('pipe');

beforeAll(() => {
  mkdirSync(scratch('files'));
  for (const folder of ['folder', 'game']) mkdirSync(file(folder));
  for (const path of [pipe, file('folder/pak0.pak'), file('game/.build.info')]) execFileSync('mkfifo', [path]);
  writeFileSync(file('list.csv'), '1;one/name.blp\n2;two/name.blp\n');
  writeFileSync(file('keys.txt'), `0123456789ABCDEF ${'0'.repeat(31)}1\n`);
});

/** Waits until a process has the pipe open; where the system does not tell, long enough. */
async function isOpenIn(pid: number | undefined): Promise<void> {
  const folder = `/proc/${pid}/fd`;
  if (process.platform !== 'linux') await sleep(1500);
  const isOpen = (fd: string): boolean => resultUnless(isNoFile, () => readlinkSync(join(folder, fd))) === pipe;
  while (existsSync(folder) && !(resultUnless(isNoFile, () => readdirSync(folder)) ?? []).some(isOpen)) await sleep(20);
}

/** The end of a run; killed, and without a status, when it does not come. */
async function endOf({ child, ended }: ReturnType<typeof startPakrat>): Promise<Run> {
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  const run = await ended;
  clearTimeout(timer);
  return run;
}

describe('what is read at any place is refused at once when it is a pipe', () => {
  test.each([
    ['ls', pipe],
    ['info', pipe],
    ['cat', pipe, 'name'],
    ['verify', pipe],
    ['extract', pipe, '--to', scratch('out')],
    ['diff', pipe, pipe],
    ['ls', file('folder')],
    ['verify', file('folder')],
    ['ls', file('game')],
    ['verify', file('game')],
  ])('%s', async (...args) => {
    const { status, stderr } = await endOf(startPakrat(args));
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/(pipe|pak0\.pak|\.build\.info): it is no plain file/),
    });
  });
});

const readers: [what: string, content: string, args: string[], told: RegExp][] = [
  ['a list of names', 'list.csv', ['listfile', 'import', pipe, '--store', scratch('store')], /2 new/],
  ['keys', 'keys.txt', ['keys', 'import', pipe, '--store', scratch('store')], /1 /],
  ['an object', 'keys.txt', ['inspect', pipe], /key list/],
];

/** Runs commands over copies of a folder, in each of which another file is a pipe. @returns those that hang, end as a bug, or say what is wrong */
async function oddRuns(
  folder: string,
  commands: (copy: string) => { args: string[]; stdout?: string }[],
): Promise<{ files: number; odd: unknown[] }> {
  const queue = new PQueue({ concurrency: 4 });
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  const kinds = files.map((name) => name.replace(/[0-9a-f]{2,}/g, 'HASH'));
  const chosen = someOf(files, (_, i) => kinds.indexOf(kinds[i]!) === i);
  const odd: unknown[] = [];
  const tryOne = async (name: string, copy: string): Promise<void> => {
    execFileSync('cp', ['-a', folder, copy]);
    rmSync(join(copy, name));
    execFileSync('mkfifo', [join(copy, name)]);
    for (const { args, stdout } of commands(copy)) {
      const run = await endOf(startPakrat(args));
      const isWrong = run.status === 0 && stdout !== undefined && run.stdout !== stdout;
      if (run.status === null || run.status === 70 || isWrong) odd.push({ name, args, ...run });
    }
  };
  await Promise.all(chosen.map((name, i) => queue.add(() => tryOne(name, `${folder}-${i}`))));
  return { files: files.length, odd };
}

test('a file of a store, or of a folder for the web, that became a pipe is damaged or made anew: nobody waits for it', async () => {
  const [games, web, store] = [file('games'), scratch('web'), scratch('whole')];
  mkdirSync(games);
  for (const name of ['one.txt', 'two.txt']) writeFileSync(join(games, name), name.repeat(100));
  const publish = (from: string, to: string): string[] => ['publish', from, '--product', 'game', '--to', to];
  const runs = [publish(games, web), ['import', web, '--store', store], ['ls', 'game', '--offline', '--store', store]];
  for (const args of runs) expect(await endOf(startPakrat(args))).toMatchObject({ status: 0 });
  const stdout = 'one.txt\ntwo.txt\n';
  const inStore = await oddRuns(store, (copy) => [
    { args: ['cat', 'game', 'one.txt', '--offline', '--store', copy], stdout: 'one.txt'.repeat(100) },
    { args: ['ls', 'game', '--offline', '--store', copy], stdout },
    { args: ['verify', '--store', copy] },
  ]);
  writeFileSync(join(games, 'three.txt'), 'new');
  const inWeb = await oddRuns(web, (copy) => [
    { args: ['ls', join(copy, 'tpr/game')], stdout },
    { args: ['verify', copy] },
    { args: publish(games, copy) },
  ]);
  expect([inStore.odd, inWeb.odd]).toEqual([[], []]);
  // Indices, manifests, look-up files, objects, configs, ledger and history; tables, objects and their indices.
  expect(inStore.files).toBeGreaterThan(15);
  expect(inWeb.files).toBeGreaterThan(15);
});

describe('what is read from its start to its end may be a pipe', () => {
  test.each(readers)('%s, whoever comes later', async (_, content, args, told) => {
    const running = startPakrat(args);
    await sleep(1000);
    const writer = spawn('sh', ['-c', 'cat "$0" > "$1"', file(content), pipe], { stdio: 'inherit' });
    const { status, stdout, stderr } = await endOf(running);
    writer.kill();
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
    expect(stdout).toMatch(told);
  });

  test.each(readers)('%s: Ctrl-C ends the wait for somebody', async (_, __, args) => {
    const running = startPakrat(args);
    await isOpenIn(running.child.pid);
    running.child.kill('SIGINT');
    const { status, stderr } = await endOf(running);
    expect(status).toBe(130);
    expect(stderr).toMatch(/interrupted/);
  });
});
