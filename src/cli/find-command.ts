import { PakratError } from '../core/errors.ts';
import { didYouMean, nearest } from '../core/names/nearest.ts';
import { commandName } from './help/page.ts';

/** The names that are looked among: ids of commands, such as `cat` and `keys:list`, which is in the group `keys`. */
export interface KnownNames {
  bin: string;
  commands: readonly string[];
}

/** The id of the command, or of the group, that the first words name, and the words behind it. */
export interface FoundCommand {
  id: string;
  isTopic: boolean;
  rest: readonly string[];
}

/**
 * Finds the command that was typed. A group without a command in it is found, too: it has help.
 * @throws E_USAGE, with names that are near, for one that there is not
 */
export function findCommand(words: readonly string[], known: KnownNames): FoundCommand {
  const [first = '', second] = words;
  if (known.commands.includes(first)) return { id: first, isTopic: false, rest: words.slice(1) };
  if (first.startsWith('-')) {
    throw new PakratError('E_USAGE', `${first} stands where the command belongs`, {
      hint: `Flags come behind the command: ${known.bin} COMMAND [ARGUMENTS] [FLAGS].`,
    });
  }
  const topics = topicNames(known.commands);
  if (!topics.includes(first)) throw unknownCommand(first, first, wholeNames(first, known), known.bin);
  if (second === undefined || second.startsWith('-')) return { id: first, isTopic: true, rest: words.slice(1) };
  const id = `${first}:${second}`;
  if (known.commands.includes(id)) return { id, isTopic: false, rest: words.slice(2) };
  const ofTopic = known.commands.filter((name) => name.startsWith(`${first}:`)).map((name) => lastPart(name));
  const alike = nearest(second, ofTopic).map((name) => `${first} ${name}`);
  throw unknownCommand(commandName(id), first, alike, known.bin);
}

/** The groups that commands are in. */
export function topicNames(commands: readonly string[]): string[] {
  return [...new Set(commands.filter((id) => id.includes(':')).map((id) => id.slice(0, id.indexOf(':'))))];
}

/** Names that are near, or whose last word it is: `import` is `keys import` or `listfile import`. */
function wholeNames(word: string, { commands }: KnownNames): string[] {
  const inTopics = commands.filter((id) => id.includes(':') && lastPart(id) === word).map(commandName);
  if (inTopics.length > 0) return inTopics;
  return nearest(word, [...commands.filter((id) => !id.includes(':')), ...topicNames(commands)]);
}

function lastPart(id: string): string {
  return id.slice(id.lastIndexOf(':') + 1);
}

function unknownCommand(name: string, first: string, alike: readonly string[], bin: string): PakratError {
  const help = name === first ? `${bin} help` : `${bin} help ${first}`;
  return new PakratError('E_USAGE', `there is no command ${name}`, {
    hint: didYouMean(alike.map((one) => `${bin} ${one}`)) ?? `"${help}" lists the commands.`,
    data: { command: name, near: alike },
  });
}
