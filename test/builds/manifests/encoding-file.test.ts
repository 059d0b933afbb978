import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { EncodingFile } from '../../../src/builds/manifests/encoding-file.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { decodeEncoding } from '../../../src/formats/manifests/encoding/decode.ts';
import { encodeEncoding } from '../../../src/formats/manifests/encoding/encode.ts';
import type { CkeyEntry } from '../../../src/formats/manifests/encoding/pages.ts';
import { readDerived } from '../../../src/store/derived/derived-file.ts';
import { writeDerived } from '../../../src/store/derived/derived-writer.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { codeOf } from '../../support/thrown-code.ts';

const scratch = scratchFolder();
const keyOf = (text: string): string => md5Hex(Buffer.from(text));

/** Contents with one to three encodings, sizes beyond 32 bits among them. */
const contents: CkeyEntry[] = Array.from({ length: 12_000 }, (_, i) => ({
  ckey: keyOf(`content ${i}`),
  size: i === 77 ? 2 ** 33 + 5 : i * 3,
  ekeys: Array.from({ length: 1 + (i % 3) }, (_, k) => keyOf(`encoding ${i} ${k}`)),
}));

function encodingFile(name: string, change: (bytes: Uint8Array) => void = () => {}): EncodingFile {
  const ekeys = contents.flatMap((content) => content.ekeys.map((ekey) => ({ ekey, especIndex: 0, size: 1 })));
  const bytes = encodeEncoding({ ckeys: contents, ekeys, especs: ['n'] });
  change(bytes);
  writeDerived(scratch(name), bytes, scratch('tmp'));
  return new EncodingFile(scratch(name));
}

test('one whose header is wrong does not stay open', () => {
  const openFiles = (): number => readdirSync(process.platform === 'linux' ? '/proc/self/fd' : '/dev/fd').length;
  const before = openFiles();
  for (let i = 0; i < 5; i++)
    expect(codeOf(() => encodingFile('broken', (bytes) => bytes.fill(0xff, 0, 2)))).toBe('E_FORMAT_MAGIC');
  expect(openFiles()).toBe(before);
});

/** What a look-up gives, as plain values. */
const plain = (entry: CkeyEntry | undefined): CkeyEntry | undefined =>
  entry && { ckey: entry.ckey, size: entry.size, ekeys: entry.ekeys };

describe('many contents looked up together', () => {
  const file = encodingFile('encoding');
  const shuffled = contents.map((_, i) => contents[(i * 7919) % contents.length]!);

  test.each([
    ['all', shuffled],
    ['a few', shuffled.slice(0, 12)],
    ['one', shuffled.slice(3, 4)],
    ['none', []],
  ])('%s: each is found, in the place of its question', (_, asked) => {
    const find = file.findCkeys(asked.map(({ ckey }) => ckey));
    expect(asked.map((_, i) => plain(find(i)))).toEqual(asked);
  });

  test('the same as one by one, with unknown keys, repeated keys, no keys, and keys beyond both ends', () => {
    const odd = [undefined, '0'.repeat(32), 'f'.repeat(32), keyOf('nothing'), contents[5]!.ckey, undefined];
    const asked = [...odd, ...shuffled.slice(0, 3000).flatMap(({ ckey }, i) => [ckey, keyOf(`nothing ${i}`)]), ...odd];
    const find = file.findCkeys(asked);
    const expected = asked.map((ckey) => (ckey === undefined ? undefined : file.findCkey(ckey)));
    expect(asked.map((_, i) => plain(find(i)))).toEqual(expected);
    expect(expected.filter(Boolean)).toHaveLength(3002);
  });

  test('what a damaged page lists is not found, all else is; asked for by itself it is refused', async () => {
    const whole = decodeEncoding(readDerived(scratch('encoding')));
    const { ckeyPagesOffset, ckeyPageSize } = whole.layout;
    const damaged = encodingFile('damaged', (bytes) => {
      bytes[ckeyPagesOffset + ckeyPageSize * 70 + 30]! ^= 1;
    });
    const find = damaged.findCkeys(contents.map(({ ckey }) => ckey));
    const lost = contents.filter((_, i) => find(i) === undefined);
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.length).toBeLessThan(contents.length / 50);
    expect(codeOf(() => damaged.findCkey(lost[0]!.ckey))).toBe('E_INTEGRITY');
    expect([...damaged.ckeys()]).toHaveLength(contents.length - lost.length);
    expect(await damaged.damagedPages()).toMatchObject([{ code: 'E_INTEGRITY' }]);
    damaged.close();
  });
});

describeConformance('many contents of real files', () => {
  test.each([
    ['keg/blte/2a6168d8a7122a8dd9b61fb92af3d3f4.in', 546, '015f4f7037c2f84f09dedfc5158ea6d2', 120_240_260],
    ['cascette-rs/encoding/wow_classic_era_truncated.bin', 214, '0000351e35cd4c3c99b2f134d5c592a2', 44_876],
  ])('%s', (path, count, firstCkey, firstSize) => {
    writeDerived(scratch('real'), conformanceBytes('tact', path), scratch('tmp'));
    const file = new EncodingFile(scratch('real'));
    const all = [...decodeEncoding(conformanceBytes('tact', path)).ckeys];
    expect([all.length, all[0]!.ckey, all[0]!.size]).toEqual([count, firstCkey, firstSize]);
    const asked = [...all].reverse();
    const find = file.findCkeys(asked.map(({ ckey }) => ckey));
    expect(asked.map((_, i) => plain(find(i)))).toEqual(asked);
    file.close();
  });
});
