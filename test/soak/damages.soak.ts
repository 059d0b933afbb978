import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Answers, damageRounds, readAnswers, servedFolder } from '../support/damage-rounds.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type SyncedStore, syncedStore } from '../support/synced-store.ts';

/* More than a thousand random damages to everything in a store; see test/acceptance/damages.test.ts. */

jest.setTimeout(60 * 60_000);
const scratch = scratchFolder();
const first = Date.now();

describe('a store that is damaged at random, a thousand times', () => {
  let synced: SyncedStore;
  let truth: Answers;

  beforeAll(async () => {
    synced = await syncedStore(scratch('original'), ['--files', '60', '--total-bytes', '400K', '--archives', '3']);
    truth = await readAnswers(synced.copyTo(scratch('truth')));
  });
  afterAll(() => synced.cdn.close());

  test.each(Array.from({ length: 12 }, (_, i) => i))('hundred %d', async (hundred) => {
    const store = synced.copyTo(scratch(`store${hundred}`));
    const seed = first + hundred;
    const www = servedFolder(synced.cdn.root);
    const { wrong, damages, found } = await damageRounds(store, { rounds: 50, seed, www, truth });
    console.log({ seed, damages, found });
    expect(wrong).toEqual([]);
    expect(damages).toBeGreaterThan(80);
  });
});
