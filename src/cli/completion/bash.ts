import { type CompletedCommand, completedGroups, type Kind } from './completed.ts';

/** The completion of bash, from 3.2 on, which macOS has: without its associative arrays and without the package bash-completion. */
export function bashCompletion(bin: string, commands: readonly CompletedCommand[]): string {
  const groups = completedGroups(commands);
  const first = [...new Set(commands.map(({ name }) => name.replace(/ .*/, '')))].join(' ');
  return `# Completion of ${bin} for bash, made by: ${bin} completion bash
_${bin}_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$2"))
}
_${bin}_words() {
  COMPREPLY=($(compgen -W "$1" -- "$2"))
}
_${bin}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}
  local first='${first}'
  local flags= valued= files= folders= args= kind= place=0 i=2 word
  COMPREPLY=()
  # --flag=value are three words here.
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if ((COMP_CWORD == 1)); then _${bin}_words "$first" "$cur"; return; fi
  case $command in
${[...groups].map(([group, names]) => `    ${group}) if ((COMP_CWORD == 2)); then _${bin}_words '${names.join(' ')}' "$cur"; return; fi ;;`).join('\n')}
  esac
  case $command in
    ${[...groups.keys()].join('|')}) command="$command \${COMP_WORDS[2]}"; i=3 ;;
  esac
  case $command in
${commands.map(commandCase).join('\n')}
  esac
  if [[ " $valued " == *" $prev "* ]]; then
    case "$command $prev" in
${commands.flatMap((command) => choiceCases(bin, command)).join('\n')}
    esac
    if [[ " $files " == *" $prev "* ]]; then _${bin}_paths -f "$cur"; fi
    if [[ " $folders " == *" $prev "* ]]; then _${bin}_paths -d "$cur"; fi
    return
  fi
  if [[ $cur == -* ]]; then _${bin}_words "$flags" "$cur"; return; fi
  for ((; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ " $valued " == *" $word "* ]]; then
      ((i++))
      if [[ \${COMP_WORDS[i]} == = ]]; then ((i++)); fi
    elif [[ $word != -* ]]; then ((place++)); fi
  done
  for word in $args; do
    kind=\${word%+}
    if ((place == 0)) || [[ $word == *+ ]]; then break; fi
    ((place--))
    kind=
  done
  case $kind in
    file) _${bin}_paths -f "$cur" ;;
    folder) _${bin}_paths -d "$cur" ;;
    command) _${bin}_words "$first" "$cur" ;;
    *,*) _${bin}_words "\${kind//,/ }" "$cur" ;;
  esac
}
complete -F _${bin} ${bin}
`;
}

function commandCase({ name, args, flags }: CompletedCommand): string {
  const named = (kinds: (kind: Kind) => boolean): string =>
    flags
      .filter(({ value }) => value !== undefined && kinds(value.kind))
      .map((flag) => `--${flag.name}`)
      .join(' ');
  const words = [
    `flags='${flags.map((flag) => `--${flag.name}`).join(' ')}'`,
    `valued='${named(() => true)}'`,
    `files='${named((kind) => kind === 'file')}'`,
    `folders='${named((kind) => kind === 'folder')}'`,
    `args='${args.map(({ kind, repeats }) => `${typeof kind === 'string' ? kind : kind.join(',')}${repeats ? '+' : ''}`).join(' ')}'`,
  ];
  return `    '${name}') ${words.filter((word) => !word.endsWith("=''")).join(' ')} ;;`;
}

function choiceCases(bin: string, { name, flags }: CompletedCommand): string[] {
  return flags.flatMap(({ name: flag, value }) =>
    value === undefined || typeof value.kind === 'string'
      ? []
      : [`      '${name} --${flag}') _${bin}_words '${value.kind.join(' ')}' "$cur" ;;`],
  );
}
