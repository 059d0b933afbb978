import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { damageEverything, killRepair } from '../support/killed-repair.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type SyncedStore, syncedStore } from '../support/synced-store.ts';

/* A repair that is killed, and run again. At more moments: test/soak/repair-killed.soak.ts. */

const scratch = scratchFolder();

describe('verify --repair that is killed at some moment', () => {
  let synced: SyncedStore;
  let whole: { entries: number; bytes: number };

  beforeAll(async () => {
    synced = await syncedStore(scratch('original'), ['--files', '300', '--total-bytes', '4M']);
    ({ checked: whole } = await synced.copyTo(scratch('whole')).with((pakrat) => pakrat.verify()));
  });
  afterAll(() => synced.cdn.close());

  test.each([300, 450, 700])('after %d ms: run again it mends everything, and hides nothing', async (ms) => {
    const store = synced.copyTo(scratch(`after-${ms}`));
    damageEverything(store);
    const right = { exits: [0, 0], checked: whole, wrong: [] };
    expect(await killRepair(store, synced.cdn, ms)).toEqual(right);
  });
});
