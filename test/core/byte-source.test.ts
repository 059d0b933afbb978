import { expect, test } from '@jest/globals';
import { bytesSource } from '../../src/core/byte-source.ts';

test('bytes in memory are read in any order, as views', async () => {
  const bytes = Uint8Array.of(1, 2, 3, 4);
  const source = bytesSource(bytes, 'four');
  expect([source.name, source.size]).toEqual(['four', 4]);
  const read = await source.read(1, 2);
  expect([read, read.buffer === bytes.buffer]).toEqual([Uint8Array.of(2, 3), true]);
  expect(await source.read(4, 0)).toHaveLength(0);
  await source.close();
});

test.each([
  [3, 2],
  [-1, 1],
  [0, -1],
  [Number.NaN, 1],
])('%i, %i is outside', async (offset, size) => {
  await expect(bytesSource(new Uint8Array(4)).read(offset, size)).rejects.toMatchObject({
    code: 'E_FORMAT_TRUNCATED',
    data: { held: 4 },
  });
});
