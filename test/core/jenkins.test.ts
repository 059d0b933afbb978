import { describe, expect, test } from '@jest/globals';
import { toHex } from '../../src/core/bytes.ts';
import {
  hashLittle,
  hashLittle2,
  nameHash,
  normalizeName,
  putNameHash,
  writeNameHash,
} from '../../src/core/jenkins.ts';

const score = new TextEncoder().encode('Four score and seven years ago');
const empty = new Uint8Array();

describe('lookup3', () => {
  // The answers of the self-test (driver5) in Bob Jenkins' lookup3.c.
  test.each([
    { text: empty, pc: 0, pb: 0, c: 0xdeadbeef, b: 0xdeadbeef },
    { text: empty, pc: 0, pb: 0xdeadbeef, c: 0xbd5b7dde, b: 0xdeadbeef },
    { text: empty, pc: 0xdeadbeef, pb: 0xdeadbeef, c: 0x9c093ccd, b: 0xbd5b7dde },
    { text: score, pc: 0, pb: 0, c: 0x17770551, b: 0xce7226e6 },
    { text: score, pc: 0, pb: 1, c: 0xe3607cae, b: 0xbd371de4 },
    { text: score, pc: 1, pb: 0, c: 0xcd628161, b: 0x6cbea4b3 },
  ])('of $text.length bytes with seeds $pc and $pb', ({ text, pc, pb, c, b }) => {
    expect(hashLittle2(text, pc, pb)).toEqual({ c, b });
  });

  test('hashlittle is its primary value', () => {
    expect(hashLittle(score)).toBe(0x17770551);
    expect(hashLittle(score, 1)).toBe(0xcd628161);
  });

  test('every length around a block of twelve counts every byte', () => {
    for (let size = 1; size <= 37; size++) {
      const bytes = Uint8Array.from({ length: size }, (_, i) => i + 1);
      const seen = new Set([hashLittle(bytes)]);
      for (let i = 0; i < size; i++) {
        const changed = bytes.slice();
        changed[i]! ^= 1;
        seen.add(hashLittle(changed));
      }
      seen.add(hashLittle(Uint8Array.of(...bytes, 0)));
      expect(seen.size).toBe(size + 2);
    }
  });

  test('only the bytes of a view are hashed', () => {
    const padded = Uint8Array.of(9, 9, 9, ...score, 9, 9);
    expect(hashLittle(padded.subarray(3, 3 + score.length))).toBe(0x17770551);
  });
});

describe('names', () => {
  test('the hash is that of the game, whatever case and slashes', () => {
    for (const name of [
      'interface/icons/inv_helm_armor_explorer_d_01.blp',
      'INTERFACE\\ICONS\\INV_HELM_ARMOR_EXPLORER_D_01.BLP',
      'Interface\\Icons/Inv_Helm_Armor_Explorer_D_01.blp',
    ]) {
      expect(toHex(nameHash(name))).toBe('770b8d2dc4d940aa');
    }
  });

  test('every byte at every place is hashed as the formats compare it', () => {
    for (let byte = 0; byte < 0x100; byte++) {
      const bytes = Uint8Array.from({ length: 31 }, (_, i) => (i % 3 === 0 ? byte : (i * 37 + byte) % 0x100));
      const [target, words] = [Buffer.alloc(10), new Uint32Array(3)];
      for (const [start, end] of [
        [0, 31],
        [1, 14],
        [2, 29],
        [3, 5],
      ] as const) {
        const { c, b } = hashLittle2(
          Buffer.from(normalizeName(Buffer.from(bytes).toString('latin1', start, end)), 'latin1'),
        );
        writeNameHash(target, 2, { bytes, start, end });
        putNameHash(words, 1, { view: new DataView(bytes.buffer), start, end });
        expect([target.readUInt32BE(2), target.readUInt32BE(6), words[1], words[2]]).toEqual([c, b, c, b]);
      }
    }
  });

  test('only ASCII letters change their case', () => {
    expect(normalizeName('World/Straße/Ünï_é.m2')).toBe('WORLD\\STRAßE\\ÜNï_é.M2');
  });
});
