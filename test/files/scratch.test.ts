import { writeFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { fileSource } from '../../src/files/file-source.ts';
import { type FillingSource, Scratch } from '../../src/files/scratch.ts';
import { scratchFolder } from '../support/scratch.ts';

const folder = scratchFolder();
const content = Buffer.from(Array.from({ length: 600_000 }, (_, i) => (i * 7) % 251));

/** A file, and the sizes of what is read of it. */
async function watched(name: string): Promise<{ source: FillingSource; reads: number[] }> {
  writeFileSync(folder(name), content);
  const inner = await fileSource(folder(name));
  const reads: number[] = [];
  const readInto = (target: Uint8Array, offset: number): void => {
    reads.push(target.length);
    inner.readInto?.(target, offset);
  };
  return { source: { ...inner, readInto }, reads };
}

test('small pieces one behind the other are read together, and are what the file has', async () => {
  const { source, reads } = await watched('small');
  const scratch = new Scratch();
  let at = 0;
  for (let i = 0; at < 590_000; i++) {
    const size = (i * 131) % 900;
    expect(Buffer.compare(await scratch.read(source, at, size), content.subarray(at, at + size))).toBe(0);
    at += size + (i % 3);
  }
  expect(reads.length).toBeLessThan(20);
  await source.close();
});

test('large pieces, and small ones here and there, are read by themselves', async () => {
  const { source, reads } = await watched('large');
  const scratch = new Scratch();
  for (const [offset, size] of [
    [0, 200_000],
    [200_000, 100_000],
    [500_000, 10],
    [100_000, 10],
  ] as const) {
    expect(Buffer.compare(await scratch.read(source, offset, size), content.subarray(offset, offset + size))).toBe(0);
  }
  expect(reads).toEqual([200_000, 100_000, 10, 10]);
  expect(() => scratch.read(source, 599_999, 2)).toThrow(expect.objectContaining({ code: 'E_FORMAT_TRUNCATED' }));
  await source.close();
});

test('pieces in any order are what the file has', async () => {
  const { source } = await watched('any');
  const scratch = new Scratch();
  let state = 99;
  const next = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % below;
  };
  let at = 0;
  for (let i = 0; i < 3000; i++) {
    const size = next(i % 5 === 0 ? 100_000 : 3000);
    // Mostly a little ahead, now and then anywhere.
    at = i % 7 === 0 || at > 590_000 ? next(500_000) : at + next(40);
    const end = Math.min(at + size, content.length);
    expect(Buffer.compare(await scratch.read(source, at, end - at), content.subarray(at, end))).toBe(0);
    at = end;
  }
  await source.close();
});

test('what was read ahead is forgotten when the event loop turns', async () => {
  const { source } = await watched('changing');
  const scratch = new Scratch();
  for (const at of [0, 10, 20]) await scratch.read(source, at, 10);
  writeFileSync(folder('changing'), Buffer.alloc(content.length, 'x'));
  await nextTurn();
  expect(Buffer.from(await scratch.read(source, 30, 10)).toString()).toBe('x'.repeat(10));
  await source.close();
});
