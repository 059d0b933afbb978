import type { Config } from '@oclif/core/interfaces';
import { findCommand, topicNames } from '../find-command.ts';
import { commandHelp, type ProgramFacts, rootHelp, topicHelp } from './help-text.ts';
import type { CommandFacts } from './page.ts';

/** Lines longer than this are hard to read, however wide the terminal is. */
const widest = 100;

/**
 * Prints the help of the command, or group of commands, that the words name; of the program, when they name none.
 * @throws E_USAGE, with names that are near, for a command that there is not
 */
export function showHelp(config: Config, words: readonly string[]): void {
  process.stdout.write(helpFor(programFacts(config), words, Math.min(process.stdout.columns ?? 80, widest)));
}

/** The program as help, man page and completion know it. */
export function programFacts({ bin, pjson, commands, topics }: Config): ProgramFacts {
  const shown = commands.filter(({ hidden }) => hidden !== true) as unknown as CommandFacts[];
  const byId = [...shown].sort((a, b) => (a.id < b.id ? -1 : 1));
  const groups = topicNames(byId.map(({ id }) => id));
  const shownTopics = topics.filter(({ name }) => groups.includes(name));
  return { bin, description: pjson.description ?? '', commands: byId, topics: shownTopics };
}

function helpFor(program: ProgramFacts, words: readonly string[], width: number): string {
  const { bin, commands, topics } = program;
  const named = words.filter((word) => !word.startsWith('-'));
  if (named.length === 0) return rootHelp(program, width);
  const known = { bin, commands: commands.map(({ id }) => id) };
  const { id } = findCommand(named[0] === 'help' && named.length > 1 ? named.slice(1) : named, known);
  const command = commands.find((one) => one.id === id);
  if (command !== undefined) return commandHelp(command, bin, width);
  const topic = topics.find(({ name }) => name === id);
  return topic === undefined ? rootHelp(program, width) : topicHelp(topic, program, width);
}
