import { afterAll, expect, test } from '@jest/globals';
import type { Finding } from '../../src/keep/check-store.ts';
import type { KnownObject } from '../../src/keep/known-objects.ts';
import type { DamagedEntry } from '../../src/keep/store-checks.ts';
import { VerifyRun } from '../../src/keep/verify-run.ts';
import { objectPath } from '../../src/store/layout.ts';
import { openStore } from '../../src/store/store.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const store = openStore(scratch('store'), { create: true });
afterAll(() => store.close());

const name = { cdnPath: 'tpr/wow', kind: 'data' as const, hash: 'ab'.repeat(16) };
const path = objectPath(name);
const archive: KnownObject = { path, name, form: 'archive', complete: false, lost: false, size: 0 };

const entryAt = (offset: number): DamagedEntry => ({
  ekey: 'e'.repeat(32),
  offset,
  size: 100,
  raw: false,
  start: offset,
  end: offset + 100,
  code: 'E_INTEGRITY',
  message: 'wrong',
});

test('damaged entries are not held any more once something else was looked at, whatever comes of the rest', async () => {
  store.ledger.addSpans(path, [{ start: 0, end: 1000 }]);
  const run = new VerifyRun(store, undefined, () => {});
  const left: unknown[] = [];
  async function* findings(): AsyncGenerator<Finding> {
    yield { bytes: 500, entries: 5, damaged: { object: archive, entries: [entryAt(100), entryAt(200)] } };
    yield { bytes: 400, entries: 4, damaged: { object: archive, entries: [entryAt(600)] } };
    yield { bytes: 100, entries: 1 };
    left.push(...store.ledger.spans(path));
    yield { bytes: 100, entries: 1, damaged: { object: archive, entries: [entryAt(900)] } };
    throw new Error('the disk is gone');
  }
  await expect(run.take(findings())).rejects.toThrow('the disk is gone');
  expect(left).toEqual([
    { start: 0, end: 100 },
    { start: 300, end: 600 },
    { start: 700, end: 1000 },
  ]);
  expect(store.ledger.spans(path)).toEqual([
    { start: 0, end: 100 },
    { start: 300, end: 600 },
    { start: 700, end: 900 },
  ]);
  expect(run.result.checked).toEqual({ entries: 11, bytes: 1100 });
  expect(run.damages).toMatchObject([{ count: 4, bytes: 400, spans: [{ start: 100, end: 300 }, {}, {}] }]);
});
