import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answers, damageRounds, readAnswers, servedFolder } from '../support/damage-rounds.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type SyncedStore, syncedStore } from '../support/synced-store.ts';

/*
 * Random damage to everything in a store: no wrong byte is ever given, verify finds whatever changes an answer, and one --repair mends it.
 * `npm run soak` does a thousand of them.
 */

const scratch = scratchFolder();

describe('a store that is damaged at random', () => {
  let synced: SyncedStore;
  let truth: Answers;

  beforeAll(async () => {
    synced = await syncedStore(scratch('original'), ['--files', '40', '--total-bytes', '300K', '--archives', '3']);
    truth = await readAnswers(synced.copyTo(scratch('truth')));
  });
  afterAll(() => synced.cdn.close());

  test('nothing wrong is given, all of it is found, and one --repair mends it', async () => {
    const store = synced.copyTo(scratch('store'));
    const www = servedFolder(synced.cdn.root);
    const { wrong, damages, found } = await damageRounds(store, { rounds: 4, seed: 2, www, truth });
    expect(wrong).toEqual([]);
    expect(damages).toBeGreaterThan(3);
    expect(found).toBeGreaterThan(2);
  });
});
