import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { HostNews } from '../../../src/cdn/hosts/host-news.ts';

const [a, b] = ['http://a:80', 'http://name:word@b'].map((base) => ({ base, fallback: false }));
let told: (string | undefined)[] = [];
let news: HostNews;
beforeEach(() => {
  jest.useFakeTimers();
  told = [];
  news = new HostNews((problem) => told.push(problem));
});
afterEach(() => {
  news.close();
  jest.useRealTimers();
});

test('a host that owes an answer is named when nothing comes for a while, until bytes come', () => {
  news.asking(a!);
  jest.advanceTimersByTime(2500);
  expect(told).toEqual([]);
  jest.advanceTimersByTime(1500);
  expect(told.at(-1)).toBe('a:80: no answer for 4 s');
  news.asking(b!);
  jest.advanceTimersByTime(1000);
  expect(told.at(-1)).toBe('a:80 and b: no answer for 5 s');
  news.heard();
  expect(told.at(-1)).toBeUndefined();
  const count = told.length;
  news.heard();
  jest.advanceTimersByTime(2000);
  expect(told).toHaveLength(count);
});

test('who has answered is not waited for', () => {
  news.asking(a!);
  news.answered(a!);
  jest.advanceTimersByTime(20_000);
  expect(told).toEqual([]);
});
