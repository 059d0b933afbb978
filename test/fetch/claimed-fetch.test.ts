import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ClaimedJobs, claimObject, Waiting } from '../../src/fetch/claimed-fetch.ts';
import { type PackedJob, packJob } from '../../src/fetch/transfer/range-targets.ts';
import { objectPath } from '../../src/store/layout.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { scratchFolder } from '../support/scratch.ts';
import { listed } from './archive.ts';

const scratch = scratchFolder();
const path = objectPath({ cdnPath: 'tpr/wow', kind: 'data', hash: 'ab'.repeat(16) });
const job = (...offsets: number[]): PackedJob =>
  packJob({
    path,
    file: 'unused',
    start: offsets[0] ?? 0,
    end: (offsets.at(-1) ?? 0) + 100,
    targets: offsets.map((offset) => ({ ekey: String(offset).padStart(32, '0'), offset, size: 100, held: 0 })),
  });

let store: Store;
let another: Store;
let number = 0;
beforeEach(() => {
  number += 1;
  store = openStore(scratch(`store${number}`), { create: true });
  another = openStore(scratch(`store${number}`), { create: false });
});
afterEach(() => {
  another.close();
  store.close();
});

const offsetsOf = (jobs: Iterable<PackedJob>): number[][] =>
  [...jobs].map(({ targets }) => targets.map(({ offset }) => offset));

describe('claimed jobs', () => {
  test('leave out what is held by now, and keep neighbours side by side', () => {
    store.ledger.addSpans(path, [
      { start: 0, end: 130 },
      { start: 300, end: 400 },
    ]);
    const jobs = new ClaimedJobs(store);
    const taken = [...jobs.take([job(0, 100, 200, 300, 400)])].map(listed);
    expect(taken).toMatchObject([
      { start: 130, end: 300, targets: [{ offset: 100, held: 30 }, { offset: 200 }] },
      { start: 400, end: 500, targets: [{ offset: 400 }] },
    ]);
    jobs.close();
  });

  test('one for a host that knows no ranges stays one', () => {
    store.ledger.addSpans(path, [{ start: 100, end: 200 }]);
    const jobs = new ClaimedJobs(store);
    expect(offsetsOf(jobs.take([{ ...job(0, 100, 200), allowWhole: true }]))).toEqual([[0, 200]]);
    jobs.close();
  });

  test('are put off while another fetches something of them, then have what is left', () => {
    const theirs = new ClaimedJobs(another);
    const [first] = theirs.take([job(0, 100)]);
    const ours = new ClaimedJobs(store);
    expect(offsetsOf(ours.take([job(100, 200), job(300)]))).toEqual([[300]]);
    expect(ours.hasPutOff).toBe(true);
    another.ledger.addSpans(path, [{ start: 0, end: 200 }]);
    if (first !== undefined) theirs.release(first);
    expect(offsetsOf(ours.take(ours.takePutOff()))).toEqual([[200]]);
    expect(ours.hasPutOff).toBe(false);
    ours.close();
  });

  test('of a file that cannot be written to wait for another one, which is made when nobody else writes to it, once', () => {
    const { file } = store.files.partial(path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, 'what there is');
    const { ino } = statSync(file);
    const theirs = new ClaimedJobs(another);
    const [first] = theirs.take([job(0)]);
    const ours = new ClaimedJobs(store);
    const [one] = ours.take([job(100)]);
    expect(ours.putOffSpoilt(one!)).toBe(true);
    ours.release(one!);
    expect([ours.renewSpoilt(), ours.hasPutOff, ours.takePutOff()]).toEqual([false, true, []]);
    theirs.release(first!);
    expect(ours.renewSpoilt()).toBe(true);
    expect([statSync(file).ino === ino, readFileSync(file, 'utf8')]).toEqual([false, 'what there is']);
    expect(offsetsOf(ours.take(ours.takePutOff()))).toEqual([[100]]);
    expect(ours.putOffSpoilt(one!)).toBe(false);
    ours.close();
    theirs.close();
  });
});

describe('an object', () => {
  const waiting = (): Waiting => new Waiting(undefined, undefined);

  test('that another fetches is waited for, and not claimed when it is held then', async () => {
    const claim = await claimObject(another, path, waiting());
    expect(claim).toBeDefined();
    const ours = claimObject(store, path, waiting());
    another.ledger.addComplete(path, 5);
    claim?.release();
    expect(await ours).toBeUndefined();
  });

  test('that another gave up is claimed', async () => {
    const claim = await claimObject(another, path, waiting());
    const ours = claimObject(store, path, waiting());
    claim?.release();
    expect(await ours).toBeDefined();
  });

  test('is not waited for after an interruption, and long waiting is told once', async () => {
    const claim = await claimObject(another, path, waiting());
    const controller = new AbortController();
    let told = 0;
    const ours = claimObject(store, path, new Waiting(controller.signal, () => (told += 1)));
    setTimeout(() => controller.abort(), 1_500);
    await expect(ours).rejects.toMatchObject({ code: 'E_ABORTED' });
    expect(told).toBe(1);
    claim?.release();
  });
});
