import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { quakePak } from '../support/quake-pak.ts';
import { runPakrat, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const pak = scratch('names.pak');
/** It would take ages: there are 2^50 ways to part the long name. */
const endless = '(a+)+$';

beforeAll(() => {
  const names = ['maps/a1.bsp', 'maps/b22.BSP', `${'a'.repeat(50)}!`, 'c.txt'];
  writeFileSync(pak, quakePak(names.map((name) => ({ name, content: name }))));
});

const listed = (...args: string[]): string[] => {
  const { stdout } = runPakrat(['ls', pak, ...args, '--json']);
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
};

describe('ls', () => {
  test('shows a level, in a pipe names alone; -R and --tree go all the way down', () => {
    const long = `${'a'.repeat(50)}!`;
    expect(runPakrat(['ls', pak])).toMatchObject({ status: 0, stdout: `${long}\nc.txt\nmaps/\n` });
    expect(runPakrat(['ls', pak, 'MAPS', '-1']).stdout).toBe('maps/a1.bsp\nmaps/b22.BSP\n');
    expect(runPakrat(['ls', pak, '--tree']).stdout).toBe(`${long}\nc.txt\nmaps/\n  a1.bsp\n  b22.BSP\n`);
    expect(listed('-R')).toEqual([long, 'c.txt', 'maps/a1.bsp', 'maps/b22.BSP']);
    expect(JSON.parse(runPakrat(['ls', pak, '--json']).stdout)).toMatchObject([
      { name: long, size: 51 },
      { name: 'c.txt', size: 5, index: 3 },
      { name: 'maps/', folder: true },
    ]);
  });

  test('what is not there is exit 4, with --json one error; of several names the others are shown', () => {
    const hint = 'Did you mean maps/a1.bsp?';
    const none = runPakrat(['ls', pak, 'a1.bsp', '--json']);
    expect([none.status, JSON.parse(none.stdout)]).toMatchObject([4, { error: { code: 'E_NOT_FOUND', hint } }]);
    expect(runPakrat(['ls', pak, '*.none'])).toMatchObject({ status: 4, stdout: '' });
    const { status, stdout, stderr } = runPakrat(['ls', pak, 'c.txt', 'none', 'maps', '--json']);
    expect([status, JSON.parse(stdout).length, stderr]).toEqual([4, 3, 'Note: there is no none.\n']);
  });
});

describe('ls --regex', () => {
  test('lists what has one of the expressions, beside globs; looking ahead and back is allowed', () => {
    expect(listed('--regex', '\\d\\.bsp$')).toEqual(['maps/a1.bsp', 'maps/b22.BSP']);
    expect(listed('--regex', '(\\d)\\1(?=\\.)', '--regex', '(?<!/)c')).toEqual(['c.txt', 'maps/b22.BSP']);
    expect(listed('b*', '--regex', '\\d')).toEqual(['maps/b22.BSP']);
    const { status, stdout, stderr } = runPakrat(['ls', pak, '--regex', 'none']);
    expect([status, stdout, stderr]).toEqual([4, '', expect.stringContaining('matches none')]);
  });

  test('what is no expression is a mistake before the source is opened', () => {
    const { status, stderr } = runPakrat(['ls', scratch('no.pak'), '--regex', '(']);
    expect([status, stderr]).toEqual([2, expect.stringContaining('E_USAGE')]);
  });

  test.each([
    ['ls', [pak]],
    ['extract', [pak, '--to', scratch('out')]],
  ])('%s is interrupted at once, whatever the expression', async (verb, args) => {
    const { child, ended } = startPakrat([verb, ...args, '--regex', endless]);
    await sleep(1000);
    expect(child.exitCode).toBeNull();
    const started = performance.now();
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ status: 130, stdout: '' });
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  test('one that takes too long is named, and nothing is listed', async () => {
    const started = performance.now();
    const { status, stdout } = await startPakrat(['ls', pak, '--regex', 'x', '--regex', endless, '--json']).ended;
    expect(status).toBe(2);
    const data = { pattern: `x or ${endless}` };
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'E_USAGE', data, hint: expect.stringMatching(/Repeats/) },
    });
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});
