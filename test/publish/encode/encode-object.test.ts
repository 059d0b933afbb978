import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { md5Hex } from '../../../src/core/hash.ts';
import { decodeBlte } from '../../../src/formats/blte/decode.ts';
import { decodeEncoding } from '../../../src/formats/manifests/encoding/decode.ts';
import { bytesContent } from '../../../src/publish/encode/content.ts';
import { encodeWith } from '../../../src/publish/encode/encode-content.ts';
import { encodeInMemory, encodeOnDisk } from '../../../src/publish/encode/encode-object.ts';
import { Encoder } from '../../../src/publish/encode/encoder.ts';
import { especsFor, maxChunkBytes, usualEspecs } from '../../../src/publish/encode/espec-choice.ts';
import { makeEncoding } from '../../../src/publish/manifests/manifests.ts';
import { ArchiveWriter } from '../../../src/publish/objects/archive-writer.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const encoder = new Encoder({});

function objectsIn(folder: string): { archives: ArchiveWriter; bytesOf: (ekey: string) => Uint8Array } {
  const archives = new ArchiveWriter({ out: scratch(folder), cdnPath: 'tpr/game' }, 'data', 1 << 20);
  const bytesOf = (ekey: string): Uint8Array =>
    readFileSync(join(scratch(folder), 'tpr/game/data', ekey.slice(0, 2), ekey.slice(2, 4), ekey));
  return { archives, bytesOf };
}

test('a manifest that is encoded on disk is the same object as in memory', async () => {
  const contents = Array.from({ length: 5000 }, (_, i) => ({
    ckey: md5Hex(Buffer.from(`ckey ${i >> 1}`)),
    ekey: md5Hex(Buffer.from(`ekey ${i}`)),
    size: i,
    encodedSize: i + 9,
    espec: i % 2 === 0 ? 'n' : 'z',
  }));
  const bytes = makeEncoding(contents);
  const { ownEspec } = decodeEncoding(bytes);
  const wanted = encodeWith(bytes, ownEspec);
  const { archives, bytesOf } = objectsIn('cdn');
  const one = { content: bytesContent('encoding', bytes), ckey: md5Hex(bytes), especs: [ownEspec], isLarge: true };
  const { file, head, ...made } = await encodeOnDisk(one, { encoder, archives });
  const { bytes: object, ...facts } = wanted;
  expect(made).toEqual(facts);
  archives.addFile(made.ekey, file, head);
  expect(Buffer.compare(bytesOf(made.ekey), object)).toBe(0);
  expect(Buffer.compare(decodeBlte(bytesOf(made.ekey), made), bytes)).toBe(0);

  const usual = { ...one, especs: especsFor(usualEspecs, one.ckey) };
  const again = await encodeOnDisk(usual, { encoder, archives });
  const { bytes: _, ...inMemory } = await encodeInMemory(usual, encoder);
  expect(again).toMatchObject(inMemory);
  archives.close();
});

test('of what a person chose no chunk is larger than readers should have to hold', async () => {
  const { archives } = objectsIn('large');
  const content = { ...bytesContent('large', new Uint8Array(0)), size: maxChunkBytes + 1 };
  const one = { content, ckey: '0'.repeat(32), especs: ['b:{*=n}'] };
  await expect(encodeOnDisk(one, { encoder, archives })).rejects.toMatchObject({ code: 'E_USAGE' });
});
