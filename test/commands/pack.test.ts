import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { conformancePath, describeConformance } from '../support/conformance.ts';
import { runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const key = '0123456789abcdef'.repeat(4);
const files: Record<string, string> = {
  'a.txt': 'a text that repeats itself, '.repeat(9000),
  'maps/b.bsp': 'B',
  'maps/deep/empty': '',
};

beforeAll(() => {
  mkdirSync(scratch('files/maps/deep'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(scratch('files', name), text);
});

const variants: [string, string[], string[]][] = [
  ['quake', [], []],
  ['unreal', ['--version', '1'], []],
  ['unreal', ['--version', '3', '--compress', 'zlib', '--mount-point', '../../../Game/'], []],
  ['unreal', ['--version', '8A', '--compress', 'zlib', '--block-size', '4K'], []],
  ['unreal', ['--compress', 'zlib', '--key', key, '--encrypt-index'], ['--key', key]],
  ['nadeo', ['--key', key.slice(0, 32)], ['--key', key.slice(0, 32)]],
  ['nadeo', ['--version', '8'], []],
  ['nadeo', ['--version', '18', '--key', key.slice(0, 32)], ['--key', key.slice(0, 32)]],
];

describe.each(variants)('pack %s %j', (family, flags, reading) => {
  const out = scratch(`${family}-${flags.join('').replaceAll(/\W/g, '').slice(0, 40)}.pak`);

  test('reads back, verifies, and comes out the same again', () => {
    const made = runPakrat(['pack', family, out, scratch('files'), ...flags, '--json']);
    expect(JSON.parse(made.stdout)).toMatchObject({ path: out, files: 3, bytes: expect.any(Number) });
    const bytes = readFileSync(out);
    for (const [name, text] of Object.entries(files)) {
      expect(runPakrat(['cat', out, name, ...reading])).toMatchObject({ status: 0, stdout: text });
    }
    expect(runPakrat(['verify', out, ...reading])).toMatchObject({ status: 0 });
    expect(runPakrat(['pack', family, out, scratch('files'), ...flags]).status).toBe(2);
    expect(runPakrat(['pack', family, out, scratch('files'), ...flags, '--force']).status).toBe(0);
    expect(readFileSync(out).equals(bytes)).toBe(true);
  });
});

describe('pack', () => {
  test('what cannot be packed leaves nothing, and what was there stays', () => {
    mkdirSync(scratch('long'));
    mkdirSync(scratch('made'));
    writeFileSync(scratch('long', 'n'.repeat(57)), '');
    writeFileSync(scratch('made', 'x.pak'), 'old');
    expect(runPakrat(['pack', 'quake', scratch('made', 'x.pak'), scratch('long'), '--force']).status).toBe(2);
    expect(runPakrat(['pack', 'quake', scratch('made', 'y.pak'), scratch('long')]).status).toBe(2);
    expect(runPakrat(['pack', 'unreal', scratch('made', 'y.pak'), scratch('nowhere')]).status).toBe(4);
    expect(runPakrat(['pack', 'unreal', scratch('made', 'y.pak'), scratch('files'), '--version', '12']).status).toBe(2);
    expect(runPakrat(['pack', 'nadeo', scratch('made', 'y.pak'), scratch('files')]).status).toBe(2);
    expect(readdirSync(scratch('made'))).toEqual(['x.pak']);
    expect(readFileSync(scratch('made', 'x.pak'), 'utf8')).toBe('old');
  });
});

describeConformance('pack nadeo', () => {
  test('takes the key for the name of the pack from a packlist.dat', () => {
    const list = `@${conformancePath('pak', 'nadeo', 'packlist.dat')}`;
    const out = scratch('synth.pak');
    expect(runPakrat(['pack', 'nadeo', out, scratch('files'), '--key', list]).status).toBe(0);
    expect(runPakrat(['cat', out, 'maps/b.bsp', '--key', '00112233445566778899aabbccddeeff']).stdout).toBe('B');
    expect(runPakrat(['pack', 'nadeo', scratch('nobody.pak'), scratch('files'), '--key', list]).status).toBe(2);
  });
});
