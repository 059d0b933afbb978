import { describe, expect, test } from '@jest/globals';
import { ByteReader } from '../../../src/core/reader.ts';
import { ByteWriter } from '../../../src/core/writer.ts';
import { hasTag, maskSize, readTags, selectByTags, type Tag, writeTags } from '../../../src/formats/manifests/tags.ts';
import { codeThrownBy } from '../text.ts';

/** `members` are entry numbers; `padding` sets the bits behind the last entry, as real manifests have it. */
function tag(name: string, type: number, members: number[], count = 6, padding = true): Tag {
  const mask = new Uint8Array(maskSize(count));
  const bits = padding
    ? [...members, ...Array.from({ length: mask.length * 8 - count }, (_, i) => count + i)]
    : members;
  for (const i of bits) mask[i >> 3]! |= 0x80 >> (i & 7);
  return { name, type, mask };
}

const tags = [
  tag('Windows', 1, [0, 1, 2]),
  tag('OSX', 1, [3]),
  tag('enUS', 3, [0, 3, 4]),
  tag('deDE', 3, [1, 3]),
  tag('frFR', 3, [2]),
];
const chosen = (...names: string[]): number[] => {
  const mask = selectByTags(tags, names, 6);
  return [0, 1, 2, 3, 4, 5].filter((i) => hasTag(mask, i));
};

describe('a choice of tags', () => {
  test('takes any of one type', () => {
    expect(chosen('enUS', 'deDE')).toEqual([0, 1, 3, 4, 5]);
  });
  test('takes what all types allow', () => {
    expect(chosen('Windows', 'enUS')).toEqual([0, 4, 5]);
    expect(chosen('OSX', 'frFR')).toEqual([5]);
    expect(chosen('Windows', 'OSX', 'enUS', 'deDE')).toEqual([0, 1, 3, 4, 5]);
  });
  test('always takes entries that have no tag of a type: 4 has no platform, 5 has nothing', () => {
    expect(chosen('OSX')).toEqual([3, 4, 5]);
    expect(chosen('deDE')).toEqual([1, 3, 5]);
  });
  test('of nothing takes everything', () => {
    expect(chosen()).toEqual([0, 1, 2, 3, 4, 5]);
  });
  test('leaves bits behind the last entry at 0, whatever the masks have there', () => {
    expect(tags[0]!.mask[0]! & 3).toBe(3);
    expect([...selectByTags(tags, ['Windows'], 6)]).toEqual([0b1110_1100]);
    expect([...selectByTags(tags, [], 6)]).toEqual([0b1111_1100]);
    expect([...selectByTags([], [], 16)]).toEqual([0xff, 0xff]);
    expect([...selectByTags([], [], 0)]).toEqual([]);
  });
  test('goes by the types of the manifest, whatever they mean elsewhere', () => {
    const hearthstone = [tag('enUS', 2, [0]), tag('deDE', 2, [1]), tag('Windows', 1, [0, 1])];
    expect([...selectByTags(hearthstone, ['enUS', 'Windows'], 6)]).toEqual([0b1011_1100]);
  });
  test('takes a name in any case', () => {
    expect(chosen('windows', 'ENUS')).toEqual(chosen('Windows', 'enUS'));
  });
  test('with an unknown name is the mistake of who asked, and names those there are', () => {
    try {
      selectByTags(tags, ['Windows', 'enGB'], 6);
      throw new Error('it was taken');
    } catch (error) {
      expect(error).toMatchObject({ code: 'E_USAGE', data: { tag: 'enGB' } });
      expect((error as { hint: string }).hint).toBe('Its tags are: Windows, OSX, enUS, deDE, frFR.');
    }
    const hint = expect.stringMatching(/^Did you mean Windows\? Its tags are: /);
    expect(() => selectByTags(tags, ['Widnows'], 6)).toThrow(expect.objectContaining({ hint }));
    expect(codeThrownBy(() => selectByTags([], ['x'], 1))).toBe('E_USAGE');
  });
});

describe('the bytes of tags', () => {
  test('come back, the first entry as the highest bit', () => {
    const writer = new ByteWriter();
    writeTags(writer, tags);
    const bytes = writer.bytes();
    expect([...bytes.subarray(0, 11)]).toEqual([...new TextEncoder().encode('Windows\0'), 0, 1, 0b1110_0011]);
    expect(readTags(new ByteReader(bytes, 'tags'), 5, 6)).toEqual(tags);
  });
  test('are not allocated before they are there', () => {
    expect(codeThrownBy(() => readTags(new ByteReader(new Uint8Array(100), 'tags'), 65_535, 4_000_000_000))).toBe(
      'E_FORMAT_TRUNCATED',
    );
  });
  test('a bit outside a mask is not set', () => {
    expect(hasTag(new Uint8Array([0xff]), 8)).toBe(false);
  });
});
