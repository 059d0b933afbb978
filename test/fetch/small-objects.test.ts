import * as fs from 'node:fs';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { toHex } from '../../src/core/bytes.ts';
import { md5 } from '../../src/core/hash.ts';
import { Arrivals, adoptObject } from '../../src/fetch/small-objects.ts';
import { objectPath } from '../../src/store/layout.ts';
import { openStore, type SmallObject, type Store } from '../../src/store/store.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
let store: Store;
let number = 0;
beforeEach(() => {
  number += 1;
  store = openStore(scratch(`store${number}`), { create: true });
});
afterEach(() => store.close());

function config(n: number): SmallObject {
  const bytes = new TextEncoder().encode(`config ${n}`);
  return { name: { cdnPath: 'tpr/wow', kind: 'config', hash: toHex(md5(bytes)) }, bytes };
}

test('objects that come while others are brought to disk go there together, and each is held when its promise says so', async () => {
  const together = jest.spyOn(store, 'addObjects');
  const arrivals = new Arrivals(store);
  const objects = [1, 2, 3].map(config);
  await Promise.all(
    objects.map(async (object) => {
      await arrivals.add(object);
      expect(store.readObject(object.name)).toEqual(object.bytes);
    }),
  );
  expect(together.mock.calls.map(([batch]) => batch.length)).toEqual([1, 2]);
  await arrivals.add(config(4));
  expect(store.readObject(config(4).name)).toEqual(config(4).bytes);
});

test('one that cannot be written is told, and costs the others nothing', async () => {
  const arrivals = new Arrivals(store);
  const [first, second, third] = [config(1), config(2), config(3)];
  const write = store.addObjects;
  jest.spyOn(store, 'addObjects').mockImplementation(async (objects) => {
    if (objects.includes(second)) throw Object.assign(new Error('no room'), { code: 'E_STORE_FULL' });
    await write(objects);
  });
  const ends = await Promise.allSettled([first, second, third].map((object) => arrivals.add(object)));
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(ends[1]).toMatchObject({ reason: { code: 'E_STORE_FULL' } });
  for (const { name } of [first, third]) expect(fs.existsSync(store.file(objectPath(name)))).toBe(true);
  expect(store.readObject(second.name)).toBeUndefined();
});

test('after the end nothing is begun; what was on its way is held', async () => {
  const arrivals = new Arrivals(store);
  const [first, second, third] = [config(1), config(2), config(3)];
  const adding = Promise.allSettled([arrivals.add(first), arrivals.add(second)]);
  await arrivals.end();
  expect(store.readObject(first.name)).toEqual(first.bytes);
  expect((await adding).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  await expect(arrivals.add(third)).rejects.toMatchObject({ code: 'E_ABORTED' });
  expect(fs.readdirSync(store.layout.temporary).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('a file that the ledger does not know is taken over; one that another process takes away meanwhile is not there', async () => {
  const [stays, goes] = [config(1), config(2)];
  const place = ({ name }: SmallObject): string => store.file(objectPath(name));
  await store.addObjects([stays, goes]);
  for (const { name } of [stays, goes]) store.ledger.removeObject(objectPath(name));
  expect(adoptObject(store, stays.name)).toEqual(stays.bytes);
  expect(store.readObject(stays.name)).toEqual(stays.bytes);
  // It goes between the moment in which it is read and the one in which it is called held.
  jest.spyOn(store.objectKeys, 'decrypt').mockImplementation((_, bytes) => {
    fs.rmSync(place(goes));
    return bytes;
  });
  expect(adoptObject(store, goes.name)).toBeUndefined();
  expect(store.ledger.completeSize(objectPath(goes.name))).toBeUndefined();
});
