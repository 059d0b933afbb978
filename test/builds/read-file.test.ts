import { expect, test } from '@jest/globals';
import type { Build } from '../../src/builds/build.ts';
import { readFile, readFileRange } from '../../src/builds/read-file.ts';
import { concatBytes, fromHex } from '../../src/core/bytes.ts';
import { md5, md5Hex } from '../../src/core/hash.ts';
import type { BltePart } from '../../src/formats/blte/read.ts';
import { buildSource } from '../../src/sources/build-source.ts';
import { openRangeReader } from '../../src/sources/mount/range-reader.ts';
import { gather } from '../support/pak-sources.ts';

const noise = (size: number, seed: number): Uint8Array =>
  concatBytes(
    Array.from({ length: Math.ceil(size / 16) }, (_, i) => md5(fromHex(`${seed}${i}`.padStart(16, '0')))),
  ).slice(0, size);
const contents = [noise(1000, 1), noise(500, 2), noise(10, 3)];
const whole = concatBytes(contents);
const keyOf = (content: Uint8Array): string => md5Hex(content);

/** A build with one file of three parts, which notes what is read of them. `sizesKnown`: by the encoding file. */
function madeBuild({ sizesKnown = true } = {}) {
  const read: { part: number; range: BltePart | undefined }[] = [];
  const build = {
    identity: { product: 'p', name: '1' },
    lookUp: (work: () => unknown) => work(),
    encoding: {
      findCkey(ckey: string) {
        const content = contents.find((one) => keyOf(one) === ckey);
        return content && { ekeys: [ckey], size: sizesKnown ? content.length : undefined };
      },
    },
    locate: (ekey: string) => ({ ekey }),
    objects: { entries: async () => {} },
    async *readEncoded({ ekey }: { ekey: string }, _size: number | undefined, range?: BltePart) {
      const part = contents.findIndex((one) => keyOf(one) === ekey);
      read.push({ part, range });
      const { offset, size } = range ?? { offset: 0, size: 2 ** 40 };
      yield contents[part]!.subarray(offset, offset + size);
    },
  } as unknown as Build;
  return { build, read };
}

const file = { name: 'a', parts: contents.map((content) => ({ ckey: keyOf(content), size: undefined })) };

test.each([
  [0, 1510],
  [0, 1],
  [999, 2],
  [1000, 500],
  [1200, 305],
  [1509, 1],
  [700, 0],
])('bytes from %i on, %i of them', async (offset, size) => {
  for (const sizesKnown of [true, false]) {
    const { build } = madeBuild({ sizesKnown });
    const part = await gather(readFileRange(build, file, { offset, size }));
    expect(part).toEqual(whole.slice(offset, offset + size));
  }
  expect(await gather(readFile(madeBuild().build, file))).toEqual(whole);
});

test('a range reads of each part what it has of it, through the source as well; a mount reads along', async () => {
  const { build, read } = madeBuild();
  const source = buildSource(build, { locale: 'enUS' });
  const entry = { file, size: whole.length } as never;
  expect(await gather(source.readRange!(entry, 1200, 305))).toEqual(whole.slice(1200, 1505));
  expect(read).toEqual([
    { part: 1, range: { offset: 200, size: 300 } },
    { part: 2, range: { offset: 0, size: 5 } },
  ]);
  read.length = 0;
  expect(await openRangeReader(source, entry).read(1200, 305)).toEqual(whole.slice(1200, 1505));
  expect(read.map(({ range }) => range)).toEqual([undefined, undefined, undefined]);
});

test('a part that ends early is refused', async () => {
  const { build } = madeBuild();
  const short = { ...file, parts: [{ ckey: keyOf(contents[1]!), size: 600 }] };
  await expect(gather(readFileRange(build, short, { offset: 450, size: 100 }))).rejects.toMatchObject({
    code: 'E_INTEGRITY',
  });
});
