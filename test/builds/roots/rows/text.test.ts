import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { getVariant } from '../../../../src/builds/files.ts';
import { encodeTextRoot } from '../../../../src/formats/roots/text.ts';
import { freePort } from '../../../support/loopback.ts';
import { pakratJson, runPakrat } from '../../../support/run-pakrat.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { makeTree, serveTree } from '../../../support/synthetic-cdn.ts';
import { expectedFiles, type Failed, readTruth, type Truth, wrongFiles } from '../../../support/truth.ts';
import { openSmallRoot } from '../small-build.ts';

const scratch = scratchFolder();
const key = (digit: string) => digit.repeat(32);

describe('a text root', () => {
  test('is found by name in any case, with either slash, and through archives', async () => {
    const root = await openSmallRoot(scratch, {
      root: encodeTextRoot({
        rows: [
          { path: 'SD\\unit\\Zürich.dds', ckey: key('1') },
          { path: 'war3.mpq:units\\a.slk', ckey: key('2') },
          { path: 'b', ckey: key('3') },
        ],
      }),
    });
    const find = (name: string) => root.find(name).map(({ name, parts }) => `${name} ${parts[0]!.ckey?.[0]}`);
    expect(root.kind).toBe('text');
    expect(find('sd/UNIT/zürich.dds')).toEqual(['SD/unit/Zürich.dds 1']);
    expect(find('war3.mpq:units/a.slk')).toEqual(['war3.mpq/units/a.slk 2']);
    expect(find('war3.mpq/units/A.slk')).toEqual(['war3.mpq/units/a.slk 2']);
    expect(find('c')).toEqual([]);
    expect(
      Array.from(
        root.list((name) => name.includes('/')),
        ({ name }) => name,
      ).sort(),
    ).toEqual(['SD/unit/Zürich.dds', 'war3.mpq/units/a.slk']);
    root.close();
  });

  test('gives the variant of the locale, and what is for all only where there is none', async () => {
    const root = await openSmallRoot(scratch, {
      root: encodeTextRoot({
        rows: [
          { path: 'x', ckey: key('0') },
          { path: 'only', ckey: key('9'), locale: 'koKR' },
          { path: 'x', ckey: key('1'), locale: 'deDE' },
          { path: 'y', ckey: key('2') },
          { path: 'X', ckey: key('3'), locale: 'frFR' },
        ],
      }),
    });
    const pick = (locale: string, name = 'x') => getVariant(root.find(name), locale, name).parts[0]!.ckey![0];
    expect([pick('enUS'), pick('deDE')]).toEqual(['0', '1']);
    expect(pick('koKR', 'only')).toBe('9');
    expect(() => pick('enUS', 'only')).toThrow(/no variant for locale enUS/);
    // In the order of names; variants of one are neighbours, so that a listing takes them for one file.
    expect(
      Array.from(
        root.list(() => true),
        ({ name }) => name,
      ).join(''),
    ).toBe('Xonlyxxy');
    root.close();
  });

  test('paths that nesting would make one stay two', async () => {
    const root = await openSmallRoot(scratch, {
      root: encodeTextRoot({
        rows: [
          { path: 'a:b', ckey: key('1') },
          { path: 'a/b', ckey: key('2') },
        ],
      }),
    });
    expect(
      Array.from(
        root.list(() => true),
        ({ name }) => name,
      ),
    ).toEqual(['a/b', 'a:b']);
    expect(root.find('a:b').map(({ parts }) => parts[0]!.ckey)).toEqual([key('1')]);
    root.close();
  });
});

describe('a build with a text root', () => {
  test('every file of both builds comes out right by name, without a network', async () => {
    const tree = scratch('tree');
    const port = await freePort();
    makeTree(tree, port, ['--files', '200', '--total-bytes', '2M', '--layout', 'text']);
    const server = await serveTree(tree, [], port);
    const store = scratch('program-store');
    try {
      expect(runPakrat(['keys', 'import', join(tree, 'truth/keys.txt'), '--store', store])).toMatchObject({
        status: 0,
      });
      for (const product of ['wow_old', 'wow']) {
        const { status } = await pakratJson(['sync', product, '--store', store, '--patch-url', server.url]);
        expect(status).toBe(0);
        const truth = readTruth(tree, product === 'wow' ? 'b' : 'a');
        for (const locale of ['enUS', 'deDE']) expect(await wrongByName({ truth, product, store, locale })).toEqual([]);
        expect(await wrongNames(truth, product, store)).toEqual([]);
      }
      expect((await pakratJson(['info', 'wow', '--store', store, '--offline'])).value).toMatchObject({ root: 'text' });
    } finally {
      await server.close();
    }
  }, 60_000);
});

interface Asked {
  truth: Truth;
  product: string;
  store: string;
  locale: string;
}

async function wrongByName({ truth, product, store, locale }: Asked): Promise<string[]> {
  const expected = expectedFiles(truth, 'name', locale);
  const to = join(store, `out-${product}-${locale}`);
  const queries = expected.map(({ query }) => query);
  const args = ['extract', product, ...queries, '--to', to, '--offline', '--store', store];
  const { value } = await pakratJson<{ failed: Failed[] }>(args);
  return [
    ...(queries.length > (locale === 'enUS' ? 150 : 0) ? [] : ['too few files are asked for']),
    ...wrongFiles(expected, to, value.failed),
  ].slice(0, 20);
}

/** The listing against the truth: each name once, and nothing else. */
async function wrongNames(truth: Truth, product: string, store: string): Promise<string[]> {
  const { value } = await pakratJson<{ name: string }[]>(['ls', product, '-R', '--offline', '--store', store]);
  const rows = truth.rows.filter(({ locale }) => locale !== '#lowviolence');
  const names = rows.map(({ name, locale }) => (locale === '-' ? name : `${locale}/${name}`));
  const wanted = [...names, ...truth.install.map(({ path }) => path)].sort();
  const listed = value.map(({ name }) => name).sort();
  return listed.join() === wanted.join()
    ? []
    : [
        `listed ${listed.length} of ${wanted.length}`,
        ...listed.filter((name) => !wanted.includes(name)),
        ...wanted.filter((name) => !listed.includes(name)),
      ].slice(0, 20);
}
