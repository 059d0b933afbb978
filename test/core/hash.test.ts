import { expect, test } from '@jest/globals';
import { toHex } from '../../src/core/bytes.ts';
import { md5, md5Hasher, md5Hex, sha1, sha256 } from '../../src/core/hash.ts';

const abc = new TextEncoder().encode('abc');

// The test vectors of RFC 1321 and FIPS 180.
test('hashes are those of the standards', () => {
  expect(md5Hex(abc)).toBe('900150983cd24fb0d6963f7d28e17f72');
  expect(toHex(md5(abc))).toBe(md5Hex(abc));
  expect(toHex(sha1(abc))).toBe('a9993e364706816aba3e25717850c26c9cd0d89d');
  expect(toHex(sha256(abc))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('bytes in pieces hash as all at once', () => {
  const hasher = md5Hasher();
  hasher.update(abc.subarray(0, 1));
  hasher.update(abc.subarray(1));
  expect(toHex(hasher.digest())).toBe(md5Hex(abc));
});
