import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { completionScript, shells } from '../../../src/cli/completion/completion-script.ts';
import { type CommandFacts, shownFlags } from '../../../src/cli/help/page.ts';
import { scratchFolder } from '../../support/scratch.ts';

/* The scripts of the commands as the build wrote them down, in the shells that are here. */

const scratch = scratchFolder();
const manifest = JSON.parse(readFileSync('oclif.manifest.json', 'utf8')) as { commands: Record<string, CommandFacts> };
const commands = Object.values(manifest.commands).sort((a, b) => (a.id < b.id ? -1 : 1));
const topics = ['keys', 'listfile', 'pack'].map((name) => ({ name, description: `It's ${name}: [all].` }));
const program = { bin: 'pakrat', description: '', commands, topics };

for (const shell of shells) writeFileSync(scratch(`pakrat.${shell}`), completionScript(shell, program));
for (const folder of ['here', 'here/folder one']) mkdirSync(scratch(folder));
for (const file of ['file.pak', 'file two.pak']) writeFileSync(scratch('here', file), '');

/** Runs a line of a shell where the files lie. */
function run(shell: string, args: readonly string[], input?: string): string {
  const options = { cwd: scratch('here'), encoding: 'utf8', timeout: 10_000, ...(input && { input }) } as const;
  const { status, stdout, stderr, error } = spawnSync(shell, [...args], options);
  expect({ shell, status, stderr, error }).toEqual({ shell, status: 0, stderr: '', error: undefined });
  return stdout;
}

function isThere(shell: string): boolean {
  if (spawnSync(shell, ['-c', 'true']).status === 0) return true;
  process.stderr.write(`SKIPPED: ${shell} is not installed, its completion is not tried\n`);
  return false;
}

/** The line that is typed, by what must be offered behind it. */
const offers: [line: string, offered: string[]][] = [
  ['pakrat sy', ['sync']],
  ['pakrat ke', ['keys']],
  ['pakrat keys ', ['import', 'list', 'missing', 'update']],
  ['pakrat keys mi', ['missing']],
  ['pakrat keys list --sh', ['--show']],
  ['pakrat sync x --ta', ['--tags']],
  ['pakrat ls x --engine quake', ['quake', 'quakespasm', 'quake2']],
  ['pakrat ls x --engine=quakes', ['quakespasm']],
  ['pakrat pack unreal --compress ', ['none', 'zlib']],
  ['pakrat completion ', ['bash', 'zsh', 'fish']],
  ['pakrat help sy', ['sync']],
];

test('each script has every command and flag', () => {
  for (const shell of shells) {
    const script = completionScript(shell, program);
    for (const command of commands) {
      expect(script).toContain(command.id.replace(/.*:/, ''));
      for (const { name } of shownFlags(command)) expect(script).toMatch(new RegExp(`(--|-l )${name}\\b`));
    }
    expect(script).not.toContain('<%');
  }
});

(isThere('bash') ? describe : describe.skip)('bash', () => {
  /** Splits a line as bash does, where `=` ends a word. */
  const complete = (line: string): string[] => {
    const words = line.split(/(?<==)|(?==)| /).map((word) => `'${word}'`);
    const script = `. "$1"; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _pakrat; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return run('bash', ['-c', script, 'bash', scratch('pakrat.bash')])
      .split('\n')
      .filter(Boolean);
  };

  test.each(offers)('%s', (line, offered) => {
    expect(complete(line).sort()).toEqual([...offered].sort());
  });

  test('files and folders where they are meant, and nowhere else', () => {
    expect(complete('pakrat cat fi').sort()).toEqual(['file two.pak', 'file.pak']);
    expect(complete('pakrat cat --key k --raw fi')).toHaveLength(2);
    expect(complete('pakrat cat file.pak fi')).toEqual([]);
    expect(complete('pakrat extract x --to f')).toEqual(['folder one']);
    expect(complete('pakrat mount x f')).toEqual(['folder one']);
    expect(complete('pakrat keys import a b fi')).toHaveLength(2);
    expect(complete('pakrat sync x --jobs ')).toEqual([]);
  });

  test('it is registered', () => {
    const line = run('bash', ['-c', '. "$1"; complete -p pakrat', 'bash', scratch('pakrat.bash')]);
    expect(line).toBe('complete -F _pakrat pakrat\n');
  });
});

(isThere('fish') ? describe : describe.skip)('fish', () => {
  const complete = (line: string): string[] =>
    run('fish', ['--no-config', '-c', `source $argv[1]; complete -C $argv[2]`, scratch('pakrat.fish'), line])
      .split('\n')
      .filter(Boolean)
      .map((row) => row.replace(/\t.*/, '').replace(/^--engine=/, ''));

  test.each(offers)('%s', (line, offered) => {
    expect(complete(line).sort()).toEqual([...offered].sort());
  });

  test('files and folders where they are meant', () => {
    expect(complete('pakrat cat fi').sort()).toEqual(['file two.pak', 'file.pak']);
    expect(complete('pakrat extract x --to f')).toEqual(['folder one/']);
    expect(complete('pakrat status ')).toEqual([]);
  });
});

(isThere('zsh') ? describe : describe.skip)('zsh', () => {
  /** Types lines into a zsh of a terminal, each with a tab at its end; the words that each came to. */
  const complete = (lines: readonly string[]): string[] => {
    writeFileSync(
      scratch('rc'),
      `PS1=; autoload -Uz compinit; compinit -u -D; . ${scratch('pakrat.zsh')}
pakrat() { print -r -- "<<\${(j:|:)@}>>" }
pakrat ready`,
    );
    const typed = [`. ${scratch('rc')}`, ...lines.map((line) => `${line}\t`)];
    const script = `
zmodload zsh/zpty
zpty z zsh -f -i
for line in ${typed.map((line) => `$'${line}'`).join(' ')}; do
  zpty -w z $line
  while zpty -r z line; do
    if [[ $line == *'<<'*'>>'* ]]; then print -r -- $line; break; fi
  done
done
zpty -d z`;
    const out = run('zsh', ['-f', '-c', script]);
    return [...out.matchAll(/<<(.*?)>>/g)].map(([, words = '']) => words).slice(1);
  };

  test('what can only be one thing is completed', () => {
    const lines = ['pakrat sy', 'pakrat keys mi', 'pakrat keys list --sh', 'pakrat ls x --engine quakes'];
    const paths = ['pakrat extract x --to fo', 'pakrat cat file.', 'pakrat completion z'];
    expect(complete([...lines, ...paths])).toEqual([
      'sync',
      'keys|missing',
      'keys|list|--show',
      'ls|x|--engine|quakespasm',
      'extract|x|--to|folder one',
      'cat|file.pak',
      'completion|zsh',
    ]);
  });
});
