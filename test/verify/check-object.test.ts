import { describe, expect, test } from '@jest/globals';
import { md5, md5Hex } from '../../src/core/hash.ts';
import { encodeArchiveIndex } from '../../src/formats/indices/archive-index.ts';
import { encodePatchManifest, patchManifestKey } from '../../src/formats/patches/patch-manifest.ts';
import { checkObject } from '../../src/verify/check-object.ts';
import { codeOf } from '../support/thrown-code.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const key = (text: string): Uint8Array => new Uint8Array(md5(encode(text)));
const changed = (bytes: Uint8Array, at: number): Uint8Array => {
  const copy = bytes.slice();
  copy.set([copy.at(at)! ^ 1], at < 0 ? copy.length + at : at);
  return copy;
};

describe.each([
  ['config', 'config'],
  ['product', 'product config'],
] as const)('a %s', (kind, what) => {
  const bytes = encode('# Build Configuration\n\nroot = 00\n');
  const hash = md5Hex(bytes);

  test('is named by its MD5, and the message says which it has', () => {
    expect(() => checkObject({ kind, hash }, bytes)).not.toThrow();
    const wrong = changed(bytes, 5);
    expect(() => checkObject({ kind, hash }, wrong)).toThrow(
      expect.objectContaining({
        code: 'E_INTEGRITY',
        message: `${what} ${hash} has MD5 ${md5Hex(wrong)}`,
        data: { hash, found: md5Hex(wrong) },
      }),
    );
  });
});

describe('an index', () => {
  const entries = Array.from({ length: 400 }, (_, i) => ({ ekey: key(`entry ${i}`), size: 10 + i, offset: i * 1000 }));
  const { bytes, name: hash } = encodeArchiveIndex(entries.map((entry) => ({ ...entry, archive: 0 })));
  const name = { kind: 'data', hash, suffix: '.index' } as const;

  test('is taken under its own name only', () => {
    expect(() => checkObject(name, bytes)).not.toThrow();
    expect(codeOf(() => checkObject({ ...name, hash: 'f'.repeat(32) }, bytes))).toBe('E_INTEGRITY');
    // Its name is no MD5 of its bytes.
    expect(md5Hex(bytes)).not.toBe(hash);
  });

  test.each([
    ['a byte of an entry', 50],
    ['a byte of its footer', -3],
  ])('with %s changed is refused', (_, at) => {
    expect(codeOf(() => checkObject(name, changed(bytes, at)))).toMatch(/^E_(INTEGRITY|FORMAT_)/);
  });

  test('that is cut, or a page of HTML, is refused', () => {
    expect(codeOf(() => checkObject(name, bytes.subarray(0, bytes.length - 1)))).toMatch(/^E_(INTEGRITY|FORMAT)/);
    expect(codeOf(() => checkObject(name, encode('<html>not here</html>')))).toMatch(/^E_FORMAT/);
  });
});

describe('an object for patching', () => {
  const file = {
    targetCkey: key('target'),
    targetSize: 1000,
    patches: [{ sourceEkey: key('source'), sourceSize: 900, patchEkey: key('patch'), patchSize: 100, order: 1 }],
  };
  const manifest = encodePatchManifest({ files: [file] });
  const hash = patchManifestKey(manifest);

  test('a patch is named by its MD5', () => {
    const bytes = encode('ZBSDIFF1 and so on');
    expect(() => checkObject({ kind: 'patch', hash: md5Hex(bytes) }, bytes)).not.toThrow();
    expect(codeOf(() => checkObject({ kind: 'patch', hash: md5Hex(bytes) }, changed(bytes, 3)))).toBe('E_INTEGRITY');
  });

  test('a patch manifest by the MD5 of its header; all of it is checked all the same', () => {
    expect(md5Hex(manifest)).not.toBe(hash);
    expect(() => checkObject({ kind: 'patch', hash }, manifest)).not.toThrow();
    expect(codeOf(() => checkObject({ kind: 'patch', hash }, changed(manifest, -5)))).toBe('E_INTEGRITY');
    expect(codeOf(() => checkObject({ kind: 'patch', hash: 'f'.repeat(32) }, manifest))).toBe('E_INTEGRITY');
  });

  test('a config is never taken for one', () => {
    expect(codeOf(() => checkObject({ kind: 'config', hash }, manifest))).toBe('E_INTEGRITY');
  });
});
