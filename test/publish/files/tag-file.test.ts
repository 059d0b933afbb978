import { expect, test } from '@jest/globals';
import { decodeTagFile } from '../../../src/publish/files/tag-file.ts';

const key = { name: 'aa00112233445566', key: '0'.repeat(32) };
const decode = (text: string) => decodeTagFile(Buffer.from(text), [key]);

test('all lines that match a name count; of priorities and keys the last', () => {
  const { factsOf, namesKeys } = decode(`
    # what is for whom
    Windows,x86_64,install  bin/Win 64/**
    priority:5              *
    priority:-3,key:AA00112233445566   *.EXE
    9:Odd,Windows           bin
  `);
  expect(factsOf('bin/Win 64/game.exe')).toEqual({
    tags: [
      { name: 'Windows', type: 1 },
      { name: 'x86_64', type: 2 },
      { name: 'Odd', type: 9 },
    ],
    install: true,
    priority: -3,
    key,
  });
  expect(factsOf('readme.txt')).toEqual({ priority: 5 });
  expect(namesKeys).toBe(true);
});

test.each([
  ['OSX', 1],
  ['arm64', 2],
  ['deDE', 3],
  ['EU', 4],
  ['speech', 5],
  ['HighRes', 0x4000],
  ['platform:Toaster', 1],
  ['alternate:Low', 0x4000],
])('%s is a tag of type %i', (word, type) => {
  const [tag] = decode(`${word} **`).factsOf('a').tags ?? [];
  expect(tag).toEqual({ name: word.replace(/^.*:/, ''), type });
});

test('globs that matched nothing are told', () => {
  const { factsOf, unused } = decode('enUS a/**\ndeDE b/**\n');
  factsOf('a/1');
  expect(unused()).toEqual(['b/**']);
});

test.each([
  ['Extra **', /line 1: the tag Extra is not known by its name; say its type, as in category:Extra/],
  ['\n\ncolour:Red **', /line 3: colour is no type of tags/],
  ['xxYY **', /xxYY is not known/],
  ['enUS', /tag file: line 1: words, then a glob/],
  ['enUS, deDE **', /a word is empty/],
  ['priority:200 **', /priority 200 is outside/],
  ['priority:high **', /priority high/],
  ['key:0000000000000001 **', /no key 0000000000000001 is given/],
  ['enUS !(a)', /!\(…\) is not known/],
])('%j is refused by its line', (text, message) => {
  expect(() => decode(text)).toThrow(message);
});
