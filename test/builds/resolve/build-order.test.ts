import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { buildsByAge } from '../../../src/builds/resolve/build-order.ts';
import { sortBuilds } from '../../../src/keep/gc/going-builds.ts';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
let number = 0;
let ledger: Ledger;

beforeEach(() => {
  number += 1;
  ledger = new Ledger(scratch(`${number}.db`));
});
afterEach(() => ledger.close());

const configOf = (name: string): string => name.charCodeAt(0).toString(16).repeat(16);

/** A version service names a build at a time, with a sequence number or without. */
function answer(name: string, time: number, seqn: number | null): void {
  const head = seqn === null ? '' : `## seqn = ${seqn}\n`;
  const body = Buffer.from(`Region!STRING:0|BuildConfig!HEX:16\n${head}us|${configOf(name)}\n`);
  ledger.addAnswer('game', 'versions', { seqn, service: 's', time, body });
}

/** A build that is held whole. */
function held(name: string, buildId: string | null = null): void {
  const build = {
    product: 'game',
    name,
    buildId,
    buildConfig: configOf(name),
    cdnConfig: 'c',
    region: 'us',
    hosts: [],
  };
  ledger.addBuild({
    ...build,
    productConfig: null,
    keyRing: null,
    cdnPath: 'tpr/game',
    configPath: 'tpr/configs/data',
  });
  const amount = { entries: 1, bytes: 1 };
  ledger.setProgress('game', configOf(name), { selection: '{}', wanted: amount, held: amount });
}

const order = (): string[] => buildsByAge(ledger, 'game').map(({ row }) => row.name);
const going = (keep: number): string[] => sortBuilds(ledger, { keep }).going.map(({ name }) => name);

test('the order is that of sequence numbers, whatever was seen, synced or read last', () => {
  answer('b', 10, 2);
  answer('a', 20, 1);
  answer('c', 30, 3);
  for (const name of ['c', 'b', 'a']) held(name);
  expect(order()).toEqual(['c', 'b', 'a']);
  expect(going(1)).toEqual(['b', 'a']);
});

test('without numbers it is that of when builds were first seen; one that is live again is never let go by a rule', () => {
  for (const [name, time] of [
    ['a', 10],
    ['b', 20],
    ['c', 30],
    // The service went back to the oldest: the same answer as before.
    ['a', 40],
  ] as const)
    answer(name, time, null);
  for (const name of ['a', 'b', 'c']) held(name);
  expect(order()).toEqual(['c', 'b', 'a']);
  expect(going(1)).toEqual(['b']);
});

test('builds that no answer ever named are older than those that one did, in the order of their ids', () => {
  answer('c', 30, 3);
  held('c', '5');
  // Synced newest first, as by --builds all.
  held('b', '4');
  held('a', '3');
  expect(order()).toEqual(['c', 'b', 'a']);
  expect(going(2)).toEqual(['a']);
});

test('a pin keeps a build; rules for other products say nothing of it', () => {
  for (const [i, name] of ['a', 'b', 'c'].entries()) answer(name, i, i);
  for (const name of ['a', 'b', 'c']) held(name);
  ledger.keeping.pin({ product: 'game', buildConfig: configOf('a') });
  expect(going(1)).toEqual(['b']);
  expect(sortBuilds(ledger, { keep: 1, products: ['other'] }).going).toEqual([]);
});
