import { describe, expect, test } from '@jest/globals';
import tables from '../../../../data/nadeo-classes.json' with { type: 'json' };
import { nodeClasses } from '../../../../src/paks/nadeo/gbx/node-classes.ts';
import { conformanceBytes, describeConformance } from '../../../support/conformance.ts';

const root = 0x01001000;
const challenge = 0x03043000;

describeConformance('class tables', () => {
  test('agree with the published ones', () => {
    const rows = (name: string) =>
      new TextDecoder()
        .decode(conformanceBytes('pak', 'nadeo', 'tables', name))
        .split(/\r?\n/)
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => line.split(/\s+/));
    const old = nodeClasses(3);
    for (const [inFile, engine] of rows('WrapTMF.txt')) {
      expect(old.wrap(Number.parseInt(inFile!, 16))).toBe(Number.parseInt(engine!, 16));
    }
    const modern = nodeClasses(12);
    for (const [inFile, engine] of rows('Wrap.txt')) {
      expect(modern.wrap(Number.parseInt(inFile!, 16))).toBe(Number.parseInt(engine!, 16));
    }
    for (const [classId] of rows('tmuf-class-parents.tsv')) {
      expect([classId, old.isKnown(Number(classId))]).toEqual([classId, true]);
    }
    expect(old.mixesOf(0x07017000)[0]).toBe(0x0902b000);
  });
});

describe('what a node mixes', () => {
  test.each([
    [3, challenge, root],
    [3, 0x0304f000, 0x24005000],
    [3, 0x07006000, 0x07001000],
    [3, 0x0305d000, 0x2401c000],
    [8, 0x0304f000, 0x24005000],
    [8, 0x07006000, 0x07001000],
    [12, 0x090ed000, 0x0a02e000],
    [12, 0x09185000, root],
    [18, 0x09185000, 0x05002000],
    [18, 0x0a003000, 0x0a001000],
    [18, 0x09145000, undefined],
  ])('version %i, class %i', (version, classId, mixed) => {
    expect(nodeClasses(version).mixesOf(classId)[0]).toBe(mixed);
  });

  test('every class may mix nothing, and a class that nobody knows mixes likeliest the root', () => {
    const classes = nodeClasses(3);
    expect(classes.mixesOf(challenge)).toEqual([root, undefined]);
    expect(classes.isKnown(0x7f123000)).toBe(false);
    expect(classes.mixesOf(0x7f123000)).toEqual([root, undefined]);
  });
});

const { endings, ...generations } = tables;

describe.each(Object.entries(generations))('the tables of %s', (_, table) => {
  const pairs = { ...table.wraps, ...('unwraps' in table ? table.unwraps : {}) };
  const families = Object.entries(table.parents).flatMap(([parent, children]) =>
    children.map((child): [string, string] => [child, parent]),
  );

  test('hold five hex digits for each class', () => {
    const ids = [...families.flat(), ...Object.entries(pairs).flat(), ...Object.values(endings)];
    expect(ids.filter((id) => !/^[0-9a-f]{5}$/.test(id))).toEqual([]);
    expect(ids.length).toBeGreaterThan(1000);
  });

  test('give a class one parent, and none that descends from it', () => {
    const parents = new Map(families);
    expect(parents.size).toBe(families.length);
    for (const [child] of families) {
      const line = [child];
      for (let at = parents.get(child); at !== undefined && line.length < 50; at = parents.get(at)) line.push(at);
      expect([child, new Set(line).size]).toEqual([child, line.length]);
    }
  });
});
