import type { TopicFacts } from '../help/help-text.ts';
import { type CompletedCommand, type CompletedFlag, completedGroups, firstWords, type Kind } from './completed.ts';

/** The completion of zsh: a function for a folder of \`fpath\`, which can also be sourced. */
export function zshCompletion(
  bin: string,
  commands: readonly CompletedCommand[],
  topics: readonly TopicFacts[],
): string {
  const groups = completedGroups(commands);
  const first = firstWords(commands, topics);
  const described = (words: readonly { name: string; summary: string }[]): string =>
    words.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`).join('\n');
  const ofGroup = (group: string) =>
    commands
      .filter(({ name }) => name.startsWith(`${group} `))
      .map(({ name, summary }) => ({ name: name.slice(group.length + 1), summary }));
  return `#compdef ${bin}
# Completion of ${bin} for zsh, made by: ${bin} completion zsh
_${bin}_commands() {
  local -a names
  names=(
${described(first)}
  )
  _describe -t commands command names
}
_${bin}() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  local -a names
  if (( CURRENT == 2 )); then _${bin}_commands; return; fi
  local command=$words[2]
  case $command in
${[...groups.keys()]
  .map(
    (group) => `  ${group})
    names=(
${described(ofGroup(group))}
    )
    if (( CURRENT == 3 )); then _describe -t commands command names; return; fi
    command="$command $words[3]"
    shift words
    (( CURRENT-- ))
    ;;`,
  )
  .join('\n')}
  esac
  shift words
  (( CURRENT-- ))
  case $command in
${commands.map((command) => `  ${quote(command.name)}) _arguments -S ${specs(bin, command).map(quote).join(' ')} ;;`).join('\n')}
  esac
}
if [[ $funcstack[1] == _${bin} ]]; then _${bin} "$@"; else compdef _${bin} ${bin}; fi
`;
}

function specs(bin: string, { args, flags }: CompletedCommand): string[] {
  const places = args.map(({ label, kind, repeats }, i) => `${repeats ? '*' : i + 1}:${label}:${action(bin, kind)}`);
  return [...flags.flatMap((flag) => flagSpecs(bin, flag)), ...places];
}

function flagSpecs(bin: string, { name, char, summary, value, repeats }: CompletedFlag): string[] {
  const text = `[${summary.replace(/[[\]\\]/g, '\\$&')}]`;
  const written =
    char === undefined ? [`--${name}`] : [`-${char}`, `--${name}`].map((one) => `(-${char} --${name})${one}`);
  if (value === undefined) return written.map((flag) => `${flag}${text}`);
  const spec = `${repeats ? '*' : ''}--${name}=${text}:${value.label.replaceAll(':', '\\:')}:${action(bin, value.kind)}`;
  return [spec];
}

/** A blank: nothing can be offered. */
function action(bin: string, kind: Kind): string {
  if (typeof kind !== 'string') return `(${kind.join(' ')})`;
  return { file: '_files', folder: '_files -/', command: `_${bin}_commands`, any: ' ' }[kind];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
