import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak } from '../../../src/paks/index.ts';
import { decodeFooter, encodeFooter, footerLayout, hasFooterMagic } from '../../../src/paks/unreal/footer.ts';
import { writeUnrealPak } from '../../../src/paks/unreal/write/write.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { gather, packed, packFile } from '../../support/pak-sources.ts';
import { i32, unrealPak } from '../../support/pak-unreal.ts';

const sizes: [label: string, size: number, magicFromEnd: number][] = [
  ['1', 44, 44],
  ['2', 44, 44],
  ['3', 44, 44],
  ['4', 45, 44],
  ['5', 45, 44],
  ['6', 45, 44],
  ['7', 61, 44],
  ['8A', 189, 172],
  ['8B', 221, 204],
  ['9', 222, 205],
  ['10', 221, 204],
  ['11', 221, 204],
];

describe.each(sizes)('version %s', (label, size, magicFromEnd) => {
  const files = [packFile('a.txt', 'content')];
  const write = (): Promise<Uint8Array> => packed((sink) => writeUnrealPak(files, sink, { version: label }));

  test('has its footer where it belongs', async () => {
    const bytes = await write();
    expect([...bytes.subarray(-magicFromEnd).subarray(0, 4)]).toEqual([...i32(0x5a6f12e1)]);
    const footer = decodeFooter(bytes.subarray(-262), bytes.length);
    expect([footer.label, footer.size]).toEqual([label, size]);
    expect(encodeFooter(footer, footerLayout(label)!)).toEqual(bytes.slice(-size));
    expect((await openPak(bytesSource(bytes))).version).toBe(label);
  });

  test('a version that does not fit the place, or is not known, is told as such', async () => {
    const bytes = await write();
    const at = bytes.length - magicFromEnd + 4;
    for (const [version, message] of [
      [0, /version 0 is not known/],
      [16, /version 16 is not known/],
      [label === '9' ? 3 : 9, /a game changed it/],
    ] as const) {
      const changed = bytes.slice();
      changed.set(i32(version), at);
      expect(hasFooterMagic(changed.subarray(-262))).toBe(true);
      await expect(openPak(bytesSource(changed))).rejects.toMatchObject({
        code: 'E_FORMAT_VERSION',
        message: expect.stringMatching(message),
      });
    }
  });

  test('can be read as the version it is, although it says another, or another magic', async () => {
    const bytes = await write();
    const forceVersion = Number.parseInt(label, 10);
    const zeroed = bytes.slice();
    zeroed.set(i32(0), bytes.length - magicFromEnd + 4);
    const pak = await openPak(bytesSource(zeroed), { forceVersion });
    expect(Buffer.from(await gather(pak.read(pak.find('a.txt')!))).toString()).toBe('content');
    zeroed.set(i32(0x12345678), bytes.length - magicFromEnd);
    await expect(openPak(bytesSource(zeroed), { forceVersion })).rejects.toMatchObject({ code: 'E_FORMAT_MAGIC' });
    const forced = await openPak(bytesSource(zeroed), { forceVersion, ignoreMagic: true });
    expect([forced.version, forced.entries.map(({ name }) => name)]).toEqual([label, ['a.txt']]);
    expect(forced.notes.join()).toMatch(/magic .* is wrong/);
  });
});

test.each([
  [3, 44, '1, 2, 3, 4, 5, 6, 7'],
  ['8A', 172, '8'],
  [11, 204, '8, 10, 11, 12, 13'],
] as const)('version %s, changed to 0 or 99: the hint says as which it may be read', async (version, at, likely) => {
  const bytes = await packed((sink) => writeUnrealPak([packFile('a', 'b')], sink, { version }));
  for (const other of [0, 99]) {
    bytes.set(i32(other), bytes.length - at + 4);
    await expect(openPak(bytesSource(bytes))).rejects.toMatchObject({
      code: 'E_FORMAT_VERSION',
      message: expect.stringContaining(`version ${other} is not known`),
      hint: expect.stringContaining(`version ${likely}: --force-version N`),
    });
  }
  const forceVersion = Number.parseInt(String(version), 10);
  expect((await openPak(bytesSource(bytes), { forceVersion })).entries).toHaveLength(1);
});

test('a version that cannot be forced is told', async () => {
  const bytes = await packed((sink) => writeUnrealPak([packFile('a', 'b')], sink, { version: 3 }));
  await expect(openPak(bytesSource(bytes), { forceVersion: 11 })).rejects.toMatchObject({ code: 'E_FORMAT_VERSION' });
});

test('fields of versions 14 and 15', () => {
  const ctr = unrealPak([], { version: 15, isCtr: true, key: new Uint8Array(32), encryptIndex: true });
  const footer = decodeFooter(ctr.subarray(-262), ctr.length);
  expect(footer).toMatchObject({
    version: 15,
    size: 262,
    pakchunkIndex: 7,
    encryption: 'AES-256-CTR',
    encryptedIndex: true,
  });
  expect(footer.ivs.map(({ length }) => length)).toEqual([12, 12, 12]);
  const plain = unrealPak([], { version: 14 });
  expect(decodeFooter(plain.subarray(-262), plain.length)).toMatchObject({
    size: 225,
    pakchunkIndex: 7,
    encryption: 'AES-256-ECB',
  });
});

test.each([
  ['past the end', 0x7fffffff, 'E_FORMAT_TRUNCATED'],
  ['negative', -1, 'E_FORMAT_RANGE'],
])('an index offset that is %s', async (_what, offset, code) => {
  const bytes = await packed((sink) => writeUnrealPak([packFile('a', 'b')], sink, { version: 11 }));
  bytes.set(i32(offset), bytes.length - 204 + 8);
  bytes.set(i32(offset < 0 ? -1 : 0), bytes.length - 204 + 12);
  await expect(openPak(bytesSource(bytes))).rejects.toMatchObject({ code });
});

test('hostile footers', () => {
  const bytes = unrealPak([{ name: 'a', content: Buffer.from('b') }], { version: 15 });
  const tail = bytes.slice(-262);
  // A shorter tail is another file: every version has its own place for the magic.
  expectHostileSafe((footer) => decodeFooter(footer, bytes.length), tail);
});
