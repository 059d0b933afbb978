import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { PakOpenOptions } from '../../src/app/session/pak-options.ts';
import { conformancePath, describeConformance } from '../support/conformance.ts';
import { quakePak } from '../support/quake-pak.ts';
import { runPakrat, runShell } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

const scratch = scratchFolder();
const fixtureKey = Buffer.from('CUE4ParseFixtureAESKey0123456789').toString('hex');

function json<Value>(args: readonly string[]): { status: number | null; value: Value } {
  const { status, stdout } = runPakrat([...args, '--json']);
  return { status, value: JSON.parse(stdout) as Value };
}

/** Opens with the library. @returns the names of its files */
function namesIn(source: string, pak: PakOpenOptions = {}): Promise<string[]> {
  return withPakrat({}, async (pakrat) => {
    const opened = await pakrat.open(source, { pak });
    const names: string[] = [];
    for await (const { name } of opened.list()) names.push(name);
    return names;
  });
}

function infoOf(source: string): Promise<unknown> {
  return withPakrat({}, async (pakrat) => (await pakrat.open(source)).info());
}

/** Reads a file with the library. */
function textIn(source: string, name: string, pak: PakOpenOptions = {}): Promise<string> {
  return withPakrat({}, async (pakrat) => {
    const opened = await pakrat.open(source, { pak });
    return Buffer.from(await opened.bytes(name)).toString();
  });
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

  test('ls shows names in order, duplicates and why one is hidden', () => {
    expect(runPakrat(['ls', pak(), '-R']).stdout).toBe('../evil\nb.txt\nb.txt\nmaps/a.bsp\n');
    const { stdout } = runPakrat(['ls', pak(), '--long']);
    expect(stdout.split('\n').map((line) => line.trimEnd())).toEqual([
      'index  size  stored  offset  method  name',
      '                                     ../',
      '    1     5       5      13  none    b.txt',
      '    2     6       6      18  none    b.txt  (shadowed: entry 1 has the same name and comes first)',
      '                                     maps/',
      '',
    ]);
    const rows = json<Record<string, unknown>[]>(['ls', pak(), 'b.txt']).value;
    expect(rows).toMatchObject([
      { name: 'b.txt', size: 5, storedSize: 5, method: 'none', encrypted: false, index: 1 },
      { index: 2, hidden: 'shadowed' },
    ]);
  });

  test('cat, and exit 4 for what is not there', async () => {
    expect(runPakrat(['cat', pak(), 'b.txt'])).toMatchObject({ status: 0, stdout: 'first' });
    expect(await textIn(pak(), 'index:2')).toBe('hidden');
    expect(runPakrat(['cat', pak(), 'none']).status).toBe(4);
    await expect(namesIn(scratch('none.pak'))).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
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

  test('what is no PAK is told for what it is', async () => {
    writeFileSync(scratch('x.pak'), 'PK\x03\x04 and more');
    await expect(namesIn(scratch('x.pak'))).rejects.toMatchObject({
      code: 'E_FORMAT_MAGIC',
      message: expect.stringContaining('ZIP'),
    });
    mkdirSync(scratch('empty'), { recursive: true });
    await expect(namesIn(scratch('empty'))).rejects.toMatchObject({ code: expect.stringMatching(/^E_FORMAT/) });
  });

  test('bad flags are errors of usage', async () => {
    await expect(namesIn(pak(), { encoding: 'none-such' })).rejects.toMatchObject({ code: 'E_USAGE' });
    await expect(namesIn(pak(), { key: 'zz' })).rejects.toMatchObject({ code: 'E_USAGE' });
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
  const [, extracted] = [
    ['ls', path],
    ['extract', path, 'a/*', 'B.TXT', '--to', scratch('red')],
    ['verify', path],
  ].map((args) => {
    const run = runPakrat(args);
    expect(run.stdout + run.stderr).not.toContain('\x1b');
    return run;
  });
  expect(extracted!.stdout).toContain('\\x1b[31mred');
  expect(extracted!.stderr).toContain('ignoring case');
  const cat = runPakrat(['cat', path, 'B.TXT']);
  expect(cat).toMatchObject({ status: 0, stderr: expect.stringContaining('ignoring case') });
  expect(runPakrat(['cat', path, 'b.txt'])).toMatchObject({ stdout: 'B', stderr: '' });
});

test('a game directory is a source: files in the order of the engine', async () => {
  mkdirSync(scratch('quake', 'ID1'), { recursive: true });
  mkdirSync(scratch('quake', 'mod'));
  writeFileSync(scratch('quake', 'ID1', 'PAK0.PAK'), quakePak([{ name: 'a.txt', content: 'pak0' }]));
  writeFileSync(scratch('quake', 'ID1', 'pak1.pak'), quakePak([{ name: 'a.txt', content: 'pak1' }]));
  writeFileSync(scratch('quake', 'ID1', 'a.txt'), 'loose');
  writeFileSync(scratch('quake', 'mod', 'a.txt'), 'mod');
  expect(await textIn(scratch('quake'), 'a.txt')).toBe('pak1');
  expect(runPakrat(['cat', scratch('quake', 'ID1'), 'a.txt', '--game', 'mod']).stdout).toBe('mod');
  expect(await textIn(scratch('quake'), 'A.TXT', { engine: 'quake2' })).toBe('pak1');
  expect(runPakrat(['ls', scratch('quake'), '-R', '--long']).stdout).toMatch(/^ +0 .* ID1\/pak1\.pak +a\.txt$/m);
  expect(await infoOf(scratch('quake'))).toMatchObject({ kind: 'pak', engine: 'quake', entries: 3, hidden: 2 });
});

describeConformance('real PAKs', () => {
  const unreal = (...path: string[]): string => conformancePath('pak', 'unreal', ...path);
  const locked = unreal('cue4parse', 'CUE4ParseFixtures-Legacy-Tagged-OodleEncrypted.pak');

  test('keys come as hex, as base64, and in a file', async () => {
    expect(runPakrat(['ls', locked]).status).toBe(7);
    expect(await infoOf(locked)).toMatchObject({ family: 'unreal', locked: true, encryption: 'AES-256-ECB' });
    writeFileSync(scratch('key'), `0x${fixtureKey.toUpperCase()}\n`);
    const base64 = Buffer.from(fixtureKey, 'hex').toString('base64');
    for (const key of [fixtureKey, `0x${fixtureKey}`, base64]) {
      expect(await namesIn(locked, { key: ['ff'.repeat(32), key] })).toHaveLength(11);
    }
    const { status, value } = json<unknown[]>([
      'ls',
      locked,
      '-R',
      '--key',
      'ff'.repeat(32),
      '--key',
      `@${scratch('key')}`,
    ]);
    expect({ status, count: value.length }).toEqual({ status: 0, count: 11 });
    const wrong = await namesIn(locked, { key: 'not a key' }).catch((error: unknown) => error);
    expect(wrong).toMatchObject({ code: 'E_USAGE', message: expect.not.stringContaining('not a key') });
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

  test('Oodle is decoded by a module of one’s own, when one is named', async () => {
    const path = unreal('cue4parse', 'CUE4ParseFixtures-Legacy-Tagged-Oodle.pak');
    const oodle = await withPakrat({}, async (pakrat) => {
      for await (const { name, size, facts } of (await pakrat.open(path)).list())
        if (facts.method === 'oodle') return { name, size: size ?? 0 };
      throw new Error('no entry is of Oodle');
    });
    writeFileSync(
      scratch('decoder.mjs'),
      'export const decompress = (bytes, size) => new Uint8Array(size).fill(0x41);',
    );
    writeFileSync(scratch('none.mjs'), 'export const other = 1;');
    const cat = runPakrat(['cat', path, oodle.name, '--oodle', scratch('decoder.mjs')]);
    expect(cat).toMatchObject({ status: 0, stdout: 'A'.repeat(oodle.size) });
    await expect(textIn(path, oodle.name, { oodle: scratch('none.mjs') })).rejects.toMatchObject({
      code: 'E_USAGE',
      message: expect.stringContaining('decompress'),
    });
    await expect(textIn(path, oodle.name, { oodle: scratch('nowhere.mjs') })).rejects.toMatchObject({
      code: 'E_UNSUPPORTED',
      message: expect.stringContaining('nowhere.mjs'),
    });
  });

  test('threads write what one thread writes', async () => {
    const path = unreal('repak', 'pack_v5.pak');
    const to = scratch('one');
    await withPakrat({}, async (pakrat) => {
      expect(await pakrat.extract(path, { to, jobs: 1 })).toMatchObject({ files: 4 });
    });
    expect(json(['extract', path, '--to', scratch('two'), '--jobs', '2']).value).toMatchObject({ files: 4 });
    for (const name of ['test.png', 'test.txt', 'zeros.bin', 'directory/nested.txt']) {
      expect(readFileSync(scratch('two', name)).equals(readFileSync(scratch('one', name)))).toBe(true);
    }
  });

  test('NadeoPaks open with the packlist.dat beside them, with an imported one, and not without', async () => {
    const nadeo = (name: string): string => conformancePath('pak', 'nadeo', name);
    const file = 'Scripts/Readme.txt';
    const text = await textIn(nadeo('Synth.pak'), file);
    expect(text).toHaveLength(11);
    copyFileSync(nadeo('Synth.pak'), scratch('Synth.pak'));
    const store = ['--store', scratch('store')];
    const alone = withPakrat({ store: scratch('store') }, async (pakrat) =>
      (await pakrat.open(scratch('Synth.pak'))).bytes(file),
    );
    await expect(alone).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
    expect(existsSync(scratch('store'))).toBe(false);
    await withPakrat({ store: scratch('store') }, async (pakrat) => {
      expect(await pakrat.keys.import([nadeo('packlist.dat')])).toMatchObject({ read: 2, added: 2 });
    });
    expect(runPakrat(['cat', scratch('Synth.pak'), file, ...store]).stdout).toBe(text);
    const raw = runPakrat(['cat', scratch('Synth.pak'), file, '--raw', ...store]);
    expect(raw.status).toBe(0);
    expect(raw.stdout).not.toBe(text);
  });
});
