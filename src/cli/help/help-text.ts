import { padText, textWidth } from '../terminal/text.ts';
import { type CommandFacts, commandName, type HelpPage, helpPage, type Row } from './page.ts';

/** A group of commands, such as `keys`. */
export interface TopicFacts {
  name: string;
  description?: string | undefined;
}

/** What help is made of: the commands of the manifest, and the groups of them. */
export interface ProgramFacts {
  bin: string;
  description: string;
  commands: readonly CommandFacts[];
  topics: readonly TopicFacts[];
}

/** Columns of the left side at most; a longer label has a line of its own. */
const leftColumns = 22;

/** The help of one command, ending in a line break. @param width columns of the terminal */
export function commandHelp(command: CommandFacts, bin: string, width: number): string {
  const page = helpPage(command, bin);
  const sections = [
    wrap(page.summary, width),
    wrap(`Usage: ${page.usage}`, width, '         '),
    ...page.paragraphs.map((text) => wrap(text, width)),
    section('Arguments', page.args, width),
    ...page.flagGroups.map(({ title, flags }) => section(title, flags, width)),
    examples(page),
  ];
  return `${sections.filter(Boolean).join('\n\n')}\n`;
}

/** The help of a group of commands, ending in a line break. */
export function topicHelp(topic: TopicFacts, { bin, commands }: ProgramFacts, width: number): string {
  const rows = commands.filter(({ id }) => id.startsWith(`${topic.name}:`)).map(commandRow);
  const usage = `Usage: ${bin} ${topic.name} COMMAND [ARGUMENTS] [FLAGS]`;
  return `${[topic.description, usage, section('Commands', rows, width), more(bin)].join('\n\n')}\n`;
}

/** The help of the program, ending in a line break: every command, those of a group in one line. */
export function rootHelp({ bin, description, commands, topics }: ProgramFacts, width: number): string {
  const single = commands.filter(({ id }) => !id.includes(':')).map(commandRow);
  const grouped = topics.map(({ name, description: text = '' }): Row => [name, text]);
  const rows = [...single, ...grouped].sort(([a], [b]) => (a < b ? -1 : 1));
  const usage = `Usage: ${bin} COMMAND [ARGUMENTS] [FLAGS]`;
  return `${[wrap(description, width), usage, section('Commands', rows, width), more(bin)].join('\n\n')}\n`;
}

function more(bin: string): string {
  return `"${bin} help COMMAND" tells more of one.`;
}

function commandRow({ id, summary = '' }: CommandFacts): Row {
  return [commandName(id), summary];
}

function examples({ examples }: HelpPage): string {
  return examples.length === 0 ? '' : ['Examples:', ...examples.map((line) => `  $ ${line}`)].join('\n');
}

function section(title: string, rows: readonly Row[], width: number): string {
  const widest = Math.max(0, ...rows.map(([label]) => textWidth(label)).filter((size) => size <= leftColumns));
  const indent = ' '.repeat(widest + 4);
  const lines = rows.map(([label, text]) => {
    const meaning = wrap(text, width - indent.length).replaceAll('\n', `\n${indent}`);
    const isLong = textWidth(label) > leftColumns;
    return isLong ? `  ${label}\n${indent}${meaning}` : `  ${padText(label, widest)}  ${meaning}`.trimEnd();
  });
  return rows.length === 0 ? '' : [`${title}:`, ...lines].join('\n');
}

/** A text in lines of at most `width` columns; a longer word has a line of its own. @param indent before every line but the first */
function wrap(text: string, width: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && textWidth(longer) > width) {
      lines.push(line);
      line = indent + word;
    } else line = longer;
  }
  return [...lines, line].join('\n');
}
