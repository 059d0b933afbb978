import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { commandHelp, rootHelp, topicHelp } from '../../../src/cli/help/help-text.ts';
import { type CommandFacts, helpPage, shownFlags } from '../../../src/cli/help/page.ts';

/* The commands as the build wrote them down. */

const manifest = JSON.parse(readFileSync('oclif.manifest.json', 'utf8')) as { commands: Record<string, CommandFacts> };
const commands = Object.values(manifest.commands);
const names = commands.map((command): [string, CommandFacts] => [command.id, command]);

test.each(names)('%s fits on 80 columns and has every flag once', (_, command) => {
  const text = commandHelp(command, 'pakrat', 80);
  const examples = text.slice(text.indexOf('Examples:'));
  const long = text.split('\n').filter((line) => line.length > 80 && !examples.includes(line));
  expect(long).toEqual([]);
  for (const { name: flag } of shownFlags(command))
    expect(text.match(new RegExp(`^  --${flag}\\b(?!-)`, 'gm'))).toHaveLength(1);
  expect(text).not.toContain('<%');
  expect(helpPage(command).usage.length).toBeLessThan(80);
});

test('global flags and flags of PAKs are shown where they are used, in groups of their own', () => {
  const titlesOf = (id: string): string[] => helpPage(manifest.commands[id]!).flagGroups.map(({ title }) => title);
  expect(titlesOf('extract')).toEqual(['Flags', 'PAK flags', 'Global flags']);
  expect(titlesOf('pack:nadeo')).toEqual(['Flags', 'Header flags', 'PAK flags', 'Global flags']);
  const flagsOf = (id: string): string[] => shownFlags(manifest.commands[id]!).map(({ name }) => name);
  expect(flagsOf('demo')).toEqual(['json', 'quiet', 'to']);
  expect(flagsOf('pack:quake')).toEqual(['force', 'json', 'quiet']);
  expect(flagsOf('status')).toEqual(['json', 'quiet', 'store']);
  expect(flagsOf('versions')).toEqual(['json', 'offline', 'patch-url', 'quiet', 'region', 'store']);
});

test('the help of a command has usage, meaning of each part, and examples as they are typed', () => {
  const command: CommandFacts = {
    id: 'keys:drop',
    summary: 'Drop keys.',
    description: 'Once gone, gone.',
    strict: false,
    args: { name: { name: 'name', required: true, description: 'Name of a key.' } },
    flags: {
      kind: { name: 'kind', type: 'option', options: ['a', 'b'], summary: 'Their kind.', required: true },
      'a-flag-with-a-long-name': { name: 'a-flag-with-a-long-name', type: 'boolean', summary: 'Long.' },
      store: { name: 'store', type: 'option', helpValue: 'DIR', summary: 'Folder.', env: 'STORE', helpGroup: 'GLOBAL' },
    },
    examples: ['<%= config.bin %> keys drop A --kind a'],
  };
  expect(commandHelp(command, 'pakrat', 60)).toBe(`Drop keys.

Usage: pakrat keys drop NAME... --kind a|b [FLAGS]

Once gone, gone.

Arguments:
  NAME...  Name of a key.

Flags:
  --a-flag-with-a-long-name
              Long.
  --kind a|b  Their kind.

Global flags:
  --store DIR  Folder. Or STORE in the environment.

Examples:
  $ pakrat keys drop A --kind a
`);
});

test('the help of the program has each command and each group once', () => {
  const topics = [{ name: 'keys', description: 'Keys.' }];
  const program = { bin: 'pakrat', description: 'Keeps game builds.', commands, topics };
  const text = rootHelp(program, 80);
  expect(text.match(/^ {2}keys +Keys\.$/gm)).toHaveLength(1);
  expect(text).not.toContain('keys list');
  for (const { id } of commands.filter((one) => !one.id.includes(':')))
    expect(text).toMatch(new RegExp(`^  ${id} `, 'm'));
  expect(topicHelp({ name: 'keys', description: 'Keys.' }, program, 80)).toMatch(/^ {2}keys list {4,}List /m);
});
