import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { compareWithGame } from '../../src/demo/compare.ts';
import { demoLocales, sampleGame } from '../../src/demo/game.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

/** Lays out the sample game as one language has it. */
function layOut(locale: string): string {
  const folder = scratch(locale);
  for (const file of sampleGame()) {
    if (file.locale !== undefined && file.locale !== locale) continue;
    mkdirSync(dirname(join(folder, file.name)), { recursive: true });
    cpSync(file.path, join(folder, file.name));
  }
  return folder;
}

test.each(demoLocales)('the sample game in %s is its own equal', (locale) => {
  const { files, bytes, different } = compareWithGame(sampleGame(), layOut(locale), locale);
  expect(different).toEqual([]);
  expect(files).toBeGreaterThan(10);
  expect(bytes).toBeGreaterThan(10_000);
});

test('what is missing, changed or too many is named', () => {
  const folder = layOut('enUS');
  const [gone, changed] = sampleGame().filter(({ locale }) => locale === undefined);
  rmSync(join(folder, gone!.name));
  writeFileSync(join(folder, changed!.name), 'other');
  writeFileSync(join(folder, 'stranger.txt'), 'who?');
  const { different } = compareWithGame(sampleGame(), folder, 'enUS');
  const named = [gone!.name, changed!.name, 'stranger.txt'].map((name) => join(folder, name));
  expect(different.sort()).toEqual(named.sort());
});
