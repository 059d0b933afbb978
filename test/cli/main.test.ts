import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

/* The top of the command line, as it is built: few starts, for each takes a tenth of a second. */

test('help is the same however it is asked for', () => {
  const { status, stdout, stderr } = runPakrat(['help', 'keys', 'list']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('Usage: pakrat keys list [FLAGS]\n');
  expect(runPakrat(['keys', 'list', '-h']).stdout).toBe(stdout);
  expect(runPakrat(['help']).stdout).toBe(runPakrat(['-h']).stdout);
});

test('-v is the version', () => {
  expect(runPakrat(['-v']).stdout).toMatch(/^pakrat\/\d+\.\d+\.\d+ /);
});

test('a misspelt command is a usage error with the right one, and JSON with --json', () => {
  const told = runPakrat(['synk', 'wow']);
  expect(told).toMatchObject({ status: 2, stdout: '' });
  expect(told.stderr).toBe('Error: there is no command synk\nCode: E_USAGE\nTry this: Did you mean pakrat sync?\n');
  const { status, stdout, stderr } = runPakrat(['synk', 'wow', '--json']);
  expect({ status, stderr }).toEqual({ status: 2, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'E_USAGE', hint: 'Did you mean pakrat sync?' } });
});

test.each([
  [['sync', 'x', '--taggs', 'a', '--json'], 'sync has no flag --taggs'],
  [['sync', '--json'], 'sync needs BUILD'],
  [['cat', 'x', '--json'], 'cat has no flag --json'],
  [['keys', '--json'], 'keys needs a command'],
  [['help', 'synk', '--json'], 'no flag --json'],
])('%j: every error of a command line is JSON with --json', (args, message) => {
  const { status, stdout } = runPakrat(args);
  expect(status).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'E_USAGE', message: expect.stringContaining(message) } });
});

test('config says which setting comes from where', () => {
  mkdirSync(scratch('pakrat'));
  writeFileSync(scratch('pakrat', 'config.json'), '{"region": "eu"}');
  const env = { XDG_CONFIG_HOME: scratch(), http_proxy: 'http://web:1' };
  const { status, stdout } = runPakrat(['config'], { env });
  expect(status).toBe(0);
  expect(stdout).toMatch(/^network\.httpProxy +environment +http:\/\/web:1$/m);
  expect(stdout).toContain(`region                    ${scratch('pakrat', 'config.json')}  eu\n`);
  const json = JSON.parse(runPakrat(['config', '--json', '--store', 'x'], { env }).stdout) as object;
  expect(json).toMatchObject({ file: scratch('pakrat', 'config.json'), store: 'x' });
});
