import { describe, expect, test } from '@jest/globals';
import { countEntries, eachEntry, entryAt, offerEntries } from '../../../src/paks/many-entries.ts';
import { foldName } from '../../../src/paks/names.ts';
import type { HiddenKind, Pak, PakEntry } from '../../../src/paks/pak.ts';
import type { SearchStep } from '../../../src/paks/search-path/placed-rows.ts';
import { joinSearchPath } from '../../../src/paks/search-path/search-path.ts';
import { randomSource } from '../../support/hostile.ts';

interface Row {
  name: string;
  hidden?: HiddenKind | undefined;
}

/** A PAK of these rows, whose content is its label and their number. It gives one entry at a time, and never all of them. */
function fakePak(label: string, rows: readonly Row[]): Pak {
  const content = ({ index }: PakEntry): Buffer => Buffer.from(`${label} ${index}`);
  const at = (index: number): PakEntry | undefined => {
    const row = rows[index];
    return row && { ...row, index, size: 1, storedSize: 1, method: 'none', encrypted: false, note: noteOf(row) };
  };
  const pak: Pak = {
    family: 'fake',
    version: '1',
    notes: [],
    facts: {},
    get entries(): never {
      throw new Error('all of them at once');
    },
    find: () => undefined,
    async *read(entry) {
      yield content(entry);
    },
    verify: async () => undefined,
    hasProof: async () => true,
    verifyDirectory: async () => undefined,
    close: async () => {},
  };
  offerEntries(pak, { count: rows.length, at, share: () => undefined });
  return pak;
}

function noteOf({ hidden }: Row): string | undefined {
  return hidden && `${hidden} in its PAK`;
}

interface Placed extends Row {
  origin: string;
  /** Its number in its own PAK. */
  inner: number;
  note: string | undefined;
}

/** What an engine makes of a search path, by going through all of it. */
function placeAll(steps: readonly { label: string; rows: Row[] }[], keyOf: (name: string) => string): Placed[] {
  const placed: Placed[] = [];
  const winners: { key: string; row: Placed }[] = [];
  for (const { label, rows } of steps) {
    for (const [inner, row] of rows.entries()) {
      const key = keyOf(row.name);
      const winner = winners.find((one) => one.key === key)?.row;
      const by = winner && (winner.hidden === 'delete-record' ? 'deleted' : 'shadowed');
      const notes = [noteOf(row), winner && `${by} by ${winner.origin}`].filter((note) => note !== undefined);
      const own = { ...row, origin: label, inner, hidden: row.hidden ?? by, note: notes.join('; ') || undefined };
      placed.push(own);
      if (winner === undefined && row.hidden !== 'shadowed') winners.push({ key, row: own });
    }
  }
  return placed;
}

/** The file that a name gives: the first of it, unless that deletes it; of no file of that name one whose name differs by case alone. */
function fileOf(truth: readonly Placed[], name: string, keyOf: (name: string) => string): Placed | undefined {
  const isFirst = ({ hidden }: Placed): boolean => hidden === undefined || hidden === 'delete-record';
  const own = truth.find((row) => keyOf(row.name) === keyOf(name) && isFirst(row));
  if (own !== undefined) return own.hidden === undefined ? own : undefined;
  return truth.find((row) => foldName(row.name) === foldName(name) && row.hidden === undefined);
}

async function textOf(pak: Pak, entry: PakEntry): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of pak.read(entry)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const shared = { family: 'fake-folder', version: '', facts: {}, notes: [] };

describe.each([
  ['without case', foldName],
  ['exactly', (name: string) => name],
])('names that are compared %s', (_, keyOf) => {
  test.each([1, 2, 3, 4, 5, 6])(
    'every row is what going through all of them says, and every name gives its row (%i)',
    async (seed) => {
      const random = randomSource(seed);
      const pick = (count: number): number => Math.floor(random() * count);
      const names = Array.from(
        { length: 60 },
        (_, i) => `${['maps', 'Maps', 'sound'][i % 3]}/file${i % 17}.${i % 2 === 0 ? 'wav' : 'WAV'}`,
      );
      const hiddenOf = (): HiddenKind | undefined => (['shadowed', 'delete-record'] as const)[pick(9)];
      const plans = Array.from({ length: 5 }, (_, step) => ({
        label: `pak${step}.pak`,
        rows: Array.from({ length: pick(40) }, (): Row => ({ name: names[pick(names.length)]!, hidden: hiddenOf() })),
      }));
      const joined = (): Pak =>
        joinSearchPath(
          plans.map(({ label, rows }) => ({ label, pak: fakePak(label, rows) })),
          { ...shared, keyOf },
        );
      const truth = placeAll(plans, keyOf);
      const whole = joined();
      expect(countEntries(whole)).toBe(truth.length);
      const rows = [...eachEntry(whole)];
      expect(rows.map(({ name, hidden, note, origin }) => ({ name, hidden, note, origin }))).toEqual(
        truth.map(({ name, hidden, note, origin }) => ({ name, hidden, note, origin })),
      );
      expect(whole.entries.map(({ name, hidden }) => [name, hidden])).toEqual(
        truth.map(({ name, hidden }) => [name, hidden]),
      );
      for (const [i, { origin, inner }] of truth.entries())
        expect(await textOf(whole, rows[i]!)).toBe(`${origin} ${inner}`);
      expect([entryAt(whole, -1), entryAt(whole, truth.length), entryAt(whole, 0.5)]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      for (const name of new Set(names)) {
        const wanted = fileOf(truth, name, keyOf);
        // The first name that a PAK is asked for, and one of many.
        for (const pak of [joined(), whole]) {
          const found = pak.find(name);
          expect([name, found?.name, found && truth[found.index]]).toEqual([name, wanted?.name, wanted]);
          if (found === undefined) continue;
          expect(await textOf(pak, found)).toBe(`${wanted?.origin} ${wanted?.inner}`);
          expect(found.hidden).toBeUndefined();
          const isOther = keyOf(found.name) !== keyOf(name);
          expect(found.note).toBe(isOther ? `found by ignoring case: it is stored as ${found.name}` : undefined);
        }
      }
    },
  );
});

test('what is left out is in no way, and numbers are those of what is left', () => {
  const steps: SearchStep[] = [
    {
      label: 'a',
      pak: fakePak('a', [{ name: 'x/1' }, { name: '2' }, { name: 'x/3' }, { name: '4' }]),
      leavesOut: ({ name }) => name.includes('/'),
    },
    { label: 'b', pak: fakePak('b', [{ name: 'x/1' }, { name: '2' }]), nameOf: ({ name }) => `in/${name}` },
    { label: 'c', pak: fakePak('c', []) },
    { label: 'd', pak: fakePak('d', [{ name: 'in/2' }, { name: 'x/1' }]) },
  ];
  const pak = joinSearchPath(steps, { ...shared, keyOf: foldName });
  expect([pak.find('x/1')?.index, pak.find('X/3'), pak.find('in/2')?.index, pak.find('4')?.index]).toEqual([
    5,
    undefined,
    3,
    1,
  ]);
  expect([...eachEntry(pak)].map(({ index, name, origin, hidden }) => [index, name, origin, hidden])).toEqual([
    [0, '2', 'a', undefined],
    [1, '4', 'a', undefined],
    [2, 'in/x/1', 'b', undefined],
    [3, 'in/2', 'b', undefined],
    [4, 'in/2', 'd', 'shadowed'],
    [5, 'x/1', 'd', undefined],
  ]);
});
