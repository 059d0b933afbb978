import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from '@jest/globals';
import { clearDeadTemporaries, removeTemporaries, temporaryName } from '../../src/files/temporary.ts';
import { builtModule } from '../support/built-module.ts';
import { type Child, runInChild } from '../support/child.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const module = builtModule('src/files/temporary.ts');
const code = `
  import { parentPort } from 'node:worker_threads';
  const { temporaryName } = await import(${JSON.stringify(module)});
  parentPort.postMessage(Array.from({ length: 2000 }, () => temporaryName('folder')));
`;

test('threads of one process never share a temporary name, though they count alike', async () => {
  const workers = [1, 2, 3].map(() => new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`)));
  const lists = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0] as string[]));
  expect(new Set(lists.flat()).size).toBe(6000);
});

/** A process that has a temporary file in a folder. */
async function writer(folder: string): Promise<Child & { file: string }> {
  const before = fs.readdirSync(folder);
  const child = runInChild(`
    import { writeFileSync } from 'node:fs';
    const { temporaryName } = await import(${JSON.stringify(module)});
    writeFileSync(temporaryName(${JSON.stringify(folder)}, '.pakrat-'), 'half');
    console.log('written');
    setTimeout(() => {}, 30000);
  `);
  await child.says('written');
  return { ...child, file: fs.readdirSync(folder).find((name) => !before.includes(name)) ?? '' };
}

test('what a dead process left is cleared; what a living one or another host has stays, as does every other file', async () => {
  const folder = scratch('left');
  fs.mkdirSync(folder);
  const dead = await writer(folder);
  const living = await writer(folder);
  const own = temporaryName(folder);
  fs.writeFileSync(own, '');
  await dead.kill();
  const [, pid, start, host] = /^\.pakrat-(\d+)-([0-9a-z]+)-([0-9a-f]{8})-0-1\.tmp$/.exec(dead.file) ?? [];
  const others = [
    // Another host's.
    `.pakrat-${pid}-${start}-${host === '00000000' ? '1' : '0'}0000000-0-1.tmp`,
    `.pakrat-${pid}.tmp`,
    `${pid}-0-1.tmp`,
    `notes-${dead.file}`,
    'listfile.part',
  ];
  for (const name of others) fs.writeFileSync(join(folder, name), '');
  clearDeadTemporaries(folder);
  expect(fs.readdirSync(folder).sort()).toEqual([living.file, own.slice(folder.length + 1), ...others].sort());
  await living.kill();
  removeTemporaries();
  clearDeadTemporaries(folder);
  expect(fs.readdirSync(folder).sort()).toEqual([...others].sort());
});

test('a process number that is used again by another process does not save the file', () => {
  const folder = scratch('again');
  fs.mkdirSync(folder);
  const [, start = ''] = /-([0-9a-z]+)-[0-9a-f]{8}-/.exec(temporaryName(folder)) ?? [];
  const mine = temporaryName(folder);
  const earlier = mine.replace(`-${start}-`, '-1-');
  const unknown = mine.replace(`-${start}-`, '-0-');
  for (const name of [mine, earlier, unknown]) fs.writeFileSync(name, '');
  clearDeadTemporaries(folder);
  // Where the system does not tell when a process began, its number alone counts.
  const isTold = fs.existsSync('/proc/self/stat');
  expect(fs.existsSync(earlier)).toBe(!isTold);
  expect([mine, unknown].map((name) => fs.existsSync(name))).toEqual([true, true]);
  clearDeadTemporaries(scratch('not there'));
});
