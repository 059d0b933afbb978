import { expect, test } from '@jest/globals';
import { parseRate, parseTags } from '../../../src/cli/flags/parse-values.ts';

const usage = expect.objectContaining({ code: 'E_USAGE' });

test('a rate is above zero', () => {
  expect(parseRate(undefined)).toBeUndefined();
  expect(parseRate('20M')).toBe(20 << 20);
  expect(() => parseRate('0')).toThrow(usage);
});

test('tags stand between commas; none at all would be the whole build', () => {
  expect(parseTags(undefined)).toEqual([]);
  expect(parseTags('Windows, x86_64 ,')).toEqual(['Windows', 'x86_64']);
  expect(() => parseTags(' , ')).toThrow(usage);
});
