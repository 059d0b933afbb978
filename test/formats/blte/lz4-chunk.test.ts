import { expect, test } from '@jest/globals';
import { concatBytes, fromHex } from '../../../src/core/bytes.ts';
import { lz4Body } from '../../../src/formats/blte/lz4-chunk.ts';
import { words } from '../../codecs/ciphers/words.ts';
import { lz4Literals } from '../../support/lz4-literals.ts';
import { codeThrownBy } from '../text.ts';

const content = words(257);
const little = concatBytes([fromHex('0101000000000000'), lz4Literals(content)]);
const blocks = [content.subarray(0, 128), content.subarray(128, 256), content.subarray(256)].map(lz4Literals);
const big = concatBytes([fromHex('01000000000000010107'), ...blocks]);

function decode(body: Uint8Array, decodedSize?: number, maxSize = 1e9): Uint8Array {
  return lz4Body(body, { decodedSize, maxSize, what: 'chunk' });
}

test('both layouts that are described are read', () => {
  expect(decode(little, 257)).toEqual(content);
  expect(decode(big, 257)).toEqual(content);
  expect(decode(big)).toEqual(content);
});

test('a body that may be either is the one of the size that is known', () => {
  expect(decode(fromHex('01000000000000001008'), 1)).toEqual(Uint8Array.of(8));
});

test('other sizes, cut bodies and bytes behind the blocks are refused', () => {
  expect(codeThrownBy(() => decode(big.subarray(0, -1)))).toBe('E_FORMAT_TRUNCATED');
  expect(codeThrownBy(() => decode(concatBytes([big, Uint8Array.of(1)]), 257))).toBe('E_FORMAT');
  expect(codeThrownBy(() => decode(little, 258))).toBe('E_FORMAT');
  expect(codeThrownBy(() => decode(little, undefined, 256))).toBe('E_FORMAT_RANGE');
});
