import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { type CommandFacts, shownFlags } from '../../src/cli/help/page.ts';

/* The man page as the build wrote it. */

const page = readFileSync('man/pakrat.1', 'utf8');
const plain = page.replaceAll('\\-', '-');
const { commands } = JSON.parse(readFileSync('oclif.manifest.json', 'utf8')) as {
  commands: Record<string, CommandFacts>;
};

test.each(Object.values(commands).map((command): [string, CommandFacts] => [command.id.replaceAll(':', ' '), command]))(
  '%s is in it, with its arguments and flags',
  (name, command) => {
    const [, after = ''] = plain.split(`.SS "pakrat ${name}"\n`);
    const [own = ''] = after.split(/^\.S[SH] /m);
    expect(own).toContain(`.B pakrat ${name}`);
    for (const { name: flag } of shownFlags(command)) {
      expect(own).toMatch(new RegExp(`--${flag}[ ,.\n]`));
      // Where it is told, in its own place or among those that are shared.
      expect(plain).toMatch(new RegExp(`^\\.B --${flag}( .*)?\n.`, 'm'));
    }
    for (const arg of Object.keys(command.args)) expect(own).toContain(arg.toUpperCase());
  },
);

test('it tells the exit codes, the variables and the files', () => {
  for (const code of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130, 70])
    expect(page).toMatch(new RegExp(`^\\.B ${code}\n\\w`, 'm'));
  for (const word of ['PAKRAT_STORE', 'PAKRAT_CONFIG', 'PAKRAT_PATCH_URL', 'config.json'])
    expect(plain).toContain(word);
});

test('the package has it', () => {
  const { man, files } = JSON.parse(readFileSync('package.json', 'utf8')) as { man: string; files: string[] };
  expect({ man, isPacked: files.includes('man') }).toEqual({ man: './man/pakrat.1', isPacked: true });
});

test.each([
  ['mandoc', ['-T', 'lint', '-W', 'warning', 'man/pakrat.1']],
  ['man', ['--warnings', '-l', 'man/pakrat.1']],
])('%s finds no fault', (program, args) => {
  const { error, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
  if (error !== undefined) {
    process.stderr.write(`SKIPPED: ${program} is not installed, it does not read the man page\n`);
    return;
  }
  // Without a date the same sources make the same page.
  const faults =
    program === 'mandoc' ? stdout.split('\n').filter((line) => line !== '' && !line.includes('missing date')) : stderr;
  expect(faults).toHaveLength(0);
});
