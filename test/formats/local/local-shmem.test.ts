import { expect, test } from '@jest/globals';
import { decodeShmem, encodeShmem, shmemFormat } from '../../../src/formats/local/local-shmem.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy } from '../text.ts';

describeConformance('the shmem of a real installation of 2014', () => {
  const real = () => conformanceBytes('tact/heksesang-CascLib/shmem');

  test('tells its folder and which .idx files count', () => {
    expect(shmemFormat.matches(real())).toBe(true);
    const { rest, ...start } = decodeShmem(real());
    expect(rest).toHaveLength(real().length - 0x150);
    expect(start).toEqual({
      version: 4,
      headerSize: 0x150,
      dataFolder: 'Global\\I:/World of Warcraft Beta/Data/data',
      freeTable: { offset: 0x150, size: 0x2ab8 },
      generations: [51, 48, 52, 46, 51, 49, 47, 49, 51, 50, 52, 53, 53, 50, 52, 48],
    });
  });

  test('it comes back byte for byte, or its start alone', () => {
    const { rest: _, ...start } = decodeShmem(real());
    expect(Buffer.compare(encodeShmem(decodeShmem(real())), real())).toBe(0);
    expect(Buffer.compare(encodeShmem(start), real().subarray(0, 0x150))).toBe(0);
  });

  test('hostile forms of it', () => {
    // What lies behind the table of free space is not read.
    expectHostileSafe(decodeShmem, real().subarray(0, 0x150 + 0x2ab8), { samples: 200 });
  });
});

test('other bytes are none', () => {
  expect(shmemFormat.matches(new Uint8Array(0x150))).toBe(false);
  expect(codeThrownBy(() => decodeShmem(new Uint8Array(0x150)))).toBe('E_FORMAT_VERSION');
  expect(codeThrownBy(() => decodeShmem(new Uint8Array(3)))).toBe('E_FORMAT_TRUNCATED');
});
