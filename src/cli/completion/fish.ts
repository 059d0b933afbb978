import type { TopicFacts } from '../help/help-text.ts';
import { type CompletedCommand, type CompletedFlag, completedGroups, firstWords } from './completed.ts';

/** The completion of fish. Arguments are completed alike wherever they stand. */
export function fishCompletion(
  bin: string,
  commands: readonly CompletedCommand[],
  topics: readonly TopicFacts[],
): string {
  const groups = completedGroups(commands);
  const first = firstWords(commands, topics);
  const word = (before: string, name: string, summary: string): string =>
    `complete -c ${bin} -n ${quote(`__${bin}_in ${before}`)} -a ${name} -d ${quote(summary)}`;
  const lines = commands.flatMap((command) => {
    const [group = '', rest] = command.name.split(' ');
    const own = rest === undefined ? [] : [word(group, rest, command.summary)];
    return [
      ...own,
      ...argLines(
        bin,
        command,
        first.map(({ name }) => name),
      ),
      ...command.flags.map((flag) => flagLine(bin, command.name, flag)),
    ];
  });
  return `# Completion of ${bin} for fish, made by: ${bin} completion fish
function __${bin}_in --description 'The command that was typed is this one'
    set -l words (commandline -opc)
    set -e words[1]
    set -l name $words[1]
    if contains -- "$name" ${[...groups.keys()].join(' ')}
        set name (string trim -- "$name $words[2]")
    end
    test "$name" = "$argv"
end
complete -c ${bin} -f
${first.map(({ name, summary }) => word('', name, summary)).join('\n')}
${lines.join('\n')}
`;
}

function argLines(bin: string, { name, args }: CompletedCommand, first: readonly string[]): string[] {
  const condition = `complete -c ${bin} -n ${quote(`__${bin}_in ${name}`)}`;
  const kinds = args.map(({ kind }) => kind);
  const words = kinds.flatMap((kind) => (kind === 'command' ? first : typeof kind === 'string' ? [] : kind));
  const hasPaths = kinds.some((kind) => kind === 'file' || kind === 'folder');
  return [
    ...(hasPaths ? [`${condition} -F`] : []),
    ...(words.length > 0 ? [`${condition} -a ${quote(words.join(' '))}`] : []),
  ];
}

function flagLine(bin: string, command: string, { name, char, summary, value }: CompletedFlag): string {
  const letter = char === undefined ? '' : ` -s ${char}`;
  const line = `complete -c ${bin} -n ${quote(`__${bin}_in ${command}`)} -l ${name}${letter} -d ${quote(summary)}`;
  if (value === undefined) return line;
  if (typeof value.kind !== 'string') return `${line} -x -a ${quote(value.kind.join(' '))}`;
  if (value.kind === 'folder') return `${line} -x -a '(__fish_complete_directories)'`;
  return value.kind === 'file' ? `${line} -r -F` : `${line} -x`;
}

function quote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
