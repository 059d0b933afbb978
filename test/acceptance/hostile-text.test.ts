import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { syntheticCdn } from '../support/own-cdn.ts';
import { type Run, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

/** A colour and a bell, a command of one character, a name that reads backwards. */
const name = '11.2.0\x1b[31m\x07\x9b2J\u202e\u061cgnp';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal obeys
const commands = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

let cdn: SyntheticCdn;
beforeAll(async () => {
  cdn = await syntheticCdn({ make: ['--files', '20', '--total-bytes', '100K', '--seed', 'text'] });
});
afterAll(() => cdn?.close());

function tell(endpoint: 'versions' | 'cdns', change: (text: string) => string): void {
  const file = join(cdn.root, 'www', 'wow', endpoint);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

function run(store: string, ...args: string[]): Run {
  return runPakrat([...args, '--store', scratch(store), '--patch-url', cdn.url]);
}

test('nothing of a version name reaches a terminal as a command, and JSON has it whole', async () => {
  tell('versions', (text) => text.replaceAll('11.2.0.60100', name));
  const each = [['sync', 'wow'], ['versions', 'wow'], ['status'], ['info', 'wow'], ['sync', 'wow', '--dry-run']];
  for (const args of each) {
    const text = run('named', ...args);
    expect({ args, status: text.status, stderr: text.stderr }).toMatchObject({ status: 0 });
    expect(text.stdout).toContain('11.2.0\\x1b[31m\\x07\\x9b2J\\u202e\\u061cgnp');
    expect(text.stdout + text.stderr).not.toMatch(commands);
  }
  for (const args of each.slice(1, 3)) {
    const json = run('named', ...args, '--json');
    expect(json.stdout).not.toMatch(commands);
    expect(JSON.stringify(JSON.parse(json.stdout))).toContain(JSON.stringify(name).slice(1, -1));
  }
  const wrong = run('named', 'ls', `wow@${name}x`);
  expect(wrong.status).not.toBe(0);
  expect(wrong.stdout + wrong.stderr).not.toMatch(commands);
  tell('versions', (text) => text.replaceAll(name, '11.2.0.60100'));
});

test.each(['tmp', 'Names', 'ledger.db', 'partial/x'])(
  'objects never lie at %s, which is a part of the store',
  async (path) => {
    tell('cdns', (text) => text.replaceAll('tpr/wow', path));
    const session = { store: scratch('own'), patchUrl: cdn.url };
    const refused = await withPakrat(session, (pakrat) => pakrat.sync('wow')).catch((error: unknown) => error);
    tell('cdns', (text) => text.replaceAll(path, 'tpr/wow'));
    expect(refused).toMatchObject({
      code: expect.stringMatching(/^E_FORMAT/),
      message: expect.stringContaining('names no usable path'),
    });
    for (const kind of ['config', 'data']) expect(existsSync(scratch('own', path, kind))).toBe(false);
  },
);
