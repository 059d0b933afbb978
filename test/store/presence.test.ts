import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { storeLayout } from '../../src/store/layout.ts';
import { openStore } from '../../src/store/store.ts';
import { builtModule } from '../support/built-module.ts';
import { runInChild } from '../support/child.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const storeModule = builtModule('src/store/store.ts');
let number = 0;
let root: string;

beforeEach(() => {
  number += 1;
  root = scratch(`store${number}`);
});

function present(): string[] {
  return readdirSync(storeLayout(root).temporary).filter((name) => name.startsWith('open-'));
}

/** Leaves what a process of another machine would have left. */
function otherMachine(host: string, secondsAgo: number): string {
  const { temporary } = storeLayout(root);
  mkdirSync(temporary, { recursive: true });
  const file = join(temporary, 'open-0123456789ab-77-1-89abcdef');
  writeFileSync(file, host);
  const time = new Date(Date.now() - secondsAgo * 1000);
  utimesSync(file, time, time);
  return file;
}

test('a store that another machine has open is refused with the name of that machine, and nothing is left of the try', () => {
  openStore(root, { create: true }).close();
  otherMachine('nas-two', 30);
  expect(() => openStore(root, { create: true })).toThrow(
    expect.objectContaining({ code: 'E_STORE_LOCKED', message: expect.stringContaining('nas-two') }),
  );
  expect(present()).toHaveLength(1);
});

test('a machine that was not heard of for a minute has broken down', () => {
  const file = otherMachine('nas-two', 90);
  openStore(root, { create: true }).close();
  expect(existsSync(file)).toBe(false);
});

test('what another machine wrote into its file never reaches a terminal', () => {
  otherMachine('\u001b[2Jevil', 1);
  expect(() => openStore(root, { create: true })).toThrow(
    expect.objectContaining({ message: expect.stringMatching(/^[ -~]+$/) }),
  );
});

test('processes of one machine have a store open beside each other, and each takes its mark away', () => {
  const first = openStore(root, { create: true });
  const second = openStore(root, { create: true });
  expect(present()).toHaveLength(2);
  second.close();
  expect(present()).toHaveLength(1);
  first.close();
  expect(present()).toEqual([]);
});

test('the mark of a process that was killed goes with the next', async () => {
  const child = runInChild(`
    import { openStore } from '${storeModule}';
    openStore(${JSON.stringify(root)}, { create: true });
    console.log('open');
    setInterval(() => {}, 1000);
  `);
  await child.says('open');
  await child.kill();
  expect(present()).toHaveLength(1);
  openStore(root, { create: true }).close();
  expect(present()).toEqual([]);
});
