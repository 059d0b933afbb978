/** A flag as oclif.manifest.json has it. */
export interface FlagFacts {
  name: string;
  type: 'boolean' | 'option';
  summary?: string | undefined;
  description?: string | undefined;
  helpGroup?: string | undefined;
  helpValue?: string | readonly string[] | undefined;
  options?: readonly string[] | undefined;
  default?: unknown;
  env?: string | undefined;
  multiple?: boolean | undefined;
  required?: boolean | undefined;
  hidden?: boolean | undefined;
}

/** An argument as oclif.manifest.json has it. */
export interface ArgFacts {
  name: string;
  description?: string | undefined;
  multiple?: boolean | undefined;
  options?: readonly string[] | undefined;
  required?: boolean | undefined;
}

/** A command as oclif.manifest.json has it: help, man page and completion are made of this. */
export interface CommandFacts {
  id: string;
  summary?: string | undefined;
  description?: string | undefined;
  strict?: boolean | undefined;
  args: Readonly<Record<string, ArgFacts>>;
  flags: Readonly<Record<string, FlagFacts>>;
  examples?: unknown;
  hidden?: boolean | undefined;
}

/** A flag or an argument: as it is written, and its meaning. */
export type Row = readonly [label: string, text: string];

/** The help of a command, before it is laid out for a terminal or a man page. */
export interface HelpPage {
  /** As typed, without the program. */
  name: string;
  summary: string;
  usage: string;
  args: Row[];
  /** Its own flags first, those that every command shares last. */
  flagGroups: { title: string; flags: Row[] }[];
  paragraphs: string[];
  examples: string[];
}

/** The name of a command as it is typed, of its id. */
export function commandName(id: string): string {
  return id.replaceAll(':', ' ');
}

/** The help of a command. @param bin name of the program, for usage and examples */
export function helpPage(command: CommandFacts, bin = 'pakrat'): HelpPage {
  const name = commandName(command.id);
  const args = Object.values(command.args);
  const flags = shownFlags(command);
  const required = flags.filter((flag) => flag.required).map(flagLabel);
  const labels = args.map((arg, i) => argLabel(arg, command.strict === false && i === args.length - 1));
  return {
    name,
    summary: command.summary ?? '',
    usage: [bin, name, ...labels, ...required, ...(flags.length > required.length ? ['[FLAGS]'] : [])].join(' '),
    args: args.map((arg, i): Row => [labels[i] ?? '', argText(arg)]),
    flagGroups: groupsOf(flags),
    paragraphs: (command.description ?? '').split('\n\n').filter(Boolean),
    examples: examplesOf(command, bin),
  };
}

/** The flags of a command that help shows, by their names. */
export function shownFlags(command: CommandFacts): FlagFacts[] {
  return Object.values(command.flags)
    .filter((flag) => flag.hidden !== true)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The examples of a command, as typed. */
export function examplesOf({ examples }: CommandFacts, bin = 'pakrat'): string[] {
  const all = Array.isArray(examples) ? (examples as unknown[]) : [];
  return all.filter((text) => typeof text === 'string').map((text) => text.replaceAll('<%= config.bin %>', bin));
}

function argLabel({ name, required, multiple }: ArgFacts, isLast: boolean): string {
  const label = `${name.toUpperCase()}${multiple || isLast ? '...' : ''}`;
  return required ? label : `[${label}]`;
}

function argText({ description = '', options }: ArgFacts): string {
  return options === undefined ? description : `${description} One of ${options.join(', ')}.`;
}

/** `--to DIR`, `--engine NAME`: a flag with its value. */
export function flagLabel({ name, type, helpValue, options }: FlagFacts): string {
  if (type === 'boolean') return `--${name}`;
  const value = typeof helpValue === 'string' ? helpValue : (options?.join('|') ?? 'VALUE');
  return `--${name} ${value}`;
}

function flagText(flag: FlagFacts): string {
  // oclif adds this one, with a text of its own.
  if (flag.name === 'json') return 'Print one JSON value; errors, too.';
  const shown = flag.type === 'boolean' || flag.default === undefined ? '' : `Default: ${String(flag.default)}.`;
  const env = flag.env === undefined ? '' : `Or ${flag.env} in the environment.`;
  return [flag.summary, env, flag.description, shown].filter(Boolean).join(' ');
}

/** Groups of flags in the order in which they are shown; those of any other group stand in the first. */
const groups = [
  { group: undefined, title: 'Flags' },
  { group: 'HEADER', title: 'Header flags' },
  { group: 'PAK', title: 'PAK flags' },
  { group: 'GLOBAL', title: 'Global flags' },
] as const;

function groupsOf(flags: readonly FlagFacts[]): HelpPage['flagGroups'] {
  const groupOf = (flag: FlagFacts) => groups.find(({ group }) => group === flag.helpGroup) ?? groups[0];
  return groups
    .map((one) => ({ title: one.title, flags: flags.filter((flag) => groupOf(flag) === one) }))
    .filter((one) => one.flags.length > 0)
    .map(({ title, flags }) => ({ title, flags: flags.map((flag): Row => [flagLabel(flag), flagText(flag)]) }));
}
