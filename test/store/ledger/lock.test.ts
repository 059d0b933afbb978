import { expect, test } from '@jest/globals';
import { lockStore } from '../../../src/store/ledger/lock.ts';
import { builtModule } from '../../support/built-module.ts';
import { runInChild } from '../../support/child.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const lockModule = builtModule('src/store/ledger/lock.ts');

/** Another process that takes the lock with the built program and keeps it. */
function holder(path: string): ReturnType<typeof runInChild> {
  return runInChild(`
    import { lockStore } from '${lockModule}';
    const release = lockStore(${JSON.stringify(path)});
    console.log('locked');
    setInterval(() => release.length, 1000);
  `);
}

test('a second process is refused, and is let in when the first one died', async () => {
  const path = scratch('killed.db');
  const other = holder(path);
  try {
    await other.says('locked');
    expect(() => lockStore(path)).toThrow(
      expect.objectContaining({ code: 'E_STORE_LOCKED', hint: expect.stringContaining('--store') }),
    );
  } finally {
    await other.kill();
  }
  lockStore(path)();
});

test('the lock is given back, and can be taken again and again', () => {
  const path = scratch('again.db');
  for (let i = 0; i < 3; i++) {
    const release = lockStore(path);
    expect(() => lockStore(path)).toThrow(expect.objectContaining({ code: 'E_STORE_LOCKED' }));
    release();
  }
});

test('a place where no lock can be made is the store’s trouble, not a bug', () => {
  expect(() => lockStore(scratch())).toThrow(expect.objectContaining({ code: 'E_STORE' }));
});
