import { describe, expect, test } from '@jest/globals';
import { concatBytes, fromHex } from '../../../../src/core/bytes.ts';
import { Lz4Blocks } from '../../../../src/paks/nadeo/entries/lz4-blocks.ts';
import { digestOf, lz4Stream, noise } from '../synthetic.ts';

function takerOf(bytes: Uint8Array) {
  let at = 0;
  return (size: number) => {
    at += size;
    return bytes.subarray(at - size, at);
  };
}

async function decode(bytes: Uint8Array, size: number, dictionary?: Uint8Array): Promise<Uint8Array> {
  const take = takerOf(bytes);
  const blocks = new Lz4Blocks(size, dictionary);
  const parts: Uint8Array[] = [];
  while (blocks.remaining > 0) parts.push(await blocks.next(take));
  return concatBytes(parts);
}

const text = (value: string) => new TextEncoder().encode(value);

describe('the LZ4 of version 18', () => {
  test('blocks in a row, more than the history holds', async () => {
    const content = noise(300_000);
    expect(digestOf(await decode(lz4Stream(content), content.length))).toBe(digestOf(content));
  });

  test('a match into the dictionary, 4 bytes before its end', async () => {
    // No literals, a match of 4 bytes from 4 back; then one literal.
    const stream = concatBytes([fromHex('0500'), fromHex('000400'), fromHex('10'), text('!')]);
    expect(await decode(stream, 5, text('xxDICT'))).toEqual(text('DICT!'));
  });

  test('a match over the edge of a block', async () => {
    const first = lz4Stream(noise(4096));
    const second = concatBytes([fromHex('0600'), fromHex('00'), fromHex('0010'), fromHex('20'), text('ab')]);
    const content = await decode(concatBytes([first, second]), 4102);
    expect(content.subarray(4096)).toEqual(concatBytes([noise(4).subarray(0, 4), text('ab')]));
  });

  test('without the dictionary such a match is not supported; with it, one before it is damage', async () => {
    const stream = concatBytes([fromHex('0500'), fromHex('000400'), fromHex('10'), text('!')]);
    await expect(decode(stream, 5)).rejects.toMatchObject({
      code: 'E_UNSUPPORTED',
      hint: expect.stringContaining('1,006'),
    });
    await expect(decode(stream, 5, text('abc'))).rejects.toMatchObject({ code: 'E_FORMAT_RANGE' });
  });

  test.each([
    ['an empty block', '0000'],
    ['a block that is too large', '2110'],
    ['a block that is cut', '0500aa'],
    ['nothing at all', ''],
    ['a block without output', '010000'],
    ['a bomb', `8010${'1f61010001'}${'ff'.repeat(120)}`],
  ])('%s is refused', async (_, hex) => {
    await expect(decode(fromHex(hex), 5000)).rejects.toMatchObject({ code: expect.stringMatching(/^E_FORMAT/) });
  });
});
