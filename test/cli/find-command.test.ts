import { expect, test } from '@jest/globals';
import { findCommand } from '../../src/cli/find-command.ts';

const known = { bin: 'pakrat', commands: ['cat', 'sync', 'status', 'keys:import', 'keys:list', 'listfile:import'] };

test.each([
  ['cat wow name', { id: 'cat', isTopic: false, rest: ['wow', 'name'] }],
  ['keys list --show', { id: 'keys:list', isTopic: false, rest: ['--show'] }],
  ['keys:list', { id: 'keys:list', isTopic: false, rest: [] }],
  ['keys', { id: 'keys', isTopic: true, rest: [] }],
  ['keys --json', { id: 'keys', isTopic: true, rest: ['--json'] }],
])('%s', (words, found) => {
  expect(findCommand(words.split(' '), known)).toEqual(found);
});

test.each([
  ['synk wow', 'there is no command synk', 'Did you mean pakrat sync?'],
  ['sttaus', 'there is no command sttaus', 'Did you mean pakrat status?'],
  ['key', 'there is no command key', 'Did you mean pakrat keys?'],
  ['keys lits', 'there is no command keys lits', 'Did you mean pakrat keys list?'],
  ['import', 'there is no command import', 'Did you mean pakrat keys import or pakrat listfile import?'],
  ['frobnicate', 'there is no command frobnicate', '"pakrat help" lists the commands.'],
  ['keys frobnicate', 'there is no command keys frobnicate', '"pakrat help keys" lists the commands.'],
  ['--store x ls', '--store stands where the command belongs', 'Flags come behind the command'],
])('%s is a usage error with a way on', (words, message, hint) => {
  const expected = { code: 'E_USAGE', message, hint: expect.stringContaining(hint) };
  expect(() => findCommand(words.split(' '), known)).toThrow(expect.objectContaining(expected));
});
