import { expect, test } from '@jest/globals';
import { deflateBlock } from '../../../src/codecs/compression/deflate-block.ts';
import { deflate, inflate } from '../../../src/codecs/compression/inflate.ts';

test('a stream made on a thread is the one that is made here', async () => {
  const bytes = new TextEncoder().encode('a block of a PAK, '.repeat(1000));
  for (const level of [1, 9]) {
    const stream = await deflateBlock(bytes, level);
    expect(Buffer.compare(stream, deflate(bytes, { level }))).toBe(0);
    expect(inflate(stream, { size: bytes.length, maxSize: bytes.length, what: 'test' })).toEqual(bytes);
  }
});
