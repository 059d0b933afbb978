import { expect, test } from '@jest/globals';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import * as Parser from '@oclif/core/parser';
import { usageError } from '../../src/cli/usage-error.ts';

const args = { build: Args.string({ description: 'The build.', required: true, ignoreStdin: true }) };
const flags = {
  tags: Flags.string(),
  jobs: Flags.integer({ min: 1, max: 256 }),
  engine: Flags.option({ options: ['quake', 'quake2'] as const })(),
  flat: Flags.boolean({ exclusive: ['strip'] }),
  strip: Flags.integer(),
  key: Flags.string(),
  encrypt: Flags.boolean({ dependsOn: ['key'] }),
};

/** The error of a command line for a command `sync`, in our words. */
async function errorOf(line: string, input: FlagInput = flags) {
  const argv = line.split(' ').filter(Boolean);
  const error = await Parser.parse(argv, { args, flags: input, strict: true }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return usageError(error, { name: 'sync', flags: Object.keys(flags) });
}

test.each([
  ['x --taggs Windows', 'sync has no flag --taggs', 'Did you mean --tags?'],
  ['--taggs', 'sync has no flag --taggs', 'Did you mean --tags?'],
  ['x --jbos=3', 'sync has no flag --jbos', 'Did you mean --jobs?'],
  ['x --frobnicate', 'sync has no flag --frobnicate', '"pakrat sync --help" shows those that it has.'],
  ['', 'sync needs BUILD: The build.', '"pakrat sync --help" shows how it is written.'],
  ['a b c', 'sync takes nothing more: b c', '--help'],
  ['x --jobs 0', '--jobs is at least 1, not 0', '--help'],
  ['x --jobs 999', '--jobs is at most 256, not 999', '--help'],
  ['x --jobs abc', '--jobs takes a whole number, not abc', '--help'],
  ['x --engine doom', '--engine is one of quake, quake2, not doom', '--help'],
  ['x --tags', '--tags needs a value', '--help'],
  ['x --engine', '--engine needs a value: one of quake, quake2', '--help'],
  ['x --tags a --tags b', '--tags is there twice', '--help'],
  ['x --encrypt', '--encrypt needs --key', '--help'],
])('%s', async (line, message, hint) => {
  expect(await errorOf(line)).toMatchObject({ code: 'E_USAGE', message, hint: expect.stringContaining(hint) });
});

test('flags that exclude each other, and one that is missing', async () => {
  expect(await errorOf('x --flat --strip 2')).toMatchObject({ message: '--strip and --flat exclude each other' });
  const to = { to: Flags.string({ required: true }) };
  expect(await errorOf('x', to)).toMatchObject({ message: '--to is missing' });
});

test('an error that is not about the command line is left to others', () => {
  expect(usageError(new TypeError('x'), undefined)).toBeUndefined();
  expect(usageError(undefined, undefined)).toBeUndefined();
});
