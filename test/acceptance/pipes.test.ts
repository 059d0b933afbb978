import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { isNoFile, resultUnless } from '../../src/core/errors.ts';
import { type Run, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

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
