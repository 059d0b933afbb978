import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { scratchFolder } from '../support/scratch.ts';

/** Rooms as the script's own table has them: a new one is in the made house, too. */
const rooms = [
  ...(/const floors = \[(.*?)\n\];/s.exec(readFileSync('scripts/check-house.js', 'utf8'))?.[1] ?? '').matchAll(
    /'(\w+)'/g,
  ),
]
  .map(([, room]) => String(room))
  .filter((room) => room !== 'commands');

const scratch = scratchFolder();
let house: string;
let count = 0;

function put(path: string, text: string): void {
  const file = join(house, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function check(): { status: number | null; problems: string[] } {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/check-house.js', house], { encoding: 'utf8' });
  return { status, problems: stderr.split('\n').filter((line) => line !== '') };
}

beforeEach(() => {
  count += 1;
  house = scratch(String(count));
  for (const room of rooms) put(`src/${room}/README.md`, '');
  put('commands/ls.ts', "import { list } from '../src/app/list.ts';\nexport default list;\n");
  put('src/app/list.ts', "import { read } from '../core/read.ts';\nexport const list = read;\n");
  put('src/core/read.ts', 'export const read = 1;\n');
});

describe('check-house', () => {
  test('is content with a house whose rooms import downwards', () => {
    expect(check()).toEqual({ status: 0, problems: [] });
  });

  test.each([
    ['src/core/read.ts', 'core stands below or beside app', "import type { List } from '../app/list.ts';\n"],
    ['src/cdn/hosts.ts', 'cdn stands below or beside store', "const store = await import('../store/store.ts');\n"],
    ['src/cli/run.ts', 'cli uses core, app only', "import { openStore } from '../store/store.ts';\n"],
    ['src/app/sync.ts', 'a verb does not import another', "export { list } from './list.ts';\n"],
    ['src/formats/blte.ts', 'formats does no input or output (node:fs)', "import { readFileSync } from 'node:fs';\n"],
    ['src/app/sync.ts', '121 lines, at most 120', '\n'.repeat(121)],
    ['src/core/long.ts', '351 lines, at most 350', '\n'.repeat(351)],
    ['src/cellar/wine.ts', 'cellar is no room of the house', ''],
  ])('%s: %s', (path, problem, text) => {
    put(path, text);
    const { status, problems } = check();
    expect(status).toBe(1);
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems[0]).toContain(path);
  });

  test('tells a folder of many files, but not of one that is a list', () => {
    for (let i = 0; i < 13; i++) {
      put(`src/store/file-${i}.ts`, '');
      put(`commands/command-${i}.ts`, '');
    }
    expect(check().problems).toEqual([expect.stringContaining('src/store: 13 files')]);
  });
});
