import { describe, expect, test } from '@jest/globals';
import { filesAhead } from '../../../src/sources/extract/read-ahead.ts';
import { RegexSearch } from '../../../src/sources/regex-search.ts';
import type { Source, SourceEntry } from '../../../src/sources/source.ts';
import { builtModule } from '../../support/built-module.ts';

const workerUrl = new URL(builtModule('src/sources/regex-worker.ts'));

/** A source of files of ten bytes each, and the number of listings of it that are under way. */
function sourceOf(count: number): { source: Source; listings: () => { begun: number; open: number } } {
  const listings = { begun: 0, open: 0 };
  const entryOf = (number: number): SourceEntry => ({ name: `a/${number}`, size: 10, facts: {} });
  const source: Source = {
    kind: 'test',
    label: 'test',
    async *list(matches) {
      listings.begun += 1;
      listings.open += 1;
      try {
        for (let number = 0; number < count; number++) {
          if (number % 100 === 0) await new Promise(setImmediate);
          if (matches(`a/${number}`)) yield entryOf(number);
        }
      } finally {
        listings.open -= 1;
      }
    },
    get: async () => entryOf(0),
    prepare: async () => {},
    read: async function* () {},
    info: async () => ({}),
    close: async () => {},
  };
  return { source, listings: () => ({ ...listings }) };
}

describe('the number of files, and their bytes', () => {
  test('of few are known before the first is given out, from the one listing', async () => {
    const { source, listings } = sourceOf(1500);
    const plans: number[][] = [];
    const files = filesAhead(source, { names: [], onPlan: (...plan) => plans.push(plan) }, () => {});
    await files.next();
    expect(plans).toEqual([[1500, 15_000]]);
    for await (const _ of files);
    expect(plans).toHaveLength(1);
    expect(listings()).toEqual({ begun: 1, open: 0 });
  });

  test('of many are counted beside the work on the first of them', async () => {
    const { source } = sourceOf(9000);
    const plans: number[][] = [];
    let given = 0;
    let givenWhenPlanned = 0;
    const onPlan = (...plan: number[]): void => {
      plans.push(plan);
      givenWhenPlanned = given;
    };
    for await (const _ of filesAhead(source, { names: [], exclude: ['a/1*'], onPlan }, () => {})) {
      given += 1;
      await new Promise(setImmediate);
    }
    expect(plans).toEqual([[given, given * 10]]);
    expect(givenWhenPlanned).toBeLessThan(given);
  });

  test('of many are not counted for nobody', async () => {
    const { source, listings } = sourceOf(9000);
    for await (const _ of filesAhead(source, { names: [] }, () => {}));
    expect(listings()).toEqual({ begun: 1, open: 0 });
  });

  test('of many that regular expressions choose are counted as well', async () => {
    const { source } = sourceOf(9000);
    const regex = new RegexSearch(['[2-9]'], { workerUrl });
    const plans: number[][] = [];
    let given = 0;
    for await (const _ of filesAhead(source, { names: [], regex, onPlan: (...plan) => plans.push(plan) }, () => {})) {
      given += 1;
      await new Promise(setImmediate);
    }
    await regex.close();
    expect(given).toBeGreaterThan(2000);
    expect(plans).toEqual([[given, given * 10]]);
  });

  test('are counted no longer than the work lasts: the source may be closed then', async () => {
    const { source, listings } = sourceOf(1_000_000);
    for await (const _ of filesAhead(source, { names: [], onPlan: () => {} }, () => {})) break;
    expect(listings()).toEqual({ begun: 2, open: 0 });
  });
});
