import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { encodeArchiveIndex } from '../../src/formats/indices/archive-index.ts';
import { objectPath } from '../../src/store/layout.ts';
import { openPartial } from '../../src/store/partial-file.ts';
import { settleStore } from '../../src/store/settle-store.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const entries = [
  { ekey: new Uint8Array(16).fill(1), archive: 0, offset: 0, size: 400 },
  { ekey: new Uint8Array(16).fill(2), archive: 0, offset: 400, size: 600 },
];
const index = encodeArchiveIndex(entries);
const name = { cdnPath: 'tpr/wow', kind: 'data' as const, hash: index.name };
const path = objectPath(name);
const bytes = Buffer.alloc(1000, 'archive ');

let store: Store;
let number = 0;
beforeEach(async () => {
  number += 1;
  store = openStore(scratch(`store${number}`), { create: true });
  await store.addObjects([{ name: { ...name, suffix: '.index' }, bytes: index.bytes }]);
});
afterEach(() => store.close());

const inPlace = (): string => store.files.inPlace(path);
const partial = (): string => store.files.partial(path).file;
const placesWithFile = (): string[] => [inPlace(), partial()].filter((file) => fs.existsSync(file));

function put(file: string, content: Uint8Array = bytes): void {
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}

describe('an archive', () => {
  test('moves to its place when the last of its spans is held, not before', () => {
    put(partial());
    store.ledger.addSpans(path, [{ start: 0, end: 400 }]);
    store.files.settle(path);
    expect(placesWithFile()).toEqual([partial()]);
    store.ledger.addSpans(path, [{ start: 400, end: 1000 }]);
    store.files.settle(path);
    expect(placesWithFile()).toEqual([inPlace()]);
    expect(store.ledger.completeSize(path)).toBe(1000);
    expect(store.file(path)).toBe(inPlace());
  });

  test('whose index is not held stays apart: nothing says where it ends', () => {
    put(partial());
    store.ledger.removeObject(`${path}.index`);
    store.ledger.addSpans(path, [{ start: 0, end: 1000 }]);
    store.files.settle(path);
    expect(placesWithFile()).toEqual([partial()]);
  });

  test('is as long as on the CDN in its place, and stays apart while its file is shorter', () => {
    put(partial(), bytes.subarray(0, 999));
    store.ledger.addSpans(path, [{ start: 0, end: 1000 }]);
    store.files.settle(path);
    expect(placesWithFile()).toEqual([partial()]);
    put(partial(), Buffer.concat([bytes, Buffer.alloc(50)]));
    store.files.settle(path);
    expect(fs.readFileSync(inPlace())).toEqual(bytes);
  });

  test('moves out before anything of it is withdrawn', () => {
    put(partial());
    store.ledger.addSpans(path, [{ start: 0, end: 1000 }]);
    store.files.settle(path);
    store.files.withdraw([path], () => {
      expect(placesWithFile()).toEqual([partial()]);
      store.ledger.removeSpans(path, [{ start: 400, end: 500 }]);
    });
    expect(store.ledger.spans(path)).toEqual([
      { start: 0, end: 400 },
      { start: 500, end: 1000 },
    ]);
    expect(store.file(path)).toBe(partial());
    store.ledger.addSpans(path, [{ start: 400, end: 500 }]);
    store.files.settle(path);
    expect(placesWithFile()).toEqual([inPlace()]);
  });

  test('goes with its index, and comes back with it', async () => {
    put(partial());
    store.ledger.addSpans(path, [{ start: 0, end: 1000 }]);
    store.files.settle(path);
    store.files.withdraw([`${path}.index`], () => store.ledger.removeObject(`${path}.index`));
    expect(placesWithFile()).toEqual([partial()]);
    expect(store.ledger.spans(path)).toEqual([{ start: 0, end: 1000 }]);
    await store.addObjects([{ name: { ...name, suffix: '.index' }, bytes: index.bytes }]);
    expect(placesWithFile()).toEqual([inPlace()]);
  });
});

describe('a kill', () => {
  const isRight = async (): Promise<void> => {
    expect(fs.readFileSync(store.file(path))).toEqual(bytes);
    await settleStore(store);
    expect(placesWithFile()).toEqual([inPlace()]);
    expect(store.ledger.completeSize(path)).toBe(1000);
  };

  test('between the spans and the move', async () => {
    put(partial());
    store.ledger.addSpans(path, [{ start: 0, end: 1000 }]);
    await isRight();
  });

  test('between the move and the ledger', async () => {
    put(inPlace());
    store.ledger.addSpans(path, [{ start: 0, end: 1000 }]);
    await isRight();
  });

  test('while something is withdrawn', async () => {
    put(partial());
    store.ledger.addSpans(path, [{ start: 0, end: 1000 }]);
    store.files.settle(path);
    const killed = (): void => {
      throw new Error('killed');
    };
    expect(() => store.files.withdraw([path], killed)).toThrow('killed');
    expect(store.ledger.spans(path)).toEqual([{ start: 0, end: 1000 }]);
    expect(placesWithFile()).toEqual([partial()]);
    await isRight();
  });

  test.each(['loose', 'loo'])(
    'of a loose object while it is withdrawn, with %s in its file: it is whole as before, so that its bytes are looked at again',
    async (left) => {
      const loose = { cdnPath: 'tpr/game', kind: 'data', hash: 'ab'.repeat(16) } as const;
      await store.addObjects([{ name: loose, bytes: Buffer.from('loose') }]);
      const loosePath = objectPath(loose);
      const killed = (): void => {
        throw new Error('killed');
      };
      fs.truncateSync(store.files.inPlace(loosePath), left.length);
      expect(() => store.files.withdraw([loosePath], killed)).toThrow('killed');
      await settleStore(store);
      expect(store.ledger.completeSize(loosePath)).toBe(5);
      expect(fs.readFileSync(store.file(loosePath), 'latin1')).toBe(left);
    },
  );
});

describe('a file that is written to', () => {
  const write = (): void => {
    const fd = openPartial(store.files.partial(path));
    fs.writeSync(fd, 'A', 0);
    fs.closeSync(fd);
  };

  test('is not opened while it has another name, and is after it was copied', () => {
    put(partial());
    fs.linkSync(partial(), scratch(`other${number}`));
    expect(write).toThrow(/other names/);
    store.files.prepare(path);
    write();
    expect(fs.readFileSync(scratch(`other${number}`))).toEqual(bytes);
    expect(fs.readFileSync(partial(), 'latin1').slice(0, 9)).toBe('Archive a');
  });

  test.each([partial, inPlace])('is made where a folder has its name', (place) => {
    fs.mkdirSync(place(), { recursive: true });
    store.files.prepare(path);
    write();
    expect(fs.readFileSync(partial(), 'latin1')).toBe('A');
  });

  test('that is too long is cut in a copy where it has another name', () => {
    const long = Buffer.concat([bytes, Buffer.alloc(50)]);
    put(partial(), long);
    fs.linkSync(partial(), scratch(`long${number}`));
    store.ledger.addSpans(path, [{ start: 0, end: 1000 }]);
    store.files.settle(path);
    expect(fs.readFileSync(inPlace())).toEqual(bytes);
    expect(fs.readFileSync(scratch(`long${number}`))).toEqual(long);
  });

  test('is made apart, once', () => {
    write();
    write();
    expect(placesWithFile()).toEqual([partial()]);
  });

  test('that lies in place, as one of a lost ledger does, comes apart with its bytes', () => {
    put(inPlace());
    write();
    expect(placesWithFile()).toEqual([partial()]);
    expect(fs.readFileSync(partial()).subarray(0, 3).toString()).toBe('Arc');
  });

  test('that 0.1.0 left in tmp/ comes along', () => {
    const old = `${store.layout.temporary}/${name.hash}.partial`;
    put(old);
    expect(store.file(path)).toBe(old);
    write();
    expect(fs.existsSync(old)).toBe(false);
    expect(fs.statSync(partial()).size).toBe(1000);
  });
});
