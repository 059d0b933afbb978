import { expect, test } from '@jest/globals';
import { renderExtract } from '../../../src/cli/render/extract.ts';
import { renderVerify, verifyExitCode } from '../../../src/cli/render/verify.ts';

const checked = { entries: 3, bytes: 2048 };

test('all is right only where something says so', () => {
  expect(renderVerify({ checked, bad: [], repaired: 0 })).toBe('3 entries (2.0 KiB) checked\nall right');
  const unproven = { checked, bad: [], repaired: 0, unproven: { entries: 2, bytes: 1024 } };
  expect(renderVerify(unproven).split('\n')).toEqual([
    '3 entries (2.0 KiB) checked',
    '2 entries (1.0 KiB) checked by their bounds alone: there are no hashes of them',
    'nothing bad found',
  ]);
  expect(verifyExitCode(unproven)).toBe(0);
});

test('thousands of unsure files take a few lines', () => {
  const unsure = Array.from({ length: 5000 }, (_, i) => `file${i}`);
  const lines = renderExtract({ files: 5000, bytes: 1, skipped: 0, failed: [], unsure }, 'out').split('\n');
  expect(lines).toHaveLength(23);
  expect(lines[1]).toMatch(/^5,?000 may be wrong/);
  expect(lines.at(-1)).toMatch(/4,?980 more/);
});
