import { describe, expect, test } from '@jest/globals';
import { decodeInstall, encodeInstall, type Install } from '../../../src/formats/manifests/install.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy } from '../text.ts';

const entries = [
  { path: 'Wow.exe', ckey: '0123456789abcdef0123456789abcdef', size: 300_000 },
  { path: 'Utils\\Größe.dll', ckey: 'ff'.repeat(16), size: 0xffff_ffff },
  { path: 'Wow.exe', ckey: '00'.repeat(16), size: 0 },
];
const tags = [{ name: 'Windows', type: 1, mask: Uint8Array.of(0b1011_1111) }];
const install: Install = { version: 1, tags, entries };

describe('an install manifest', () => {
  test('comes back from its bytes: tags before entries, paths as they are, a path twice', () => {
    const bytes = encodeInstall(install);
    expect([...bytes.subarray(0, 10)]).toEqual([0x49, 0x4e, 1, 16, 0, 1, 0, 0, 0, 3]);
    expect(new TextDecoder().decode(bytes.subarray(10, 17))).toBe('Windows');
    expect(decodeInstall(bytes)).toEqual(install);
  });

  test('of version 2 has a longer header and a byte more in each entry', () => {
    const second: Install = {
      version: 2,
      tags,
      entries: entries.map((entry, i) => ({ ...entry, fileType: i })),
      headerExtra: Uint8Array.of(21, 0, 0, 0, 7, 0),
    };
    const bytes = encodeInstall(second);
    expect(bytes.length).toBe(encodeInstall(install).length + 6 + 3);
    expect(decodeInstall(bytes)).toEqual(second);
  });

  test('of another kind or version, cut off or with more behind it is refused', () => {
    const bytes = encodeInstall(install);
    const change = (offset: number, value: number): Uint8Array => bytes.map((byte, i) => (i === offset ? value : byte));
    expect(codeThrownBy(() => decodeInstall(change(0, 0x44)))).toBe('E_FORMAT_MAGIC');
    expect(codeThrownBy(() => decodeInstall(change(2, 3)))).toBe('E_FORMAT_VERSION');
    expect(codeThrownBy(() => decodeInstall(change(3, 9)))).toBe('E_UNSUPPORTED');
    expect(codeThrownBy(() => decodeInstall(change(6, 255)))).toBe('E_FORMAT_TRUNCATED');
    expect(codeThrownBy(() => decodeInstall(Uint8Array.of(...bytes, 0)))).toBe('E_FORMAT');
    expectHostileSafe(decodeInstall, bytes);
  });

  test('cannot be written with a size above 32 bits', () => {
    expect(
      codeThrownBy(() => encodeInstall({ ...install, tags: [], entries: [{ ...entries[0]!, size: 2 ** 32 }] })),
    ).toBe('E_FORMAT_RANGE');
  });
});
