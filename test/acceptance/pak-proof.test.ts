import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { legacyPak, unrealPak } from '../support/pak-unreal.ts';
import { quakePak } from '../support/quake-pak.ts';
import { runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const zeros = '0'.repeat(64);

function planted(name: string, bytes: Uint8Array): string {
  writeFileSync(scratch(name), bytes);
  return scratch(name);
}

test('a hole over an entry and its record is exit 3, whatever reads it', () => {
  const content = Buffer.from('a content that is lost');
  const bytes = unrealPak([{ name: 'a.txt', content }], { version: 11 });
  const pak = planted('hole.pak', bytes.fill(0, 0, 53 + content.length));
  const cat = runPakrat(['cat', pak, 'a.txt']);
  expect([cat.status, cat.stdout]).toEqual([3, '']);
  for (const to of [scratch('hole'), '-']) {
    expect(runPakrat(['extract', pak, '--to', to]).status).toBe(3);
    expect(runPakrat(['extract', pak, '--to', to, '--ignore-hashes']).status).toBe(0);
  }
  expect(runPakrat(['verify', pak]).status).toBe(3);
});

test.each(['5', '7', '8A', '9'])('version %s, entries encrypted alone: the key that fits, and no other', (version) => {
  const [from, to, pak] = [scratch('from'), scratch(`to-${version}`), scratch(`key-${version}.pak`)];
  mkdirSync(from, { recursive: true });
  writeFileSync(`${from}/a.txt`, 'some text, and its padding');
  const key = '1f'.repeat(32);
  expect(runPakrat(['pack', 'unreal', pak, from, '--version', version, '--key', key]).status).toBe(0);
  expect(runPakrat(['extract', pak, '--to', to, '--key', zeros]).status).toBe(7);
  expect(readdirSync(to)).toEqual([]);
  expect(runPakrat(['extract', pak, '--to', to, '--key', zeros, '--key', key]).status).toBe(0);
  expect(readFileSync(`${to}/a.txt`, 'utf8')).toBe('some text, and its padding');
});

test('what a key decrypts that nothing proves is given out, and said to be unsure', () => {
  const content = Buffer.from(Array.from({ length: 64 }, (_, i) => (i * i * 37 + 11) & 0xff));
  const sealed = unrealPak([{ name: 'a', content }], { version: 11, key: Buffer.alloc(32, 1), encryptData: true });
  const pak = planted('sealed.pak', sealed);
  const cat = runPakrat(['cat', pak, 'a', '--key', zeros]);
  expect([cat.status, cat.stderr]).toEqual([0, expect.stringContaining('a may be wrong')]);
  const extracted = runPakrat(['extract', pak, '--to', scratch('unsure'), '--key', zeros, '--json']);
  expect([extracted.status, JSON.parse(extracted.stdout)]).toEqual([0, expect.objectContaining({ unsure: ['a'] })]);
});

test('thousands of entries without a hash are counted, by threads too', () => {
  const rows = Array.from({ length: 1500 }, (_, i) => ({ name: `f${i}`, content: 'four' }));
  const { status, stdout } = runPakrat(['verify', planted('many.pak', quakePak(rows)), '--json']);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ bad: [], unproven: { entries: 1500, bytes: 6000 } });
  expect(runPakrat(['verify', scratch('many.pak')]).stdout).toMatch(/1,?500 entries .* by their bounds alone/);
});

test('--decode finds what was hashed although it is wrong, in threads too', () => {
  const content = Buffer.from('a content of its own size');
  const row = { content, blocks: [deflateSync(content)], method: 1 };
  const rows = Array.from({ length: 1500 }, (_, i) => ({ ...row, name: `f${i}`, ...(i === 700 && { size: 24 }) }));
  const pak = planted('decode.pak', legacyPak(rows, { version: 4 }));
  expect(runPakrat(['verify', pak]).stdout).toContain('all right');
  const { status, stdout } = runPakrat(['verify', pak, '--decode', '--json']);
  expect(status).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ checked: { entries: 1500 }, bad: [{ name: 'f700', index: 700 }] });
});
