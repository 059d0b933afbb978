import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomSource } from '../support/hostile.ts';
import { damageEverything, killRepair } from '../support/killed-repair.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type SyncedStore, syncedStore } from '../support/synced-store.ts';

/* A repair that is killed at many moments, and run again. */

jest.setTimeout(20 * 60_000);
const scratch = scratchFolder();

describe('verify --repair that is killed, thirty times', () => {
  let synced: SyncedStore;
  let whole: { entries: number; bytes: number };

  beforeAll(async () => {
    synced = await syncedStore(scratch('original'), ['--files', '400', '--total-bytes', '6M']);
    ({ checked: whole } = await synced.copyTo(scratch('whole')).with((pakrat) => pakrat.verify()));
  });
  afterAll(() => synced.cdn.close());

  test('run again it mends everything, and hides nothing', async () => {
    const seed = Date.now();
    const random = randomSource(seed);
    for (let kill = 0; kill < 30; kill++) {
      const store = synced.copyTo(scratch(`killed-${kill}`));
      damageEverything(store);
      const ms = 200 + random() * 1300;
      const outcome = await killRepair(store, synced.cdn, ms);
      expect({ seed, ms, ...outcome }).toEqual({ seed, ms, exits: [0, 0], checked: whole, wrong: [] });
    }
  });
});
