import { expect, test } from '@jest/globals';
import { isPakratError, resultUnless } from '../../../src/core/errors.ts';
import { outputPath } from '../../../src/files/output/output-path.ts';
import { randomSource } from '../../support/hostile.ts';

const unsafe = expect.objectContaining({ code: 'E_UNSAFE_PATH' });

test.each(['../out', 'a/../../out', 'C:\\x', 'a//b', 'a/.', './', '/', 'aux.txt', 'dot.', 'a\0b', 'x'.repeat(300)])(
  '%j is no path to write to',
  (name) => {
    expect(() => outputPath(name)).toThrow(unsafe);
  },
);

test.each([
  ['./a', 'a'],
  ['/etc/passwd', 'etc/passwd'],
  ['a/./b', 'a/b'],
  ['\\\\server\\x', 'server/x'],
])('%j is the path %s below the folder', (name, path) => {
  expect(outputPath(name)).toBe(path);
});

test('names at random are safe, or refused', () => {
  const random = randomSource(5);
  const signs = ['a', 'B', '7', '_', '-', '.', ' ', '/', 'con', 'nul', 'com1', 'é', '$', ':', '\\', 'prn.x'];
  let taken = 0;
  for (let i = 0; i < 20_000; i++) {
    const name = Array.from(
      { length: 1 + Math.floor(random() * 6) },
      () => signs[Math.floor(random() * signs.length)],
    ).join('');
    const path = resultUnless(isPakratError, () => outputPath(name));
    if (path === undefined) continue;
    taken += 1;
    for (const part of path.split('/')) {
      expect(part).not.toMatch(/^$|[:\\]|[. ]$|^(con|prn|nul|com1)(\..*)?$/i);
    }
  }
  expect(taken).toBeGreaterThan(2000);
});
