import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

interface Command {
  id: string;
  summary?: string;
  examples?: string[];
  flags: Record<string, { char?: string; summary?: string; description?: string }>;
  args: Record<string, { description?: string }>;
}

test('no command, argument or flag came or went unnoticed', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/command-snapshot.js', '--check'], {
    encoding: 'utf8',
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});

const { commands } = JSON.parse(readFileSync('oclif.manifest.json', 'utf8')) as { commands: Record<string, Command> };

describe.each(Object.values(commands).map((command) => [command.id, command] as const))('%s', (_, command) => {
  test('has a summary of one line and examples with long flags', () => {
    expect(command.summary).toMatch(/^[A-Z][^\n]*\.$/);
    expect(command.examples?.length).toBeGreaterThan(0);
    expect(command.examples?.join('\n')).not.toMatch(/ -\w\b/);
  });

  test('has --json and the global flags', () => {
    // They give out text: there is nothing to say in JSON.
    const json = ['cat', 'help', 'completion'].includes(command.id) ? [] : ['json'];
    for (const flag of [...json, 'store', 'region', 'locale', 'patch-url', 'cdn-host', 'offline', 'quiet']) {
      expect(Object.keys(command.flags)).toContain(flag);
    }
  });

  test('says what each argument and flag is', () => {
    for (const { summary, description } of Object.values(command.flags)) expect(summary ?? description).toBeTruthy();
    for (const { description } of Object.values(command.args)) expect(description).toBeTruthy();
  });
});
