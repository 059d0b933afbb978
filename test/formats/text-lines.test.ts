import { describe, expect, test } from '@jest/globals';
import {
  firstLine,
  headLines,
  joinText,
  lineNumber,
  plainFrame,
  quoteLine,
  splitText,
} from '../../src/formats/text-lines.ts';
import { codeThrownBy } from './text.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const form = { passesOver: (line: string) => line === '' || line.startsWith('#'), lead: /^\ufeff?/ };

describe('a text', () => {
  test.each([
    '',
    '\n',
    'a',
    'a\n',
    '\ufeffa\nb\n',
    '# one\n\na\n# two\nb\n# three\n',
    'a\r\n\r\nb',
    '#\r\n',
    'a\n\n\n',
  ])('%j is joined as it was split', (text) => {
    const { lines, frame } = splitText(bytes(text), 'test', form);
    expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(joinText(lines, frame))).toBe(text);
    expect(lines).toEqual(text.match(/[ab]/g) ?? []);
  });

  test('gets lines more or less between the lines that are passed over', () => {
    const { frame } = splitText(bytes('# top\na\n# mid\nb\n# end'), 'test', form);
    expect(Buffer.from(joinText(['a', 'b', 'c'], frame)).toString()).toBe('# top\na\n# mid\nb\n# end\nc');
    expect(Buffer.from(joinText(['a'], frame)).toString()).toBe('# top\na\n# mid\n# end');
    expect(Buffer.from(joinText(['a'], plainFrame)).toString()).toBe('a\n');
  });

  test('knows the numbers of its lines', () => {
    const { frame } = splitText(bytes('# top\na\n# mid\nb\n'), 'test', form);
    expect([lineNumber(frame, 0), lineNumber(frame, 1)]).toEqual([2, 4]);
  });

  test('with a NUL is none', () => {
    expect(codeThrownBy(() => splitText(bytes('a\0b'), 'test', form))).toBe('E_FORMAT');
    expect([headLines(bytes('a\0b')), firstLine(bytes('a\0b'))]).toEqual([[], '']);
  });
});

test('the first line of a head that says something', () => {
  expect(firstLine(bytes('\ufeff# one\r\n\r\n  a b\r\nc'))).toBe('  a b');
  expect(headLines(bytes('a\nb'))).toEqual(['a', 'b']);
});

test('a long line is quoted in short', () => {
  expect(quoteLine('a"')).toBe('"a\\""');
  expect(quoteLine('x'.repeat(100))).toHaveLength(63);
});
