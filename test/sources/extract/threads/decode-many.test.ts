import * as fs from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isPakratError, resultUnless } from '../../../../src/core/errors.ts';
import { md5Hex } from '../../../../src/core/hash.ts';
import { decodeBlte } from '../../../../src/formats/blte/decode.ts';
import { encodeBlte } from '../../../../src/formats/blte/encode.ts';
import { ManyDecoder } from '../../../../src/sources/extract/threads/decode-many.ts';
import type { ExtractTask } from '../../../../src/sources/extract/threads/extract-tasks.ts';
import { Workroom } from '../../../../src/sources/extract/threads/workroom.ts';
import { words } from '../../../codecs/ciphers/words.ts';
import { randomSource } from '../../../support/hostile.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const scratch = scratchFolder();
const file = scratch('archive');
let fd: number;
const keyName = 'abababababababab';
const key = Uint8Array.from({ length: 16 }, (_, i) => i);
const keys = { find: (name: string) => (name === keyName ? key : undefined) };
const decoder = new ManyDecoder(new Workroom(), keys);
const contents = words(3_000_000);

beforeAll(() => {
  fd = fs.openSync(file, 'w+');
});
afterAll(() => fs.closeSync(fd));

/** Puts objects into the archive, one behind the other. */
function tasksOf(
  objects: readonly { bytes: Uint8Array; task: Partial<ExtractTask> & { ekey: string; size: number } }[],
) {
  fs.ftruncateSync(fd);
  let offset = 0;
  return objects.map(({ bytes, task }, i): ExtractTask => {
    fs.writeSync(fd, bytes, 0, bytes.length, offset);
    const place = { file, offset, encodedSize: bytes.length, path: `file${i}`, ckey: undefined, isFolderNew: false };
    offset += bytes.length;
    return { ...place, ...task };
  });
}

const decodeAll = (tasks: readonly ExtractTask[]): (Uint8Array | undefined)[] =>
  Array.from(
    decoder.decode(tasks, () => fd),
    ({ task, content }, i) => {
      expect(task).toBe(tasks[i]);
      return content?.slice();
    },
  );

const encoded = (content: Uint8Array, espec: string) => {
  const { ekey, bytes } = encodeBlte(content, espec, { keys });
  return { bytes, task: { ekey, ckey: md5Hex(content), size: content.length } };
};

test('gives files of all modes, in the order of the tasks, more of them than fit into the workroom', () => {
  const especs = ['n', 'z', 'b:{1000*=z}', 'b:{700=n,*=z}', `b:{*=e:{${keyName},01020304,z}}`];
  const parts = especs.flatMap((espec, i) =>
    [0, 1, 5000].map((size) => ({ espec, content: contents.subarray(i, i + size) })),
  );
  for (let i = 0; i < 5; i++) parts.push({ espec: 'n', content: contents.subarray(i) });
  const sized = parts.filter(({ content, espec }) => content.length > 1000 || !espec.startsWith('b:{7'));
  const tasks = tasksOf(sized.map(({ content, espec }) => encoded(content, espec)));
  // In another order than they lie in.
  const turned = tasks.toReversed();
  const sums = decodeAll(turned).map((content) => content && md5Hex(content));
  expect(sums).toEqual(sized.map(({ content }) => md5Hex(content)).toReversed());
});

test('says nothing of what is wrong, of a key that lacks, and of what does not fit', () => {
  const right = encoded(contents.subarray(0, 5000), 'z');
  const { ekey, bytes } = encodeBlte(contents.subarray(0, 50), `b:{*=e:{${keyName},01020304,n}}`, { keys });
  const tasks = tasksOf([
    right,
    { ...right, task: { ...right.task, ckey: md5Hex(bytes) } },
    { ...right, task: { ...right.task, ekey } },
    { ...right, task: { ...right.task, size: 4999 } },
    { ...right, task: { ...right.task, size: 40 << 20 } },
    { bytes, task: { ekey, size: 50 } },
    right,
  ]);
  tasks.push({ ...tasks[0]!, offset: 1e6 });
  const isGiven = (all: ManyDecoder): boolean[] =>
    Array.from(
      all.decode(tasks, () => fd),
      ({ content }) => content !== undefined,
    );
  expect(isGiven(decoder)).toEqual([true, false, false, false, false, true, true, false]);
  const without = new ManyDecoder(new Workroom(), { find: () => undefined });
  expect(isGiven(without)).toEqual([true, false, false, false, false, false, true, false]);
});

test('gives nothing that decodeBlte refuses, and nothing else than it gives', () => {
  const random = randomSource(20261124);
  const whole = (most: number): number => Math.floor(random() * most);
  let given = 0;
  for (let round = 0; round < 40; round++) {
    const objects = Array.from({ length: 20 }, () => {
      const espec = ['n', 'z', 'b:{100*=z}', 'b:{90*=n}', `b:{*=e:{${keyName},01020304,z}}`][whole(5)]!;
      const { bytes, task } = encoded(contents.subarray(whole(900), 901 + whole(500)), espec);
      const wrong = bytes.slice();
      for (let flips = whole(3); flips > 0; flips--) wrong[whole(wrong.length)]! ^= 1 << whole(8);
      return { bytes: wrong, task };
    });
    const expected = objects.map(({ bytes, task: { ekey, ckey, size } }) =>
      resultUnless(isPakratError, () => decodeBlte(bytes, { keys, ekey, ckey, decodedSize: size })),
    );
    const found = decodeAll(tasksOf(objects));
    expect(found).toEqual(expected);
    given += found.filter((content) => content !== undefined).length;
  }
  expect(given).toBeGreaterThan(150);
  expect(given).toBeLessThan(650);
});
