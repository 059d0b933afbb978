import { expect, test } from '@jest/globals';
import type { ImportReport } from '../../../src/app/import.ts';
import { importExitCode, renderImport } from '../../../src/cli/render/import.ts';

const nothing: ImportReport = {
  folder: 'mirror\u001b[2J',
  dryRun: false,
  builds: [],
  taken: { objects: 0, entries: 0, bytes: 0 },
  linked: { objects: 0, bytes: 0 },
  held: { objects: 0, entries: 0, bytes: 0 },
  lacking: { entries: 0, bytes: 0 },
  damaged: [],
  unknown: [],
  unlisted: 0,
  others: 0,
};

test('what was taken is told, and names from outside do nothing to a terminal', () => {
  const text = renderImport({ ...nothing, taken: { objects: 2, entries: 1, bytes: 2048 }, unlisted: 1 });
  expect(text).toContain('2 objects, 1 entry, 2.0 KiB');
  expect(text).toContain('pakrat gc');
  expect(text).not.toContain('\u001b');
  expect(importExitCode(nothing)).toBe(0);
});

test('damage is told by its archive, ends with 3, and stays short', () => {
  const damaged = Array.from({ length: 3 }, (_, i) => ({
    name: `tpr/wow/data/aa/bb/aabb ${String(i).repeat(32)}`,
    code: 'E_INTEGRITY',
    message: 'it is wrong',
  }));
  const unknown = Array.from({ length: 60 }, (_, i) => ({ name: `link${i}`, message: 'it is a link' }));
  const report = { ...nothing, damaged, unknown };
  const text = renderImport(report);
  expect(text).toContain('tpr/wow/data/aa/bb/aabb: 3 entries: it is wrong');
  expect(text).toContain('and 10 more');
  expect(importExitCode(report)).toBe(3);
});
