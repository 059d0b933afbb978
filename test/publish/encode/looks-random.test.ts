import { deflateRawSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { bytesContent } from '../../../src/publish/encode/content.ts';
import { looksRandom } from '../../../src/publish/encode/looks-random.ts';
import { randomSource } from '../../support/hostile.ts';

const random = randomSource(3);
const noise = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)));
const words = Array.from({ length: 200_000 }, () => Math.floor(random() * 9000).toString(36)).join(' ');
const block = noise(8192);

test.each<[string, Buffer, boolean]>([
  ['noise', noise(300_000), true],
  ['more noise than a sample', noise(1_000_000), true],
  ['text that is deflated', deflateRawSync(words), true],
  ['little', noise(4000), false],
  ['text', Buffer.from(words), false],
  ['noise as text', Buffer.from(noise(100_000).toString('base64')), false],
  ['noise that comes again', Buffer.concat([block, block, block]), false],
  ['noise with gaps', Buffer.concat([noise(50_000), Buffer.alloc(5000), noise(50_000)]), false],
  [
    'noise, and a text in the middle',
    Buffer.concat([noise(300_000), Buffer.from(words.slice(0, 400_000)), noise(300_000)]),
    false,
  ],
  [
    'samples of a wave',
    Buffer.from(Int16Array.from({ length: 50_000 }, (_, i) => 9000 * Math.sin(i / 20)).buffer),
    false,
  ],
])('%s', (_, bytes, expected) => {
  expect(looksRandom(bytesContent('', bytes))).toBe(expected);
  // What is taken for random is what deflating does not make smaller by more than one part in a hundred.
  if (expected) expect(deflateRawSync(bytes, { level: 9 }).length).toBeGreaterThan(bytes.length * 0.99);
});
