import { expect, test } from '@jest/globals';
import { padText, printable, printableBlock, textWidth, truncateText } from '../../../src/cli/terminal/text.ts';

test('control characters and turned text are written out, letters of all scripts are not', () => {
  expect(printable('a\x1b[31m\r\nb\x9b\x7f')).toBe('a\\x1b[31m\\x0d\\x0ab\\x9b\\x7f');
  expect(printable('exe.\u202egnp')).toBe('exe.\\u202egnp');
  expect(printable('Größe 魔兽世界 мир 🐀')).toBe('Größe 魔兽世界 мир 🐀');
  expect(printableBlock('a\nb\tc')).toBe('a\nb\\x09c');
});

test('width counts columns of a terminal', () => {
  expect(textWidth('abc')).toBe(3);
  expect(textWidth('魔兽')).toBe(4);
  expect(textWidth('e\u0301')).toBe(1);
  expect(textWidth('🐀')).toBe(2);
});

test('cutting keeps to the width', () => {
  expect(truncateText('abcdef', 6)).toBe('abcdef');
  expect(truncateText('abcdefg', 6)).toBe('abcde…');
  expect(truncateText('魔兽世界', 6)).toBe('魔兽…');
  expect(truncateText('abc', 0)).toBe('');
});

test('padding fills to the width, on the side asked', () => {
  expect(padText('魔', 4)).toBe('魔  ');
  expect(padText('7', 3, 'right')).toBe('  7');
  expect(padText('long', 2)).toBe('long');
});
