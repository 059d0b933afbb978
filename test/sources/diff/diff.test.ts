import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { Build } from '../../../src/builds/build.ts';
import { PakratError } from '../../../src/core/errors.ts';
import { buildSource } from '../../../src/sources/build-source.ts';
import { type Difference, type DiffItem, diffSources } from '../../../src/sources/diff/diff.ts';
import { nameOf } from '../../../src/sources/diff/diff-table.ts';
import type { Source, SourceEntry } from '../../../src/sources/source.ts';
import { scratchFolder } from '../../support/scratch.ts';

const temporary = scratchFolder()('temporary');

/** A file of a made-up source; `content` is what reading gives. */
interface Made extends Partial<SourceEntry> {
  name: string;
  content?: string | PakratError;
}

/** A source of made-up files. What it was asked to read is counted. */
function sourceOf(files: readonly Made[]): Source & { reads: string[] } {
  const reads: string[] = [];
  const entries = files.map((file) => {
    const size = typeof file.content === 'string' ? file.content.length : undefined;
    return { size, facts: {}, ...file };
  });
  return {
    kind: 'made',
    label: 'made',
    reads,
    async *list(matches) {
      for (const entry of entries) if (matches(entry.name)) yield entry;
    },
    async get(name) {
      const index = /^index:(\d+)$/.exec(name)?.[1];
      const entry = entries.find((one) => (index === undefined ? one.name === name : one.index === Number(index)));
      if (entry === undefined) throw new PakratError('E_NOT_FOUND', `no ${name}`);
      return entry;
    },
    async prepare() {},
    async *read(entry) {
      const { content } = entry as Made;
      reads.push(entry.name);
      if (typeof content !== 'string') throw content;
      yield Buffer.from(content);
    },
    info: async () => ({}),
    async close() {},
  };
}

async function diff(
  before: Source | readonly Made[],
  after: Source | readonly Made[],
  matches: (name: string) => boolean = () => true,
): Promise<Difference> {
  const open = (side: Source | readonly Made[]): Source => ('list' in side ? side : sourceOf(side as Made[]));
  return diffSources(open(before), open(after), { matches, temporary });
}

function lines(difference: Difference): string[] {
  return [...difference.items()].map((item: DiffItem) => {
    const row = item.kind === 'removed' ? item.before : item.after;
    return `${item.kind} ${nameOf(row)}${'by' in item ? ` by ${item.by}` : ''}`;
  });
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

describe('how files are compared', () => {
  test('by the MD5 that both sides know, and then nothing is read', async () => {
    const before = sourceOf([
      { name: 'a', size: 3, md5: md5('one') },
      { name: 'b', size: 3, md5: md5('one') },
    ]);
    const after = sourceOf([
      { name: 'a', size: 3, md5: md5('two') },
      { name: 'b', size: 3, md5: md5('one') },
    ]);
    const found = await diff(before, after);
    expect(lines(found)).toEqual(['changed a by md5']);
    expect(found).toMatchObject({ unchanged: 1, decided: { md5: 2 } });
    expect([...before.reads, ...after.reads]).toEqual([]);
  });

  test('by size where it differs or is nothing, else by content; a side that knows its MD5 is not read', async () => {
    const before = sourceOf([
      { name: 'empty', content: '' },
      { name: 'grown', content: 'xx' },
      { name: 'known', size: 3, md5: md5('one') },
      { name: 'other', content: 'abc' },
      { name: 'same', content: 'abc' },
    ]);
    const after = sourceOf([
      { name: 'empty', content: '' },
      { name: 'grown', content: 'xxx' },
      { name: 'known', content: 'one' },
      { name: 'other', content: 'abd' },
      { name: 'same', content: 'abc' },
    ]);
    const found = await diff(before, after);
    expect(lines(found)).toEqual(['changed grown by size', 'changed other by content']);
    expect(found).toMatchObject({ unchanged: 3, decided: { size: 2, content: 3 } });
    expect(before.reads).toEqual(['other', 'same']);
    expect(after.reads).toEqual(['known', 'other', 'same']);
    // The MD5 that reading told is there for whoever shows the rows.
    const changed = [...found.items()].find((item) => item.kind === 'changed' && item.by === 'content');
    expect(changed).toMatchObject({ before: { mark: { key: md5('abc') } }, after: { mark: { key: md5('abd') } } });
  });

  test('contents are compared as the second side is listed, and what was read ends at what was to be read', async () => {
    const count = 1300;
    const made = (name: string, content: string): Made => ({ name, content });
    const names = Array.from({ length: count }, (_, i) => `file ${String(i).padStart(4, '0')}`);
    const before = sourceOf([made('gone', 'xyz'), ...names.map((name) => made(name, `${name} old`))]);
    // Every hundredth is another of the same size, every hundred and first another in size; the rest is as it was.
    const text = (name: string, i: number): string =>
      `${name} ${i % 100 === 7 ? 'new' : i % 101 === 0 ? 'longer' : 'old'}`;
    const after = sourceOf([made('fresh', 'x'), ...names.map((name, i) => made(name, text(name, i)))]);
    const readBefore: number[] = [];
    const list = after.list.bind(after);
    after.list = async function* (...given) {
      for await (const entry of list(...given)) {
        readBefore.push(after.reads.length);
        yield entry;
      }
    };
    const bytes: [done: number, total: number][] = [];
    const found = await diffSources(before, after, {
      temporary,
      onProgress: (phase, done, total) => phase === 'compare' && bytes.push([done, total]),
    });
    const sizes = names.filter((_, i) => i % 101 === 0 && i % 100 !== 7);
    const contents = names.filter((_, i) => i % 100 === 7);
    const changed = [...sizes.map((name) => `${name} by size`), ...contents.map((name) => `${name} by content`)];
    expect(lines(found).sort()).toEqual(
      ['added fresh', 'removed gone', ...changed.map((line) => `changed ${line}`)].sort(),
    );
    expect(found.unchanged).toBe(count - sizes.length - contents.length);
    // Long before all are listed.
    expect(readBefore[700]).toBeGreaterThan(400);
    expect(bytes.every(([done, total]) => done <= total)).toBe(true);
    expect(bytes.at(-1)![0]).toBe(bytes.at(-1)![1]);
  });

  test('the same stored bytes are the same content; others, and encrypted ones, say nothing', async () => {
    const row = (name: string, content: string, facts: Record<string, unknown>): Made => ({
      name,
      content,
      facts: { encrypted: false, method: 'zlib', ...facts },
    });
    const before = sourceOf([
      row('same', 'abc', { sha1: 'aa' }),
      row('stored otherwise', 'abc', { sha1: 'aa' }),
      row('other method', 'abc', { sha1: 'aa' }),
      row('encrypted', 'abc', { sha1: 'aa', encrypted: true }),
      row('no hash', 'abc', { sha1: '0'.repeat(40) }),
    ]);
    const after = sourceOf([
      row('same', 'abc', { sha1: 'aa' }),
      row('stored otherwise', 'abc', { sha1: 'bb' }),
      row('other method', 'abd', { sha1: 'aa', method: 'none' }),
      row('encrypted', 'abd', { sha1: 'aa', encrypted: true }),
      row('no hash', 'abd', { sha1: '0'.repeat(40) }),
    ]);
    const found = await diff(before, after);
    expect(lines(found)).toEqual(['encrypted', 'no hash', 'other method'].map((name) => `changed ${name} by content`));
    expect(found.decided).toEqual({ sha1: 1, content: 4 });
    expect(before.reads).not.toContain('same');
  });

  test('a file that cannot be read is named, and neither equal nor changed; the others are compared', async () => {
    const locked = new PakratError('E_KEY_MISSING', 'locked');
    const found = await diff(
      [
        { name: 'locked', size: 3, content: locked },
        { name: 'x', content: 'abc' },
      ],
      [
        { name: 'locked', content: 'abc' },
        { name: 'x', content: 'abd' },
      ],
    );
    expect(found.failed).toEqual([{ name: 'locked', code: 'E_KEY_MISSING', message: 'locked' }]);
    expect(lines(found)).toEqual(['changed x by content']);
    expect(found.unchanged).toBe(0);
  });
});

describe('which files are the same file', () => {
  test('those of one name, in whatever order; added and removed ones by name', async () => {
    const found = await diff(
      ['c', 'a', 'gone'].map((name) => ({ name, content: 'x' })),
      ['new', 'a', 'b', 'c'].map((name) => ({ name, content: 'x' })),
    );
    expect(lines(found)).toEqual(['added b', 'removed gone', 'added new']);
    expect(found.files).toEqual({ before: 3, after: 4 });
  });

  test('a name as it came out of extract: composed letters, and - for the colon of an id', async () => {
    const found = await diff(
      [
        { name: 'fdid:5', content: 'x', facts: { fileDataId: 5 } },
        { name: 'e\u0301', content: 'x' },
      ],
      [
        { name: 'fdid-5', content: 'x' },
        { name: '\u00e9', content: 'x' },
      ],
    );
    expect(lines(found)).toEqual([]);
    expect(found.unchanged).toBe(2);
  });

  test('hidden rows are no files; of several with one name the first counts, and that is told', async () => {
    const twice: Made[] = [
      { name: 'a', content: 'x', index: 0 },
      { name: 'a', content: 'y', index: 1 },
      { name: 'a', content: 'z', index: 2, hidden: 'shadowed' },
    ];
    expect(await diff(twice, [{ name: 'a', content: 'x' }])).toMatchObject({ unchanged: 1, repeated: 1, count: 0 });
    expect(await diff([{ name: 'a', content: 'x' }], twice)).toMatchObject({ unchanged: 1, repeated: 1, count: 0 });
    // Of rows with a number the content of that row is read, not that of another with its name.
    const second = await diff([{ ...twice[0]!, hidden: 'deleted' }, twice[1]!], [{ name: 'a', content: 'y' }]);
    expect(second.unchanged).toBe(1);
  });

  test('only names that match are looked at', async () => {
    const found = await diff([{ name: 'a.txt', content: 'x' }], [{ name: 'b.bin', content: 'x' }], (name) =>
      name.endsWith('.bin'),
    );
    expect(lines(found)).toEqual(['added b.bin']);
  });
});

/** A build whose root has ids: each with a content, and a name where one is known. */
function buildOf(files: Record<number, { content: string; name?: string }>): Source {
  const rows = Object.entries(files).map(([id, { content, name }]) => ({
    fileDataId: Number(id),
    name,
    localeFlags: 0xffffffff,
    contentFlags: 0,
    parts: [{ ckey: md5(content), size: undefined }],
  }));
  const contents = ['exe', ...Object.values(files).map(({ content }) => content)];
  const sizes = new Map(contents.map((content) => [md5(content), content.length]));
  const root = {
    kind: 'wow',
    find: () => [],
    *list(matches: (name: string) => boolean) {
      for (const row of rows) if (matches(row.name ?? `fdid:${row.fileDataId}`)) yield row;
    },
  };
  const build: unknown = {
    identity: { product: 'made', name: '1' },
    root: async () => root,
    wholeRoot: async () => root,
    lookUp: async (work: () => unknown) => work(),
    install: async () => ({ tags: [], entries: [{ path: 'Game.exe', ckey: md5('exe'), size: 3 }] }),
    encoding: {
      findCkey: (ckey: string) => ({ size: sizes.get(ckey), ekeys: [] }),
      findCkeys: async (ckeys: string[]) => (row: number) => ({ size: sizes.get(ckeys[row] ?? ''), ekeys: [] }),
    },
  };
  return buildSource(build as Build, { locale: 'enUS' });
}

describe('two builds that have ids', () => {
  const shown = async (before: Source, after: Source): Promise<unknown[]> =>
    [...(await diff(before, after)).items()].map((item) =>
      item.kind === 'added' || item.kind === 'removed'
        ? [item.kind, nameOf(item.kind === 'added' ? item.after : item.before)]
        : [item.kind, nameOf(item.before), item.before.size, nameOf(item.after), item.after.size],
    );

  test('a file is its id: under another name it is renamed, or changed with another content', async () => {
    const before = buildOf({
      1: { content: 'one', name: 'a/old' },
      2: { content: 'two', name: 'b/old' },
      3: { content: 'three', name: 'c' },
    });
    const after = buildOf({
      1: { content: 'one', name: 'a/new' },
      2: { content: 'other', name: 'b/new' },
      3: { content: 'three', name: 'c' },
    });
    expect(await shown(before, after)).toEqual([
      ['renamed', 'a/old', 3, 'a/new', 3],
      ['changed', 'b/old', 3, 'b/new', 5],
    ]);
    expect(await diff(before, after)).toMatchObject({ unchanged: 2, decided: { md5: 4 } });
  });

  test('a name under another id is another file', async () => {
    expect(
      await shown(buildOf({ 1: { content: 'x', name: 'a' } }), buildOf({ 9: { content: 'x', name: 'a' } })),
    ).toEqual([
      ['removed', 'a'],
      ['added', 'a'],
    ]);
  });

  test('a name that only one side knows is no other name; those without one are listed last, by id', async () => {
    const before = buildOf({
      1: { content: 'x' },
      9: { content: 'x' },
      10: { content: 'y' },
      70: { content: '1' },
      80: { content: 'x' },
    });
    const after = buildOf({
      1: { content: 'x', name: 'z' },
      9: { content: 'xx' },
      10: { content: 'yy' },
      70: { content: '2', name: 'b' },
    });
    expect(await shown(before, after)).toEqual([
      ['changed', 'fdid:70', 1, 'b', 1],
      ['changed', 'fdid:9', 1, 'fdid:9', 2],
      ['changed', 'fdid:10', 1, 'fdid:10', 2],
      ['removed', 'fdid:80'],
    ]);
  });
});

test('many files, of which names and sizes fill more than one block of the table', async () => {
  const count = 70_000;
  const rows = (salt: number): Made[] =>
    Array.from({ length: count }, (_, i) => ({
      name: `folder${i % 30}/a name that is long enough to fill blocks of names, number ${(i * 7919) % 100_003}`,
      size: i,
      md5: md5(`${i} ${i % salt === 0 ? salt : ''}`),
    }));
  const [a, b] = [rows(997).slice(0, -100), rows(991).slice(100)];
  // A name longer than any block.
  a.push({ name: 'x'.repeat(3 << 20), size: 1, md5: md5('1') });
  const [left, right] = [a, b].map((side) => new Map(side.map((row) => [row.name, row.md5])));
  const expected = [
    ...[...right!].flatMap(([name, key]) => {
      if (!left!.has(name)) return [`added ${name}`];
      return left!.get(name) === key ? [] : [`changed ${name} by md5`];
    }),
    ...[...left!.keys()].flatMap((name) => (right!.has(name) ? [] : [`removed ${name}`])),
  ];
  const found = await diff(a, b);
  expect(lines(found).sort()).toEqual(expected.sort());
  expect(found.unchanged).toBe(count - 100 - expected.filter((line) => /^(changed|removed folder)/.test(line)).length);
  const order = [...found.items()].map((item) => nameOf(item.kind === 'removed' ? item.before : item.after));
  expect(order).toEqual([...order].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))));
  // Listing again gives the same.
  expect([...found.items()]).toHaveLength(found.count);
});

describe('so many files that they do not stay in memory', () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `world/zone${i % 7}/${'area'.repeat(10)}/${i}.m2`);
  // Sides that know what their files hold: nothing is read.
  const side = (contentOf: (i: number) => string): Made[] =>
    names.map((name, i) => ({ name, size: 1, md5: md5(contentOf(i)) }));
  const before = side((i) => String(i));

  test('are compared as few are, and nothing of them is left on disk', async () => {
    // In another order, with one in a thousand changed, one in 1500 gone, and one new.
    const after = side((i) => (i % 1000 === 7 ? `${i + 1}` : String(i)))
      .filter((_, i) => i % 1500 !== 3)
      .reverse();
    const found = await diff(before, [...after, { name: 'new', content: '' }]);
    const changed = names.filter((_, i) => i % 1000 === 7).map((name) => `changed ${name} by md5`);
    const removed = names.filter((_, i) => i % 1500 === 3).map((name) => `removed ${name}`);
    expect(lines(found).sort()).toEqual([...changed, ...removed, 'added new'].sort());
    expect(found.unchanged).toBe(20_000 - changed.length - removed.length);
    expect(fs.readdirSync(temporary)).toEqual([]);
    // And again.
    expect(lines(found)).toHaveLength(changed.length + removed.length + 1);
  });

  test('leave nothing on disk when it is ended', async () => {
    const ended = new AbortController();
    const after = sourceOf(before);
    const list = after.list.bind(after);
    after.list = async function* (...given) {
      expect(fs.readdirSync(temporary)).toHaveLength(1);
      ended.abort();
      yield* list(...given);
    };
    const options = { temporary, signal: ended.signal };
    await expect(diffSources(sourceOf(before), after, options)).rejects.toMatchObject({ code: 'E_ABORTED' });
    expect(fs.readdirSync(temporary)).toEqual([]);
  });
});
