import { afterEach, describe, expect, test } from '@jest/globals';
import { RegexSearch, type RegexSearchOptions } from '../../src/sources/regex-search.ts';
import { builtModule } from '../support/built-module.ts';
import { codeOf } from '../support/thrown-code.ts';

const workerUrl = new URL(builtModule('src/sources/regex-worker.ts'));
/** It has more ways to be parted than there is time for. */
const endless = `${'a'.repeat(50)}!`;

let opened: RegexSearch[] = [];
function search(patterns: readonly string[], options: RegexSearchOptions = {}): RegexSearch {
  const regex = new RegexSearch(patterns, { workerUrl, ...options });
  opened.push(regex);
  return regex;
}
afterEach(async () => {
  await Promise.all(opened.map((regex) => regex.close()));
  opened = [];
});

/** What it finds of some names, as a listing would ask it. */
async function found(regex: RegexSearch, names: readonly string[]): Promise<string[]> {
  const list = (matches: (name: string) => boolean): never[] => names.filter(matches) as never[];
  return names.filter(await regex.filter({ list }, (name) => name !== 'left out'));
}

describe('a search for regular expressions', () => {
  test.each([
    ['icons/inv_', 'Interface\\Icons\\INV_axe.blp', true],
    ['icons\\\\inv_', 'interface/icons/inv_axe.blp', true],
    ['[^/]+\\\\x$', 'icons\\x', true],
    ['^[^/]+$', 'icons\\x', false],
    ['^icons', 'interface/icons/a.blp', false],
    ['\\d{3}\\.blp$', 'a/axe_012.BLP', true],
    ['axe(?!_0)', 'a/axe_012.blp', false],
    ['(?<=/)axe', 'a/axe_012.blp', true],
    ['(\\d)\\1', 'zone_0122', true],
    ['(\\d)\\1', 'zone_0123', false],
    ['ÉTÉ', 'sound/été.mp3', true],
    ['', 'anything', true],
  ])('%s in %s: %s', async (pattern, name, expected) => {
    expect(await found(search([pattern]), [name])).toEqual(expected ? [name] : []);
  });

  test('one of several patterns must be found, in names of many batches, in their order', async () => {
    const regex = search(['(\\d)\\1', '^x']);
    const names = Array.from({ length: 10_000 }, (_, i) => `${i % 3 === 0 ? 'x' : 'maps'}/${i}.bsp`);
    const expected = names.filter((name) => /(\d)\1|^x/.test(name));
    expect(await found(regex, names)).toEqual(expected);
    expect(await found(regex, [])).toEqual([]);
    expect(await found(regex, ['x2', 'left out', 'x1', 'x2'])).toEqual(['x2', 'x1', 'x2']);
    expect([await regex.finds('b'), await regex.finds('b11')]).toEqual([false, true]);
  });

  test('several listings at a time get the answers that are theirs', async () => {
    const regex = search(['1']);
    const names = Array.from({ length: 9000 }, (_, i) => `a/${i}`);
    const [all, some, one] = await Promise.all([
      found(regex, names),
      found(regex, names.slice(0, 20)),
      regex.finds('b1'),
    ]);
    expect(all).toEqual(names.filter((name) => name.includes('1')));
    expect(some).toEqual(all.slice(0, 11));
    expect(one).toBe(true);
  });

  test.each(['(', 'a{2,1}', 'a**', '[z-a]', '\\', '('.repeat(20_000) + ')'.repeat(20_000)])(
    'what is no regular expression, or too long, is a mistake before any thread starts: %#',
    (pattern) => {
      const nowhere = new URL('file:///nowhere/worker.js');
      expect(codeOf(() => search(['a', pattern], { workerUrl: nowhere }))).toBe('E_USAGE');
    },
  );

  test.each(['(a+)+$', '^(a|a)*$', '(.*a){20}$', '(a*)*\\1b'])(
    'one that takes too long is named, and ends: %s',
    async (pattern) => {
      const started = performance.now();
      const regex = search([pattern], { batchMs: 300 });
      await expect(found(regex, [endless])).rejects.toMatchObject({
        code: 'E_USAGE',
        data: { pattern },
        hint: expect.stringContaining('(a+)+'),
      });
      await expect(found(regex, ['a'])).rejects.toMatchObject({ code: 'E_USAGE' });
      await regex.close();
      expect(performance.now() - started).toBeLessThan(15_000);
    },
  );

  test('time is counted for each batch, and only while there is one', async () => {
    const regex = search(['(a+)+$'], { batchMs: 1000 });
    expect(await found(regex, ['ba'])).toEqual(['ba']);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(await regex.finds('bc')).toBe(false);
    await expect(found(regex, [endless])).rejects.toMatchObject({ code: 'E_USAGE' });
  });

  test('one that needs more memory than there is for it is a mistake', async () => {
    const patient = { batchMs: 60_000 };
    await expect(found(search(['(?:a|b)*c'], patient), ['a'.repeat(30 << 20)])).rejects.toMatchObject({
      code: 'E_USAGE',
      message: expect.stringContaining('cannot be used'),
    });
  });

  test('a thread that cannot start is a bug, not a mistake', async () => {
    const nowhere = new URL('file:///nowhere/worker.js');
    await expect(found(search(['a'], { workerUrl: nowhere }), ['a'])).rejects.toThrow('a thread died');
  });

  test('an interruption ends it at once', async () => {
    const control = new AbortController();
    const regex = search(['(a+)+$'], { signal: control.signal });
    const started = performance.now();
    setTimeout(() => control.abort(), 200);
    await expect(found(regex, [endless])).rejects.toMatchObject({ code: 'E_ABORTED' });
    await regex.close();
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(codeOf(() => search(['a'], { signal: control.signal }))).toBe('E_ABORTED');
  });
});
