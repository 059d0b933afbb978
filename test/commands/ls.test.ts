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

describe('ls --regex', () => {
  test('lists what has one of the expressions, beside globs; looking ahead and back is allowed', () => {
    expect(listed('--regex', '\\d\\.bsp$')).toEqual(['maps/a1.bsp', 'maps/b22.BSP']);
    expect(listed('--regex', '(\\d)\\1(?=\\.)', '--regex', '(?<!/)c')).toEqual(['maps/b22.BSP', 'c.txt']);
    expect(listed('b*', '--regex', '\\d')).toEqual(['maps/b22.BSP']);
    expect(runPakrat(['ls', pak, '--regex', 'none'])).toMatchObject({
      status: 0,
      stdout: '',
      stderr: 'Note: no name matches none.\n',
    });
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
    expect(performance.now() - started).toBeLessThan(2000);
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
