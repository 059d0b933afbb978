import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { codeOf } from '../../../src/core/errors.ts';
import { md5 } from '../../../src/core/hash.ts';
import { decodeTvfs } from '../../../src/formats/roots/tvfs/decode.ts';
import { encodeTvfs } from '../../../src/formats/roots/tvfs/encode.ts';
import { writeTvfs } from '../../../src/publish/manifests/tvfs.ts';
import { Contents } from '../../../src/publish/objects/contents.ts';
import { EncodedFiles } from '../../../src/publish/objects/encoded-files.ts';
import { allSteps } from '../../support/all-steps.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

const hex = (text: string): string => Buffer.from(md5(Buffer.from(text))).toString('hex');

/** Content `i` of some: several files have it. */
const contentOf = (i: number) => {
  const content = i % 1500;
  const espec = content % 7 === 0 ? 'n' : 'b:256K*=z:6';
  return { ckey: hex(`c${content}`), ekey: hex(`e${content}`), size: content, encodedSize: content + 9, espec };
};

function write(paths: readonly string[]): Uint8Array {
  const contents = new Contents(scratch('tmp'));
  const files = new EncodedFiles(contents, scratch('tmp'));
  try {
    paths.forEach((name, i) => {
      const content = contentOf(i);
      if (contents.numberOf(content) < 0) contents.add(content);
      files.add({ name, read: () => new Uint8Array() }, content);
    });
    const file = allSteps(writeTvfs(files, scratch('tmp')));
    const bytes = file.read(0, file.size);
    file.close();
    return bytes;
  } finally {
    files.close();
    contents.close();
    expect(readdirSync(scratch('tmp'))).toEqual([]);
  }
}

test('a manifest that is sorted on disk is the one that is made in memory', () => {
  const parts = ['a', 'ab', 'abc', 'b', 'Ω', 'world', 'zone', 'zone1', '\u{1f3ae}', '\uffee'];
  const part = (i: number): string => parts[i % parts.length]!;
  const paths = Array.from({ length: 4000 }, (_, i) => {
    const depth = i % 5;
    return [...Array.from({ length: depth }, (_, level) => part(i * 7 + level * 3)), `${part(i)}${i % 977}.${i}`].join(
      '/',
    );
  });
  // One path is the start of another, and one a whole part of it.
  const all = [...paths, 'ab', 'ab/ab', 'ab/abc', 'x', 'x.bin'];
  const bytes = write(all);
  const entries = all.map((path, i) => {
    const { ckey, ekey, size, encodedSize, espec } = contentOf(i);
    const keys = { ekey: Buffer.from(ekey, 'hex').subarray(0, 9), ckey: Buffer.from(ckey, 'hex') };
    return { path, spans: [{ offset: 0, size, ...keys, encodedSize, contentSize: size, espec }] };
  });
  expect(Buffer.compare(bytes, encodeTvfs({ entries, form: 'prefixes' }))).toBe(0);
  expect(Array.from(decodeTvfs(bytes).files, ({ path }) => path).sort()).toEqual([...all].sort());
});

test('a path that comes twice is refused, and nothing is left of the work', () => {
  let code: unknown;
  try {
    write(['b', 'a/b', 'b']);
  } catch (error) {
    code = [codeOf(error), (error as Error).message];
  }
  expect(code).toEqual(['E_USAGE', '"b" cannot be published: it comes twice']);
});
