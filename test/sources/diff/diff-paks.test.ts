import { expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak } from '../../../src/paks/index.ts';
import type { Pak } from '../../../src/paks/pak.ts';
import { type Difference, diffSources } from '../../../src/sources/diff/diff.ts';
import { pakSource } from '../../../src/sources/paks/pak-source.ts';
import { unrealPak } from '../../support/pak-unreal.ts';
import { scratchFolder } from '../../support/scratch.ts';

/* PAKs whose index has no hashes: the contents of files of equal size are read. */

const temporary = scratchFolder()('temporary');
const rows = Array.from({ length: 1200 }, (_, row) => ({
  name: `Content/Folder${row % 7}/File${row}.uasset`,
  content: Buffer.from(`content ${row}`),
}));
const [changed, broken, large] = [rows[500]!, rows[700]!, rows[900]!];
large.content = Buffer.alloc(9 << 20, 'larger than what is read in a moment, ');

/** The bytes of a PAK with the rows, some of them with other content. */
const pakOf = (others: ReadonlyMap<string, Buffer> = new Map(), hasDirectory = true): Uint8Array =>
  unrealPak(
    rows.map(({ name, content }) => ({ name, content: others.get(name) ?? content })),
    { version: 11, hasDirectory },
  );

async function compare(before: Uint8Array, after: Uint8Array): Promise<Difference> {
  const open = async (bytes: Uint8Array): Promise<Pak> => openPak(bytesSource(bytes));
  return diffSources(pakSource(await open(before), 'before'), pakSource(await open(after), 'after'), { temporary });
}

test.each([
  ['names', true],
  ['hashes only', false],
])('each file is compared by its bytes, and one that is damaged is named, %s', async (_form, hasDirectory) => {
  const other = (content: Buffer): Buffer => Buffer.from(content.toString('latin1').toUpperCase(), 'latin1');
  const after = pakOf(new Map([changed, large].map(({ name, content }) => [name, other(content)])), hasDirectory);
  const at = Buffer.from(after).indexOf(broken.content);
  after[at]! ^= 0xff;
  const found = await compare(pakOf(new Map(), hasDirectory), after);
  const names = [...found.items()].map((item) => ('after' in item ? `${item.kind} ${item.after.name}` : item.kind));
  expect(found.failed).toMatchObject([{ code: 'E_INTEGRITY' }]);
  expect(names).toHaveLength(2);
  expect(found).toMatchObject({ unchanged: rows.length - 3, count: 2, decided: { content: rows.length - 1 } });
  if (!hasDirectory) return;
  expect(found.failed[0]!.name).toBe(broken.name);
  expect(names.toSorted()).toEqual([`changed ${changed.name}`, `changed ${large.name}`].toSorted());
});
