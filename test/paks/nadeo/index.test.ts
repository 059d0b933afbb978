import { expect, test } from '@jest/globals';
import { nadeo } from '../../../src/paks/nadeo/index.ts';

test('a NadeoPak is told by its first letters, all eight of them', () => {
  const matches = (text: string): boolean => nadeo.matches(new TextEncoder().encode(text), new Uint8Array(0));
  expect(['NadeoPak\u0003\0\0\0', 'NadeoPak', 'NadeoPa', '', 'PACK12345678', 'nadeopak'].map(matches)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
