import { expect, test } from '@jest/globals';
import type { Build } from '../../../src/builds/build.ts';
import { importListfile } from '../../../src/builds/listfile/listfile-import.ts';
import type { Root } from '../../../src/builds/roots/root.ts';
import { fromHex } from '../../../src/core/bytes.ts';
import { nameHash } from '../../../src/core/jenkins.ts';
import { encodeWowRoot } from '../../../src/formats/roots/wow/encode.ts';
import { buildSource } from '../../../src/sources/build-source.ts';
import { diffSources } from '../../../src/sources/diff/diff.ts';
import { storeLayout } from '../../../src/store/layout.ts';
import { openSmallRoot } from '../../builds/roots/small-build.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const count = 4000;
const nameOfId = (id: number): string => `folder${id % 7}/file ${id}.blp`;

/** Blocks as roots have them: a main one, alternates that are passed over, and one of another locale. */
const blocks = [
  { contentFlags: 0x80, localeFlags: 2, has: (id: number) => id % 11 === 0 },
  { contentFlags: 0, localeFlags: 2, has: (id: number) => id % 13 !== 0 },
  { contentFlags: 0, localeFlags: 0x20, has: (id: number) => id % 5 === 0 },
  { contentFlags: 0x10000000, localeFlags: 2, has: (id: number) => id % 13 === 0 && id % 2 === 0 },
];

/** @param changes the content of an id in a block, and whether it is there */
function rootOf(changes: (id: number, block: number) => number, hashedName: (id: number) => string): Uint8Array {
  const made = blocks.map(({ has, contentFlags, localeFlags }, block) => {
    const ids = Array.from({ length: count }, (_, i) => i + 1).filter((id) => has(id) && changes(id, block) >= 0);
    const rows = ids.map((id) => {
      const ckey = fromHex((id * 16 + changes(id, block)).toString(16).padStart(32, '0'));
      return { fileDataId: id, ckey, ...(contentFlags === 0x10000000 ? {} : { nameHash: nameHash(hashedName(id)) }) };
    });
    return { contentFlags, localeFlags, rows };
  });
  return encodeWowRoot({ form: 'tsfm2', blocks: made });
}

function sourceOf(root: Root) {
  const build = {
    identity: { product: 'p', name: '1' },
    root: async () => root,
    async wholeRoot() {
      await root.checkAll();
      return root;
    },
    install: async () => ({ tags: [], entries: [{ path: 'Game.exe', ckey: 'f'.repeat(32), size: 1 }] }),
    lookUp: (work: () => unknown) => work(),
    encoding: { findCkey: () => undefined },
  } as unknown as Build;
  return buildSource(build, { locale: 'enUS' });
}

test('files of two builds that are passed over as equal are those that a look at each finds equal', async () => {
  const listed = Array.from({ length: count }, (_, i) => (i % 10 === 9 ? '' : `${i + 1};${nameOfId(i + 1)}\n`)).join(
    '',
  );
  await importListfile(storeLayout(scratch('store')), [new TextEncoder().encode(listed)] as never);
  // Other names of the new root are not those of the list: some are renamed, some lose their name.
  const old = (id: number): string => (id % 101 === 0 ? 'another/name' : nameOfId(id));
  const renamed = (id: number): string => (id % 97 === 0 ? nameOfId(id === count ? 1 : id + 1) : old(id));
  const changes = (id: number, block: number): number => (id % 31 === 0 ? -1 : id % 29 === block ? 1 : 0);
  const before = await openSmallRoot(scratch, { root: rootOf((id) => (id % 37 === 0 ? -1 : 0), old) });
  const after = await openSmallRoot(scratch, { root: rootOf(changes, renamed) });
  const passedOver = await diffSources(sourceOf(before), sourceOf(after), { temporary: scratch('temporary') });
  const misfits = after.misfits;
  const oneByOne = await diffSources(sourceOf(before), sourceOf(after), {
    matches: () => true,
    temporary: scratch('temporary'),
  });
  expect([...passedOver.items()]).toEqual([...oneByOne.items()]);
  const { items: _, ...sums } = oneByOne;
  expect(passedOver).toMatchObject(sums);
  expect(misfits).toBe(after.misfits);
  const kinds = new Set([...passedOver.items()].map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual(['added', 'changed', 'removed', 'renamed']);
  expect(passedOver.unchanged).toBeGreaterThan(count / 2);
  const equal = await before.sameIds?.(after, ([first]) => first);
  expect(equal?.size).toBeGreaterThan(count / 2);
  for (const root of [before, after]) root.close();
});

test('roots under different lists of names are compared one by one', async () => {
  const open = async (list: string): Promise<Root> => {
    await importListfile(storeLayout(scratch('store')), [new TextEncoder().encode(list)] as never);
    const root = await openSmallRoot(scratch, { root: rootOf(() => 0, nameOfId) });
    await root.checkAll();
    return root;
  };
  const before = await open(`2;${nameOfId(2)}\n`);
  const after = await open(`4;${nameOfId(4)}\n`);
  expect(await before.sameIds?.(after, ([first]) => first)).toBeUndefined();
  for (const root of [before, after]) root.close();
});
