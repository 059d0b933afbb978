import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { buildKeys, importTree, makeClient, snapshot, wrongOf } from '../installs/casc/local-tree.ts';
import { scratchFolder } from '../support/scratch.ts';
import { expectedFiles, readTruth, type Truth } from '../support/truth.ts';

/*
 * Every file of an installed client, and of a folder in the layout of a CDN, against the table of the generator that made them:
 * by name, by id, by content key and by encoding key.
 */

jest.setTimeout(120_000);
const scratch = scratchFolder();

/** What of the truth is there. An installation has one encoding of each content, a CDN all of them. */
interface Asked {
  truth: Truth;
  name: string;
  store: string;
  everyEncoding: boolean;
}

async function wrongOfAll({ truth, name, store, everyEncoding }: Asked): Promise<string[]> {
  const ids = truth.layout === 'wow' ? (['fdid'] as const) : [];
  const first = new Set(truth.rows.map(({ ekeys }) => `ekey:${ekeys[0]}`));
  const wrong: string[] = [];
  for (const locale of ['enUS', 'deDE']) {
    for (const asking of ['name', ...ids, ...(locale === 'enUS' ? (['ckey', 'ekey'] as const) : [])] as const) {
      const all = expectedFiles(truth, asking, locale);
      const expected = asking === 'ekey' && !everyEncoding ? all.filter(({ query }) => first.has(query)) : all;
      if (expected.length < 5) wrong.push(`${asking} ${locale}: only ${expected.length} files to ask for`);
      const to = `${store}-${name.replaceAll(/\W/g, '_')}-${asking}-${locale}`;
      wrong.push(
        ...(await wrongOf(store, name, expected, { to, locale })).map((line) => `${asking} ${locale}: ${line}`),
      );
    }
  }
  return wrong;
}

describe('every file of a local folder', () => {
  const layouts = [
    { title: 'a WoW root', make: [] as string[] },
    { title: 'an old WoW root', make: ['--root-format', 'headerless', '--segment', '300000'] },
    { title: 'TVFS with files in pieces', make: ['--layout', 'tvfs', '--spans', '3'] },
  ];
  test.each(layouts.map((layout, i) => ({ ...layout, seed: `local-${i}` })))(
    'comes out right: $title',
    async ({ make, seed }) => {
      const root = scratch(seed);
      const store = scratch(`${seed}-store`);
      makeClient(root, seed, make);
      await importTree(root, store);
      const before = [...snapshot(join(root, 'local')), ...snapshot(join(root, 'www'))];
      const install = { truth: readTruth(root, 'b'), name: join(root, 'local'), store, everyEncoding: false };
      expect((await wrongOfAll(install)).slice(0, 10)).toEqual([]);
      for (const which of make.length === 0 ? (['a', 'b'] as const) : (['a'] as const)) {
        const name = `cdn:${join(root, 'www/tpr/wow')}@${buildKeys(root)[which]}`;
        const folder = { truth: readTruth(root, which), name, store, everyEncoding: true };
        expect((await wrongOfAll(folder)).slice(0, 10)).toEqual([]);
      }
      expect([...snapshot(join(root, 'local')), ...snapshot(join(root, 'www'))]).toEqual(before);
    },
  );
});
