import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifyExitCode } from '../../src/cli/render/verify.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { pakratJson, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { flipBytes, type StoreCopy, type SyncedStore, syncedStore } from '../support/synced-store.ts';

/* A repair that is killed, and run again. */

const scratch = scratchFolder();

describe('verify --repair that is killed at some moment', () => {
  let synced: SyncedStore;
  let whole: { entries: number; bytes: number };

  beforeAll(async () => {
    synced = await syncedStore(scratch('original'), ['--files', '400', '--total-bytes', '6M']);
    ({ checked: whole } = await synced.copyTo(scratch('whole')).with((pakrat) => pakrat.verify()));
  });
  afterAll(() => synced.cdn.close());

  function damageEverything(store: StoreCopy): void {
    const { archives, indices, configs, loose } = store.objects();
    const flip = (path: string, first: number, step?: number): void =>
      writeFileSync(store.file(path), flipBytes(readFileSync(store.file(path)), first, step));
    for (const path of archives) flip(path, 50, 5000);
    for (const path of [...indices, ...configs, ...loose]) flip(path, 10);
  }

  test.each([250, 350, 450, 550, 700, 900])(
    'after %d ms: run again it mends everything, and hides nothing',
    async (ms) => {
      const store = synced.copyTo(scratch(`after-${ms}`));
      damageEverything(store);
      const args = ['verify', '--repair', '--store', store.root, '--patch-url', synced.cdn.url];
      const { child, ended } = startPakrat(args);
      await Promise.race([ended, sleep(ms)]);
      child.kill('SIGKILL');
      await ended;
      const { status } = await pakratJson(args);
      expect(status).toBe(0);
      const after = await store.with((pakrat) => pakrat.verify());
      expect({ code: verifyExitCode(after), checked: after.checked }).toEqual({ code: 0, checked: whole });
      expect(checkHeldBytes(store.root, join(synced.cdn.root, 'www')).wrong).toEqual([]);
    },
  );
});
