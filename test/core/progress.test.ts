import { beforeEach, expect, test } from '@jest/globals';
import { type Progress, throttled } from '../../src/core/progress.ts';

const bytes = (done: number): Progress => ({ type: 'bytes', phase: 'data', done, total: 1000 });
const step = (name: string): Progress => ({ type: 'step', step: name, bytes: 0 });
const note = (text: string): Progress => ({ type: 'note', text });

let now: number;
let told: Progress[];
let tell: (event: Progress) => void;
let flush: () => void;
beforeEach(() => {
  now = 0;
  told = [];
  ({ tell, flush } = throttled(
    (event) => told.push(event),
    () => now,
  ));
});

test('at most ten events a second come through, however many there are', () => {
  for (now = 0; now < 5000; now += 1) tell(bytes(now));
  expect(told).toHaveLength(50);
  expect(told.at(-1)).toEqual(bytes(4900));
});

test('the first comes at once; of those of one type that came sooner, the newest comes with the next', () => {
  tell(bytes(1));
  expect(told).toEqual([bytes(1)]);
  for (const done of [2, 3, 4]) tell(bytes(done));
  now = 99;
  tell(bytes(5));
  expect(told).toEqual([bytes(1)]);
  now = 100;
  tell(bytes(6));
  expect(told).toEqual([bytes(1), bytes(6)]);
});

test('one type does not keep another from being told', () => {
  tell(step('configs'));
  tell(step('plan'));
  tell({ type: 'host', hosts: ['a'] });
  for (now = 100; now < 500; now += 100) tell(bytes(now));
  expect(told).toEqual([step('configs'), step('plan'), { type: 'host', hosts: ['a'] }, bytes(300), bytes(400)]);
});

test('notes come at once, each of them, and delay nothing', () => {
  tell(bytes(1));
  for (const text of ['one', 'two', 'three']) tell(note(text));
  expect(told).toEqual([bytes(1), note('one'), note('two'), note('three')]);
  now = 100;
  tell(bytes(2));
  expect(told.at(-1)).toEqual(bytes(2));
});

test('what still waits at the end is told then, once', () => {
  for (const event of [step('plan'), bytes(1), bytes(2), step('data')] as const) tell(event);
  expect(told).toEqual([step('plan')]);
  flush();
  flush();
  expect(told).toEqual([step('plan'), bytes(2), step('data')]);
});

test('without a callback there is nothing to do', () => {
  expect(() => throttled(undefined).tell(bytes(1))).not.toThrow();
});
