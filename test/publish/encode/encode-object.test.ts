import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { md5Hex } from '../../../src/core/hash.ts';
import { decodeBlte } from '../../../src/formats/blte/decode.ts';
import { decodeEncoding } from '../../../src/formats/manifests/encoding/decode.ts';
import { bytesContent } from '../../../src/publish/encode/content.ts';
import { type EncodedContent, encodeWith } from '../../../src/publish/encode/encode-content.ts';
import { encodeInMemory, encodeOnDisk } from '../../../src/publish/encode/encode-object.ts';
import { Encoder } from '../../../src/publish/encode/encoder.ts';
import { especsFor, maxChunkBytes, usualEspecs } from '../../../src/publish/encode/espec-choice.ts';
import { writeEncoding } from '../../../src/publish/manifests/encoding-file.ts';
import { ArchiveWriter } from '../../../src/publish/objects/archive-writer.ts';
import { Contents } from '../../../src/publish/objects/contents.ts';
import { allSteps } from '../../support/all-steps.ts';
import { builtModule, threadProgram } from '../../support/built-module.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const encoder = new Encoder({});
const built = builtModule('src/publish/encode/encode-worker.ts');

function objectsIn(folder: string): { archives: ArchiveWriter; bytesOf: (ekey: string) => Uint8Array } {
  const archives = new ArchiveWriter({ out: scratch(folder), cdnPath: 'tpr/game' }, 'data', 1 << 20);
  const bytesOf = (ekey: string): Uint8Array =>
    readFileSync(join(scratch(folder), 'tpr/game/data', ekey.slice(0, 2), ekey.slice(2, 4), ekey));
  return { archives, bytesOf };
}

function encodingOf(contents: readonly EncodedContent[]): Uint8Array {
  const known = new Contents(scratch('temporary'));
  for (const content of contents) known.add(content);
  const file = allSteps(writeEncoding(known, scratch('temporary')));
  const bytes = file.read(0, file.size);
  file.close();
  known.close();
  expect(readdirSync(scratch('temporary'))).toEqual([]);
  return bytes;
}

test('a manifest that is encoded on disk is the same object as in memory', async () => {
  const contents = Array.from({ length: 5000 }, (_, i) => ({
    ckey: md5Hex(Buffer.from(`ckey ${i >> 1}`)),
    ekey: md5Hex(Buffer.from(`ekey ${i}`)),
    size: i,
    encodedSize: i + 9,
    espec: i % 2 === 0 ? 'n' : 'z',
  }));
  const bytes = encodingOf(contents);
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

test.each([0, 2])(
  'with %d threads a plain chunk of many MB is read piece by piece, and comes out as it would whole',
  async (threads) => {
    const workerUrl = threadProgram(scratch(`threads${threads}`), 'encode-worker', built);
    const encoder = new Encoder({ threads, workerUrl });
    const bytes = randomBytes((9 << 20) + 777);
    const espec = `b:{100=z,${9 << 20}=n,*=z}`;
    const asked: number[] = [];
    const { read, readInto, ...facts } = bytesContent('large', bytes);
    const content = {
      ...facts,
      read: (offset: number, size: number) => {
        asked.push(size);
        return read(offset, size);
      },
      readInto: (target: Uint8Array, offset: number) => {
        asked.push(target.length);
        readInto(target, offset);
      },
    };
    const { archives, bytesOf } = objectsIn(`plain${threads}`);
    const one = { content, ckey: md5Hex(bytes), especs: [espec], isLarge: true };
    const { file, head, ekey } = await encodeOnDisk(one, { encoder, archives });
    archives.addFile(ekey, file, head);
    expect(Buffer.compare(bytesOf(ekey), encodeWith(bytes, espec).bytes)).toBe(0);
    expect(Math.max(...asked)).toBe(1 << 20);
    archives.close();
    await encoder.end();
  },
);

test('of what a person chose no chunk is larger than readers should have to hold', async () => {
  const { archives } = objectsIn('large');
  const content = { ...bytesContent('large', new Uint8Array(0)), size: maxChunkBytes + 1 };
  const one = { content, ckey: '0'.repeat(32), especs: ['b:{*=n}'] };
  await expect(encodeOnDisk(one, { encoder, archives })).rejects.toMatchObject({ code: 'E_USAGE' });
});
