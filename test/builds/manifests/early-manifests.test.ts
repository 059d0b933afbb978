import * as fs from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { EarlyManifests } from '../../../src/builds/manifests/early-manifests.ts';
import type { BuildPlace, EntryPlace } from '../../../src/builds/objects.ts';
import { pause } from '../../../src/core/breathe.ts';
import { fromHex } from '../../../src/core/bytes.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { encodeBlte } from '../../../src/formats/blte/encode.ts';
import { decodeArchiveIndex, encodeArchiveIndex } from '../../../src/formats/indices/archive-index.ts';
import { readDerived } from '../../../src/store/derived/derived-file.ts';
import { storeLayout } from '../../../src/store/layout.ts';
import { builtModule } from '../../support/built-module.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const built = builtModule('src/builds/manifests/manifest-worker.ts');
/** More than it takes to start a thread for. */
const size = 17 << 20;
const manifests = ['b:{1M*=n}', 'n'].map((spec, i) => {
  const bytes = new Uint8Array(size + i).map((_, at) => at * (i + 3) + (at >>> 9));
  const encoded = encodeBlte(bytes, spec);
  return { ...encoded, decoded: bytes, ckey: md5Hex(bytes) };
});
const [first, second] = [manifests[0]!, manifests[1]!];
const fileIndex = decodeArchiveIndex(
  encodeArchiveIndex(
    manifests.map(({ ekey, bytes }) => ({ ekey: fromHex(ekey), size: bytes.length, offset: 0, archive: 0 })),
    { offsetBytes: 0 },
  ).bytes,
);
let workerUrl: URL;

beforeAll(() => {
  const program = scratch('program');
  fs.mkdirSync(program);
  fs.writeFileSync(join(program, 'package.json'), '{"type":"module"}');
  fs.writeFileSync(join(program, 'manifest-worker.js'), `import ${JSON.stringify(built)};`);
  workerUrl = new URL(`file://${program}/any.js`);
});

let number = 0;

/** A place with objects that lie in files, and what was fetched of them. */
function placeOf(more: Partial<BuildPlace>, change = (bytes: Uint8Array): Uint8Array => bytes) {
  number += 1;
  const root = scratch(`store-${number}`);
  const folders = storeLayout(root);
  for (const folder of [root, folders.manifests, folders.temporary]) fs.mkdirSync(folder, { recursive: true });
  const fetched: string[] = [];
  const objects = {
    entries: async ([place]: readonly EntryPlace[]) => {
      const { ekey } = place!;
      fetched.push(ekey);
      const { bytes } = manifests.find((one) => one.ekey === ekey)!;
      fs.writeFileSync(join(root, ekey), change(bytes));
    },
    open: ({ ekey }: EntryPlace) => ({ file: join(root, ekey), offset: 0 }),
  };
  const place = { identity: { cdnPath: 'tpr/test' }, objects, folders, threads: { threads: 2, workerUrl }, ...more };
  const fileOf = (ckey: string): string => join(folders.manifests, ckey);
  return { place: place as unknown as BuildPlace, fileOf, fetched, folders };
}

const indexed = async () => fileIndex;

describe('manifests that are made early', () => {
  test('are there, right, and told of once', async () => {
    const { place, fileOf, fetched } = placeOf({});
    const early = new EarlyManifests(place, manifests, indexed());
    for (const { ckey, decoded } of manifests) {
      expect(await early.made(ckey)).toBe(true);
      expect(Buffer.from(readDerived(fileOf(ckey))).equals(decoded)).toBe(true);
      // Whoever asks again found it damaged.
      expect(await early.made(ckey)).toBe(false);
    }
    expect(fetched).toEqual([first.ekey, second.ekey]);
    await early.close();
  });

  test('are not made again', async () => {
    const { place, fileOf, fetched } = placeOf({});
    fs.writeFileSync(fileOf(first.ckey), 'it is there');
    const early = new EarlyManifests(place, [first], indexed());
    expect(await early.made(first.ckey)).toBe(false);
    expect(fetched).toEqual([]);
    expect(fs.readFileSync(fileOf(first.ckey), 'utf8')).toBe('it is there');
  });

  test.each<[string, Partial<BuildPlace>]>([
    ['there is to be one thread alone', { threads: { threads: 1 } }],
    ['nobody starts threads', { threads: { threads: 0 } }],
    [
      'the program of the thread is not there',
      { threads: { threads: 2, workerUrl: new URL('file:///nowhere/any.js') } },
    ],
  ])('are fetched, and left to who opens them, where %s', async (_, more) => {
    const { place, fileOf, fetched } = placeOf(more);
    const early = new EarlyManifests(place, [first], indexed());
    expect(await early.made(first.ckey)).toBe(false);
    expect(fetched).toEqual([first.ekey]);
    expect(fs.existsSync(fileOf(first.ckey))).toBe(false);
  });

  test.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ['a byte of them is wrong', (bytes) => bytes.map((byte, at) => (at === 12 << 20 ? byte ^ 1 : byte))],
    ['they are cut', (bytes) => bytes.subarray(0, 9 << 20)],
    ['they are none', (bytes) => new Uint8Array(bytes.length)],
  ])('leave nothing behind where %s, and those that follow are made', async (_, damage) => {
    const { place, fileOf, folders } = placeOf({}, (bytes) => (bytes === first.bytes ? damage(bytes) : bytes));
    const early = new EarlyManifests(place, manifests, indexed());
    expect(await early.made(first.ckey)).toBe(false);
    expect(await early.made(second.ckey)).toBe(true);
    expect(fs.readdirSync(folders.manifests)).toEqual([second.ckey]);
    expect(fs.readdirSync(folders.temporary)).toEqual([]);
    expect(Buffer.from(readDerived(fileOf(second.ckey))).equals(second.decoded)).toBe(true);
  });

  test('that nobody waits for any more leave nothing behind', async () => {
    const { place, folders, fetched } = placeOf({});
    const early = new EarlyManifests(place, manifests, indexed());
    await early.close();
    expect(fetched.length).toBeLessThan(2);
    expect(fs.readdirSync(folders.manifests)).toEqual([]);
    expect(fs.readdirSync(folders.temporary)).toEqual([]);
  });

  test('that are being decoded when it is closed leave nothing behind either', async () => {
    const { place, folders } = placeOf({});
    const early = new EarlyManifests(place, manifests, indexed());
    while (fs.readdirSync(folders.temporary).length === 0) await pause(1, undefined);
    await early.close();
    expect(fs.readdirSync(folders.temporary)).toEqual([]);
    expect(await early.made(second.ckey)).toBe(false);
  });

  test('that cannot be fetched, or have no index, are left to who opens them', async () => {
    const refuses = placeOf({});
    let asked = 0;
    refuses.place.objects.entries = () => {
      asked += 1;
      return Promise.reject(new Error('no host has it'));
    };
    const early = new EarlyManifests(refuses.place, manifests, indexed());
    expect([await early.made(first.ckey), await early.made(second.ckey)]).toEqual([false, false]);
    // A host that fails takes its time.
    expect(asked).toBe(1);
    const { place } = placeOf({});
    const failing = Promise.reject(new Error('no index'));
    failing.catch(() => {});
    for (const index of [Promise.resolve(undefined), failing])
      expect(await new EarlyManifests(place, [first], index).made(first.ckey)).toBe(false);
  });
});
