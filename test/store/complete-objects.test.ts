import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { isLoose, RangeTargets } from '../../src/fetch/transfer/range-targets.ts';
import { objectPath } from '../../src/store/layout.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const hashes = ['ab', 'cd', 'ef'].map((byte) => byte.repeat(16));
const objects = hashes.map((hash) => ({ path: objectPath({ cdnPath: 'tpr/wow', kind: 'data', hash }), size: 5 }));
const [first, second, third] = objects as [Named, Named, Named];

interface Named {
  path: string;
  size: number;
}

let store: Store;
let number = 0;
beforeEach(() => {
  number += 1;
  store = openStore(scratch(`store${number}`), { create: true });
});
afterEach(() => store.close());

function write(file: string, text = 'bytes'): void {
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

const partial = ({ path }: Named): string => store.files.partial(path).file;
const held = (): (number | undefined)[] => objects.map(({ path }) => store.ledger.completeSize(path));

test('loose objects that are whole get their final names, and the ledger says so', () => {
  for (const object of objects) write(partial(object), object === second ? 'bytes and more' : 'bytes');
  store.files.complete(objects);
  for (const { path } of objects) expect(fs.readFileSync(store.file(path), 'utf8')).toBe('bytes');
  for (const object of objects) expect(fs.existsSync(partial(object))).toBe(false);
  expect(held()).toEqual([5, 5, 5]);
});

test('another process that fetched the same object first does no harm', () => {
  write(store.files.inPlace(first.path));
  write(partial(second));
  store.files.complete([first, second]);
  expect(held()).toEqual([5, 5, undefined]);
});

test('one of which too little is on disk is never called held, nor is one beside it', () => {
  write(partial(first));
  write(partial(second), 'byte');
  for (const bad of [second, third])
    expect(() => store.files.complete([first, bad])).toThrow(expect.objectContaining({ code: 'E_STORE' }));
  expect(held()).toEqual([undefined, undefined, undefined]);
  expect(fs.readFileSync(partial(first), 'utf8')).toBe('bytes');
});

test('an object is loose where it has the name of what is wanted of it', () => {
  const wanted = (ekey: string): RangeTargets => RangeTargets.of([{ ekey, offset: 0, size: first.size, held: 0 }]);
  expect(isLoose({ ...first, targets: wanted(hashes[0]!) })).toBe(true);
  expect(isLoose({ ...first, targets: wanted(hashes[1]!) })).toBe(false);
});
