import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { conformancePath, describeConformance } from '../support/conformance.ts';
import { quakePak } from '../support/quake-pak.ts';
import { runPakrat, runShell } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const fixtureKey = Buffer.from('CUE4ParseFixtureAESKey0123456789').toString('hex');

function json<Value>(args: readonly string[]): { status: number | null; value: Value } {
  const { status, stdout } = runPakrat([...args, '--json']);
  return { status, value: JSON.parse(stdout) as Value };
}

describe('a PAK by its path', () => {
  const pak = (): string => {
    const path = scratch('a.pak');
    writeFileSync(
      path,
      quakePak([
        { name: 'maps/a.bsp', content: 'A' },
        { name: 'b.txt', content: 'first' },
        { name: 'b.txt', content: 'hidden' },
        { name: '../evil', content: 'E' },
      ]),
    );
    return path;
  };

  test('ls shows order, duplicates and why one is hidden', () => {
    const { stdout } = runPakrat(['ls', pak()]);
    expect(stdout.split('\n').map((line) => line.trim())).toEqual([
      '1  maps/a.bsp',
      '5  b.txt',
      '6  b.txt  (shadowed: entry 1 has the same name and comes first)',
      '1  ../evil',
      '',
    ]);
    const rows = json<Record<string, unknown>[]>(['ls', pak(), 'b.txt']).value;
    expect(rows).toMatchObject([
      { name: 'b.txt', size: 5, storedSize: 5, method: 'none', encrypted: false, index: 1 },
      { index: 2, hidden: 'shadowed' },
    ]);
    expect(runPakrat(['ls', pak(), '--long']).stdout).toMatch(/^ +0 +1 +1 +none +maps\/a\.bsp$/m);
  });

  test('cat, and exit 4 for what is not there', () => {
    expect(runPakrat(['cat', pak(), 'b.txt'])).toMatchObject({ status: 0, stdout: 'first' });
    expect(runPakrat(['cat', pak(), 'index:2']).stdout).toBe('hidden');
    expect(runPakrat(['cat', pak(), 'none']).status).toBe(4);
    expect(runPakrat(['cat', scratch('none.pak'), 'x']).status).toBe(4);
  });

  test('extract: exit 8 for an unsafe name, the others written', () => {
    const { status, value } = json(['extract', pak(), '--to', scratch('in', 'out')]);
    expect(status).toBe(8);
    expect(value).toMatchObject({ files: 2, bytes: 6, failed: [{ name: '../evil', code: 'E_UNSAFE_PATH' }] });
    expect(readdirSync(scratch('in'), { recursive: true }).sort()).toEqual([
      'out',
      'out/b.txt',
      'out/maps',
      'out/maps/a.bsp',
    ]);
  });

  test('extract --to - is a tar, and only a tar', () => {
    const line = `pakrat extract ${pak()} --exclude evil --to - | tar t`;
    expect(runShell(line)).toMatchObject({ stdout: 'maps/a.bsp\nb.txt\n' });
    expect(runPakrat(['extract', pak(), '--to', '-', '--json']).status).toBe(2);
  });

  test('what is no PAK is told for what it is', () => {
    writeFileSync(scratch('x.pak'), 'PK\x03\x04 and more');
    const { status, value } = json(['ls', scratch('x.pak')]);
    expect(status).toBe(5);
    expect(value).toMatchObject({ error: { code: 'E_FORMAT_MAGIC', message: expect.stringContaining('ZIP') } });
    mkdirSync(scratch('empty'), { recursive: true });
    expect(runPakrat(['ls', scratch('empty')]).status).toBe(5);
  });

  test('bad flags are errors of usage', () => {
    expect(runPakrat(['ls', pak(), '--key', 'zz']).status).toBe(2);
    expect(runPakrat(['ls', pak(), '--encoding', 'none-such']).status).toBe(2);
    expect(runPakrat(['extract', pak(), '--flat', '--strip', '1', '--to', scratch('n')]).status).toBe(2);
    expect(runPakrat(['ls', pak(), '--ignore-magic', '--force-version', '3', '--encoding', 'latin1']).status).toBe(0);
  });
});

test('control characters of names do not reach a terminal, and a name found by ignoring case is told', () => {
  const path = scratch('red.pak');
  writeFileSync(
    path,
    quakePak([
      { name: 'a/\x1b[31mred', content: 'x' },
      { name: 'b.txt', content: 'B' },
    ]),
  );
  for (const args of [
    ['ls', path],
    ['extract', path, '--to', scratch('red')],
    ['verify', path],
  ]) {
    const { stdout, stderr } = runPakrat(args);
    expect(stdout + stderr).not.toContain('\x1b');
  }
  expect(runPakrat(['extract', path, '--to', scratch('red')]).stdout).toContain('\\x1b[31mred');
  for (const args of [
    ['cat', path, 'B.TXT'],
    ['extract', path, 'B.TXT', '--to', scratch('red')],
  ]) {
    expect(runPakrat(args)).toMatchObject({ status: 0, stderr: expect.stringContaining('ignoring case') });
  }
  expect(runPakrat(['cat', path, 'b.txt'])).toMatchObject({ stdout: 'B', stderr: '' });
});

test('a game directory is a source: files in the order of the engine', () => {
  mkdirSync(scratch('quake', 'ID1'), { recursive: true });
  mkdirSync(scratch('quake', 'mod'));
  writeFileSync(scratch('quake', 'ID1', 'PAK0.PAK'), quakePak([{ name: 'a.txt', content: 'pak0' }]));
  writeFileSync(scratch('quake', 'ID1', 'pak1.pak'), quakePak([{ name: 'a.txt', content: 'pak1' }]));
  writeFileSync(scratch('quake', 'ID1', 'a.txt'), 'loose');
  writeFileSync(scratch('quake', 'mod', 'a.txt'), 'mod');
  expect(runPakrat(['cat', scratch('quake'), 'a.txt']).stdout).toBe('pak1');
  expect(runPakrat(['cat', scratch('quake', 'ID1'), 'a.txt', '--game', 'mod']).stdout).toBe('mod');
  expect(runPakrat(['cat', scratch('quake'), 'A.TXT', '--engine', 'quake2']).stdout).toBe('pak1');
  expect(runPakrat(['ls', scratch('quake'), '--long']).stdout).toContain('[ID1/pak1.pak]');
  expect(json(['info', scratch('quake')]).value).toMatchObject({ kind: 'pak', engine: 'quake', entries: 3, hidden: 2 });
});

describeConformance('real PAKs', () => {
  const unreal = (...path: string[]): string => conformancePath('pak', 'unreal', ...path);
  const locked = unreal('cue4parse', 'CUE4ParseFixtures-Legacy-Tagged-OodleEncrypted.pak');

  test('keys come as hex, as base64, and in a file', () => {
    expect(runPakrat(['ls', locked]).status).toBe(7);
    expect(json(['info', locked]).value).toMatchObject({ family: 'unreal', locked: true, encryption: 'AES-256-ECB' });
    writeFileSync(scratch('key'), `0x${fixtureKey.toUpperCase()}\n`);
    const base64 = Buffer.from(fixtureKey, 'hex').toString('base64');
    for (const key of [fixtureKey, `0x${fixtureKey}`, base64, `@${scratch('key')}`]) {
      const { status, value } = json<unknown[]>(['ls', locked, '--key', 'ff'.repeat(32), '--key', key]);
      expect({ status, count: value.length }).toEqual({ status: 0, count: 11 });
    }
    expect(runPakrat(['info', locked, '--key', 'not a key']).stderr).not.toContain('not a key');
  });

  test('entries that cannot be decoded leave nothing behind, and say why', () => {
    const path = unreal('cue4parse', 'CUE4ParseFixtures-Legacy-Tagged-Oodle.pak');
    const { status, value } = json<{ failed: { code: string }[]; files: number }>([
      'extract',
      path,
      '--to',
      scratch('oodle'),
    ]);
    const written = readdirSync(scratch('oodle'), { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    expect(written).toHaveLength(value.files);
    // Without the optional library those entries are refused; with it nothing fails.
    expect(new Set(value.failed.map(({ code }) => code)).size).toBeLessThanOrEqual(1);
    expect(status).toBe(value.failed.length > 0 ? 6 : 0);
  });

  test('Oodle is decoded by a module of one’s own, when one is named', () => {
    const path = unreal('cue4parse', 'CUE4ParseFixtures-Legacy-Tagged-Oodle.pak');
    const oodle = json<{ name: string; size: number; method: string }[]>(['ls', path]).value.find(
      ({ method }) => method === 'oodle',
    )!;
    writeFileSync(
      scratch('decoder.mjs'),
      'export const decompress = (bytes, size) => new Uint8Array(size).fill(0x41);',
    );
    writeFileSync(scratch('none.mjs'), 'export const other = 1;');
    const cat = (module: string) => runPakrat(['cat', path, oodle.name, '--oodle', scratch(module)]);
    expect(cat('decoder.mjs')).toMatchObject({ status: 0, stdout: 'A'.repeat(oodle.size) });
    expect(cat('none.mjs')).toMatchObject({ status: 2, stderr: expect.stringContaining('decompress') });
    expect(cat('nowhere.mjs')).toMatchObject({ status: 6, stderr: expect.stringContaining('nowhere.mjs') });
  });

  test('threads write what one thread writes', () => {
    const path = unreal('repak', 'pack_v5.pak');
    expect(json(['extract', path, '--to', scratch('one'), '--jobs', '1']).value).toMatchObject({ files: 4 });
    expect(json(['extract', path, '--to', scratch('two'), '--jobs', '2']).value).toMatchObject({ files: 4 });
    for (const name of ['test.png', 'test.txt', 'zeros.bin', 'directory/nested.txt']) {
      expect(readFileSync(scratch('two', name)).equals(readFileSync(scratch('one', name)))).toBe(true);
    }
  });

  test('NadeoPaks open with the packlist.dat beside them, with an imported one, and not without', () => {
    const nadeo = (name: string): string => conformancePath('pak', 'nadeo', name);
    const file = 'Scripts/Readme.txt';
    expect(runPakrat(['cat', nadeo('Synth.pak'), file]).stdout).toHaveLength(11);
    copyFileSync(nadeo('Synth.pak'), scratch('Synth.pak'));
    const store = ['--store', scratch('store')];
    expect(runPakrat(['cat', scratch('Synth.pak'), file, ...store]).status).toBe(7);
    expect(existsSync(scratch('store'))).toBe(false);
    expect(json(['keys', 'import', nadeo('packlist.dat'), ...store]).value).toMatchObject({ read: 2, added: 2 });
    expect(runPakrat(['cat', scratch('Synth.pak'), file, ...store]).stdout).toHaveLength(11);
    const raw = runPakrat(['cat', scratch('Synth.pak'), file, '--raw', ...store]);
    expect(raw.status).toBe(0);
    expect(raw.stdout).not.toBe(runPakrat(['cat', nadeo('Synth.pak'), file]).stdout);
  });
});
