import { describe, expect, test } from '@jest/globals';
import { PakratError } from '../../src/core/errors.ts';
import { isListedFolder, look } from '../../src/sources/look.ts';
import { getNamed } from '../../src/sources/names-hint.ts';
import { selectFiles } from '../../src/sources/select.ts';
import type { Source, SourceEntry } from '../../src/sources/source.ts';

const names = [
  'a-b',
  'a.txt',
  'a/b',
  'a/b/c',
  'a/b/d/e',
  'A/x',
  'b',
  '/abs',
  '../up',
  'x//y',
  'x/',
  'tab\there/f',
  'ü/\u{1f600}',
  'ü/\uff5e',
];

function sourceOf(all: readonly string[]): Source {
  const entryOf = (name: string): SourceEntry => ({ name, size: 1, facts: {} });
  return {
    kind: 'test',
    label: 'it',
    *list(matches) {
      for (const name of all) if (matches(name)) yield entryOf(name);
    },
    async get(name) {
      if (all.includes(name)) return entryOf(name);
      throw new PakratError('E_NOT_FOUND', 'it is not', { data: { name } });
    },
    async prepare() {},
    async *read() {},
    info: async () => ({}),
    close: async () => {},
  };
}

const source = sourceOf(names);

/** Names of the rows; folders end in a slash and a `+`. */
async function shown(given: readonly string[], recursive = false, of = source): Promise<string[]> {
  const rows: string[] = [];
  const missing: string[] = [];
  for await (const batch of look(of, { names: given, recursive, onMissing: (name) => missing.push(`-${name}`) }))
    for (const row of batch) rows.push(isListedFolder(row) ? `${row.name}+` : row.name);
  return [...rows, ...missing];
}

const inOrder = (all: readonly string[]): string[] =>
  all.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

describe('look', () => {
  test('shows one level in the order of bytes, whatever the names', async () => {
    const top = ['../+', '/+', 'A/+', 'a-b', 'a.txt', 'a/+', 'b', 'tab\there/+', 'x/', 'x/+', 'ü/+'];
    for (const root of [[], ['/'], ['.'], ['']]) expect(await shown(root)).toEqual(top);
    expect(await shown([], true)).toEqual(inOrder(names));
    expect(await shown(['ü'])).toEqual(['ü/\uff5e', 'ü/\u{1f600}']);
  });

  test('shows of names in any order what it shows of sorted ones', async () => {
    const letters = ['a', 'b', 'B', '!', '~', 'a b'];
    const many = Array.from({ length: 5000 }, (_, i) => {
      const parts = Array.from(
        { length: 1 + ((i * 7) % 4) },
        (_, k) => letters[(i * (13 + k * 5) + (i >> (k + 2))) % 6],
      );
      return `${parts.join('/')}${i % 9 === 0 ? '.txt' : ''}`;
    });
    const plain = sourceOf(many);
    const sorted: Source = { ...sourceOf(inOrder(many)), isInNameOrder: true };
    const batched: Source = {
      ...plain,
      async *listBatches(matches) {
        for (let at = 0; at < many.length; at += 7) {
          yield many
            .slice(at, at + 7)
            .filter(matches)
            .map((name) => ({ name, size: 1, facts: {} }));
        }
      },
    };
    // One that gives no more than it must of folders that are rows.
    const passing: Source = {
      ...sorted,
      *list(matches, { folderOf } = {}) {
        let last: string | undefined;
        for (const name of inOrder(many)) {
          if (last !== undefined && name.startsWith(last)) continue;
          last = folderOf?.(name);
          if (matches(name)) yield { name, size: 1, facts: {} };
        }
      },
    };
    const folders = [[], ['a/'], ['a/', 'a/b/'], ['a/b/', 'a/'], ['/', 'a/b/'], ['/', 'B/a/!/', 'a/'], ['/', 'none/']];
    for (const given of [...folders, ['/', '**/*.txt'], ['b/', '*/a/*', 'B/!/']]) {
      const expected = await shown(given, false, sorted);
      expect(expected.length).toBeGreaterThan(5);
      expect([given, await shown(given, false, plain)]).toEqual([given, expected]);
      expect([given, await shown(given, false, batched)]).toEqual([given, expected]);
      expect([given, await shown(given, false, passing)]).toEqual([given, expected]);
    }
  });

  test('a folder is found whatever its case; of a file and a folder of one name the file is meant, or the folder with a slash', async () => {
    for (const folder of ['a/', './A', 'a\\', 'a//']) expect(await shown([folder])).toEqual(['A/x', 'a/b', 'a/b/+']);
    expect(await shown(['a/b'])).toEqual(['a/b']);
    expect(await shown(['a/b/'])).toEqual(['a/b/c', 'a/b/d/+']);
    expect(await shown(['a/b/'], true)).toEqual(['a/b/c', 'a/b/d/e']);
    expect(await shown(['b', 'a/b/', '*.txt', 'b/', '*.no'])).toEqual([
      'b',
      'a.txt',
      'a/b/c',
      'a/b/d/+',
      '-*.no',
      '-b/',
    ]);
  });

  test('a folder is all below it for those who take files, and is told for what it is', async () => {
    const chosen: string[] = [];
    for await (const { name } of selectFiles(source, { names: ['a/b/', 'A', 'b'] })) chosen.push(name);
    expect(inOrder(chosen)).toEqual(['A/x', 'a/b', 'a/b/c', 'a/b/d/e', 'b']);
    const none = async (): Promise<void> => {
      for await (const _ of selectFiles(source, { names: ['b', 'none/'] }));
    };
    await expect(none()).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    await expect(getNamed(source, 'a/b/d')).rejects.toMatchObject({
      message: 'a/b/d is a folder of it, a file is needed',
      hint: '`pakrat ls SOURCE a/b/d` shows the files in it.',
    });
    await expect(getNamed(source, 'a.tct')).rejects.toMatchObject({ hint: 'Did you mean a.txt?' });
    await expect(getNamed(source, 'z/d')).rejects.toMatchObject({ hint: 'Did you mean a/b/d/?' });
  });
});
