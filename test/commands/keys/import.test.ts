import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { conformancePath, describeConformance } from '../../support/conformance.ts';
import { runPakrat, runShell } from '../../support/run-pakrat.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { withPakrat } from '../../support/with-pakrat.ts';

const scratch = scratchFolder();

describe('keys', () => {
  test('what was imported is listed, cut short unless --show', () => {
    const store = scratch('store');
    writeFileSync(scratch('mine.txt'), 'FA505078126ACB3E BDC51862ABED79B2DE48C8E7E66C6200\n');
    const imported = runPakrat(['keys', 'import', scratch('mine.txt'), '--store', store, '--json']);
    expect(imported.status).toBe(0);
    expect(JSON.parse(imported.stdout)).toEqual({ read: 1, added: 1, changed: 0 });
    expect(runPakrat(['keys', 'import', scratch('mine.txt'), '--store', store]).stdout).toBe(
      '1 keys read: 0 new, 0 changed.\n',
    );

    const list = (...args: string[]): string => runPakrat(['keys', 'list', '--store', store, ...args]).stdout;
    expect(list()).toMatch(/^fa505078126acb3e +bdc5… +mine\.txt$/m);
    expect(list('--json')).not.toContain('bdc51862');
    expect(list('--show')).toContain('bdc51862abed79b2de48c8e7e66c6200');
    expect(JSON.parse(list('--show', '--json'))).toEqual([
      { name: 'fa505078126acb3e', key: 'bdc51862abed79b2de48c8e7e66c6200', source: 'mine.txt' },
    ]);
  });

  test('a file that is not there: exit 4; one that holds no keys: exit 5, with file and line', async () => {
    const store = scratch('other');
    expect(runPakrat(['keys', 'import', scratch('none'), '--store', store]).status).toBe(4);
    writeFileSync(scratch('bad.txt'), 'FA505078126ACB3E BDC51862ABED79B2DE48C8E7E66C6200\nhello\n');
    const { status, stderr } = runPakrat(['keys', 'import', scratch('bad.txt'), '--store', store]);
    expect(status).toBe(5);
    expect(stderr).toContain('bad.txt');
    expect(stderr).toContain('line 2');
    await withPakrat({ store }, async (pakrat) => {
      expect(await pakrat.keys.list()).toEqual([]);
    });
    expect(runPakrat(['keys', 'import', scratch(), '--store', store]).status).toBe(2);
  });

  test('without a store there is nothing to list, and none is made', () => {
    expect(runPakrat(['keys', 'list', '--store', scratch('nowhere')]).status).toBe(4);
    expect(existsSync(scratch('nowhere'))).toBe(false);
  });

  test('a reader that goes away ends a long list quietly', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i.toString(16).padStart(16, '0')} ${'ab'.repeat(16)}\n`);
    writeFileSync(scratch('many.txt'), lines.join(''));
    const store = scratch('many');
    await withPakrat({ store }, (pakrat) => pakrat.keys.import([scratch('many.txt')]));
    for (const json of ['', '--json']) {
      const { stdout, stderr } = runShell(
        `{ pakrat keys list --store ${store} ${json}; echo "exit $?" >&2; } | head -n 1`,
      );
      expect(stdout).toMatch(json === '' ? /^NAME/ : /^\[/);
      expect(stderr).toBe('exit 0\n');
    }
  });
});

describeConformance('keys, the public list', () => {
  test('is read whole', async () => {
    const list = conformancePath('tact', 'TACTKeys', 'WoW-first-100.txt');
    const store = scratch('public');
    const read = await withPakrat({ store }, (pakrat) => pakrat.keys.import([list]));
    expect(read).toEqual({ read: 100, added: 100, changed: 0 });
  });
});
