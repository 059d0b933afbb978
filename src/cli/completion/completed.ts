import type { ProgramFacts, TopicFacts } from '../help/help-text.ts';
import { type ArgFacts, type CommandFacts, commandName, type FlagFacts, shownFlags } from '../help/page.ts';

/** The words that may stand in a place: these, the files or folders that are there, the commands, or any. */
export type Kind = readonly string[] | 'file' | 'folder' | 'command' | 'any';

/** A flag as a shell completes it. */
export interface CompletedFlag {
  name: string;
  char: string | undefined;
  summary: string;
  /** Its value; a switch has none. */
  value: { label: string; kind: Kind } | undefined;
  repeats: boolean;
}

/** An argument as a shell completes it. */
export interface CompletedArg {
  label: string;
  kind: Kind;
  /** Any number of them may follow. */
  repeats: boolean;
}

/** A command as a shell completes it. */
export interface CompletedCommand {
  /** As typed: `keys list`. */
  name: string;
  summary: string;
  args: CompletedArg[];
  flags: CompletedFlag[];
}

/** Arguments that name a file or folder, among other things maybe. */
const pathArgs = ['source', 'before', 'after', 'object', 'file', 'out', 'input'];

/** The commands of the program as a shell completes them. */
export function completedCommands({ commands }: ProgramFacts): CompletedCommand[] {
  return commands.map((command) => ({
    name: commandName(command.id),
    summary: firstSentence(command.summary),
    args: completedArgs(command),
    flags: [...shownFlags(command).map(completedFlag), helpFlag],
  }));
}

const helpFlag: CompletedFlag = {
  name: 'help',
  char: 'h',
  summary: 'Show how it is written',
  value: undefined,
  repeats: false,
};

/** The words of groups of commands, such as `keys`, with the words that follow each. */
export function completedGroups(commands: readonly CompletedCommand[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { name } of commands) {
    const [group = '', rest] = name.split(' ');
    if (rest !== undefined) groups.set(group, [...(groups.get(group) ?? []), rest]);
  }
  return groups;
}

/** The words that may come first: commands, and groups of them. */
export function firstWords(
  commands: readonly CompletedCommand[],
  topics: readonly TopicFacts[],
): { name: string; summary: string }[] {
  return [
    ...commands.filter(({ name }) => !name.includes(' ')),
    ...topics.map(({ name, description = '' }) => ({ name, summary: description })),
  ];
}

function completedArgs({ args, strict }: CommandFacts): CompletedArg[] {
  const all = Object.values(args);
  return all.map((arg, i) => ({
    label: arg.name.toUpperCase(),
    kind: argKind(arg),
    repeats: arg.multiple === true || (strict === false && i === all.length - 1),
  }));
}

function argKind({ name, options }: ArgFacts): Kind {
  if (options !== undefined) return options;
  if (name === 'dir') return 'folder';
  if (name === 'command') return 'command';
  return pathArgs.includes(name) ? 'file' : 'any';
}

function completedFlag(flag: FlagFacts): CompletedFlag {
  const { name, char, type, helpValue, options, summary, description, multiple } = flag;
  const label = typeof helpValue === 'string' ? helpValue : 'VALUE';
  const kind: Kind = options ?? (['FILE', 'PAK'].includes(label) ? 'file' : label === 'DIR' ? 'folder' : 'any');
  const value = type === 'boolean' ? undefined : { label, kind };
  return { name, char, summary: firstSentence(summary ?? description), value, repeats: multiple === true };
}

function firstSentence(text = ''): string {
  return text.replace(/\.(?: .*)?$/s, '');
}
