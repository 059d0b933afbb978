import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifyExitCode } from '../../src/cli/render/verify.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { randomSource } from '../support/hostile.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { flipBytes, type StoreCopy, type SyncedStore, syncedStore } from '../support/synced-store.ts';

/* A repair that is killed, and run again. */

const scratch = scratchFolder();
/** Milliseconds after which it is killed: a few, or as many random ones as a soak wants. */
const random = randomSource(Date.now());
const someMoments = Array.from({ length: Number(process.env.PAKRAT_MOMENTS ?? 0) }, () =>
  Math.round(200 + random() * 1300),
);
const moments = someMoments.length > 0 ? someMoments : [300, 450, 700];
/** The later the moments, the more there must be to do. */
const make =
  someMoments.length > 0 ? ['--files', '400', '--total-bytes', '6M'] : ['--files', '300', '--total-bytes', '4M'];

describe('verify --repair that is killed at some moment', () => {
  let synced: SyncedStore;
  let whole: { entries: number; bytes: number };

  beforeAll(async () => {
    synced = await syncedStore(scratch('original'), make);
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

  test.each(moments.map((ms, i) => [ms, i] as const))(
    'after %d ms: run again it mends everything, and hides nothing',
    async (ms, i) => {
      const store = synced.copyTo(scratch(`killed-${i}`));
      damageEverything(store);
      const args = ['verify', '--repair', '--store', store.root, '--patch-url', synced.cdn.url];
      const { child, ended } = startPakrat(args);
      await Promise.race([ended, sleep(ms)]);
      child.kill('SIGKILL');
      await ended;
      const { repaired, after } = await store.with(async (pakrat) => ({
        repaired: await pakrat.repair(),
        after: await pakrat.verify(),
      }));
      expect([repaired, after].map(verifyExitCode)).toEqual([0, 0]);
      expect(after.checked).toEqual(whole);
      expect(checkHeldBytes(store.root, join(synced.cdn.root, 'www')).wrong).toEqual([]);
    },
  );
});
