import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { decodeBlte } from '../../../src/formats/blte/decode.ts';
import { decodeKeyList } from '../../../src/formats/configs/key-list.ts';
import { freePort } from '../loopback.ts';
import { serveTree } from '../own-cdn.ts';
import { scratchFolder } from '../scratch.ts';
import { readTruth } from '../truth.ts';
import { makeOwnTree } from './make-tree.ts';
import { md5 } from './objects.ts';
import { findPlaces } from './places.ts';

// Where the generator is, no other test makes trees of our own: this one says that they are still what they promise.

const scratch = scratchFolder();
const small = ['--files', '60', '--total-bytes', '200K', '--multi-ekey', '.2', '--loose', '.1', '--withheld', '3'];

test.each(['wow', 'tvfs', 'text'] as const)(
  'of the truth of a %s tree every file is where it says, encoded as it says',
  (layout) => {
    const root = scratch(layout);
    makeOwnTree(root, '127.0.0.1:9', [...small, '--layout', layout]);
    const cdn = join(root, 'www/tpr/wow');
    const places = findPlaces(cdn);
    const lists = ['keys.txt', 'keys-withheld.txt'].map((name) => readFileSync(join(root, 'truth', name)));
    const keys = new Map(lists.flatMap((list) => decodeKeyList(list)).map(({ name, key }) => [name, key]));
    const ring = { find: (name: string) => (keys.has(name) ? Buffer.from(keys.get(name)!, 'hex') : undefined) };
    for (const which of ['a', 'b'] as const) {
      const { rows } = readTruth(root, which);
      expect(rows.length).toBeGreaterThan(55);
      expect(rows.some(({ lockedBy }) => lockedBy !== undefined)).toBe(true);
      for (const { ckey, ekeys, archive, encodedSize, content } of rows) {
        expect(md5(content())).toBe(ckey);
        for (const [i, ekey] of ekeys.entries()) {
          const place = places.get(ekey);
          if (i === 0) expect([archive, place?.size ?? encodedSize]).toEqual([place?.archive ?? 'loose', encodedSize]);
          const name = place?.archive ?? ekey;
          const object = new Uint8Array(readFileSync(join(cdn, 'data', name.slice(0, 2), name.slice(2, 4), name)));
          const { offset, size } = place ?? { offset: 0, size: object.length };
          expect(md5(decodeBlte(object.subarray(offset, offset + size), { ekey, keys: ring }))).toBe(ckey);
        }
      }
    }
  },
);

test('the server serves ranges, tells what it was asked, and is bad on purpose', async () => {
  const root = scratch('served');
  makeOwnTree(root, '127.0.0.1:9', small);
  const whole = readFileSync(join(root, 'www/wow/versions'));
  const ask = async (url: string, range?: string) => {
    const response = await fetch(`${url}/wow/versions`, { headers: range === undefined ? {} : { range } });
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const good = await serveTree(root, [], await freePort());
  try {
    expect(await ask(good.url)).toEqual({ status: 200, bytes: whole });
    expect(await ask(good.url, 'bytes=10-19')).toEqual({ status: 206, bytes: whole.subarray(10, 20) });
    expect(await ask(good.url, 'bytes=-5')).toEqual({ status: 206, bytes: whole.subarray(-5) });
    expect(await ask(good.url, `bytes=${whole.length}-`)).toMatchObject({ status: 416 });
    expect((await fetch(`${good.url}/../truth/keys.txt`)).status).toBe(404);
    expect(good.requests().map(({ status, bytes }) => [status, bytes])).toEqual([
      [200, whole.length],
      [206, 10],
      [206, 5],
      [416, 0],
      [404, 0],
    ]);
  } finally {
    await good.close();
  }
  for (const [badness, expected] of [
    [['--fail', '1'], { status: 503 }],
    [['--no-range'], { status: 200, bytes: whole }],
    [['--flip', '1'], { status: 206, bytes: Buffer.from([whole[0]! ^ 1]) }],
  ] as const) {
    const bad = await serveTree(root, badness, await freePort());
    expect(await ask(bad.url, 'bytes=0-0').finally(bad.close)).toMatchObject(expected);
  }
  const cutting = await serveTree(root, ['--cut', '1'], await freePort());
  await expect(ask(cutting.url).finally(cutting.close)).rejects.toThrow();
});
