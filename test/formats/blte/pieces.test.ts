import { expect, test } from '@jest/globals';
import { collect, mapPieces, type Pieces, peekFirst, skipBytes, slices } from '../../../src/formats/blte/pieces.ts';

async function* piecesOf(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function textsOf(pieces: Pieces): Promise<string[]> {
  const texts: string[] = [];
  for await (const piece of pieces) texts.push(Buffer.from(piece).toString());
  return texts;
}

test('the first piece is seen, and comes again with the others', async () => {
  const { first, all } = await peekFirst(piecesOf('ab', 'c'));
  expect(Buffer.from(first).toString()).toBe('ab');
  expect(await textsOf(all)).toEqual(['ab', 'c']);
  expect((await peekFirst(piecesOf())).first).toHaveLength(0);
});

test('bytes are left out across pieces', async () => {
  expect(await textsOf(skipBytes(piecesOf('ab', 'cd', 'ef'), 3))).toEqual(['d', 'ef']);
});

test('pieces are changed in order, and made one', async () => {
  const upper = (piece: Uint8Array) => Buffer.from(Buffer.from(piece).toString().toUpperCase());
  expect(await textsOf(mapPieces(piecesOf('a', 'b'), upper))).toEqual(['A', 'B']);
  expect(Buffer.from(await collect(piecesOf('ab', 'c'), 3, 'x')).toString()).toBe('abc');
  await expect(collect(piecesOf('ab', 'c'), 2, 'x')).rejects.toMatchObject({ code: 'E_UNSUPPORTED' });
});

test('large bytes come as views of 4 MiB', () => {
  const bytes = new Uint8Array(0x90_0000);
  const sizes = Array.from(slices(bytes), (slice) => [slice.length, slice.buffer === bytes.buffer]);
  expect(sizes).toEqual([
    [0x40_0000, true],
    [0x40_0000, true],
    [0x10_0000, true],
  ]);
});
