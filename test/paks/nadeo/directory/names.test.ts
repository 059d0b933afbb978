import { describe, expect, test } from '@jest/globals';
import {
  decodeNameList,
  hashedName,
  isHashedName,
  NameBook,
  pathTails,
  scriptReferences,
} from '../../../../src/paks/nadeo/directory/names.ts';
import { conformanceBytes, describeConformance } from '../../../support/conformance.ts';

describeConformance('hashed names', () => {
  test('all of the published pairs', () => {
    const text = new TextDecoder().decode(conformanceBytes('pak', 'nadeo', 'tables', 'FileHashes-first-2000.txt'));
    const names = decodeNameList(text);
    expect(names.length).toBe(2000);
  });
});

describe('hashed names', () => {
  test('the known example, in either case and slash', () => {
    expect(hashedName('321Go.Texture.gbx')).toBe('1110CD518E489B235DDE849F3CC6B147F2');
    expect(hashedName('A\\B.Gbx')).toBe(hashedName('a/b.gbx'));
    expect(isHashedName('1110CD518E489B235DDE849F3CC6B147F2')).toBe(true);
    expect(isHashedName('1110cd518e489b235dde849f3cc6b147f2')).toBe(false);
  });

  test('a path is known by each of its tails', () => {
    expect(pathTails('a/b/c.txt')).toEqual(['a\\b\\c.txt', 'b\\c.txt', 'c.txt']);
    const book = new NameBook();
    book.add('Media\\Texture\\Wall.dds');
    expect(book.find(hashedName('Texture\\Wall.dds'))).toBe('Texture\\Wall.dds');
    expect(book.find(hashedName('texture'))).toBeUndefined();
  });

  test('a path made to cost work does not', () => {
    const started = performance.now();
    new NameBook().add('\\a'.repeat(100_000));
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

describe('lists of names', () => {
  test('names and pairs, with comments', () => {
    expect(decodeNameList('# names\r\nMedia\\A.dds\n1110CD518E489B235DDE849F3CC6B147F2 321Go.Texture.gbx\n')).toEqual([
      'Media\\A.dds',
      '321Go.Texture.gbx',
    ]);
  });

  test('a pair that does not belong together is refused', () => {
    expect(() => decodeNameList('1110CD518E489B235DDE849F3CC6B147F3 321Go.Texture.gbx')).toThrow(
      expect.objectContaining({ code: 'E_FORMAT' }),
    );
  });
});

test('what a script refers to', () => {
  const script = `#Include "Libs/Nadeo/Color.Script.txt" as C
#Extends "Modes/Base.Script.txt"
#Const C_ScriptName "TM/Time.Script.txt"
<quad url="file://Media/Images/Logo.dds" name="Intro.Script.txt"/>`;
  expect(scriptReferences(script).sort()).toEqual([
    'Intro.Script.txt',
    'Libs\\Nadeo\\Color.Script.txt',
    'Media\\Images\\Logo.dds',
    'Modes\\Base.Script.txt',
    'TM\\Time.Script.txt',
  ]);
});
