import * as fs from 'node:fs';
import { join } from 'node:path';
import { checkRange } from '../../core/byte-source.ts';
import { toHex } from '../../core/bytes.ts';
import { codeOf, PakratError } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import { readAt } from '../../files/read-at.ts';
import { type ArchiveIndex, decodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { patchManifestKey } from '../../formats/patches/patch-manifest.ts';
import { type CheckedObject, checkEntry, checked } from '../../verify/check-entry.ts';
import { hashFiles } from '../read-file.ts';

/** The largest index that is believed, and the largest patch that is no archive. */
const maxWhole = 256 << 20;

/** Bytes of all objects below a folder in the layout of a CDN. */
export function cdnBytes(path: string): number {
  let sum = 0;
  for (const kind of ['config', 'data', 'patch']) {
    for (const { file } of hashFiles(join(path, kind))) sum += fs.statSync(file).size;
  }
  return sum;
}

/** Checks all objects of a folder in the layout of a CDN: configs, indices, archives entry by entry, and objects of their own. */
export function* checkCdn(path: string): Generator<CheckedObject> {
  for (const { name, file } of hashFiles(join(path, 'config'))) {
    yield checkWhole(`config/${name}`, file, (bytes) => expectHash(md5Hex(bytes), name));
  }
  for (const kind of ['data', 'patch'] as const) {
    for (const { name, file } of hashFiles(join(path, kind))) {
      if (name.endsWith('.index')) {
        const key = name.slice(0, -'.index'.length);
        yield checkWhole(`${kind}/${name}`, file, (bytes) => void decodeArchiveIndex(bytes, key));
      } else yield* checkData({ kind, name, file });
    }
  }
}

interface CdnObject {
  kind: 'data' | 'patch';
  name: string;
  file: string;
}

function checkWhole(name: string, file: string, check: (bytes: Uint8Array) => void): CheckedObject {
  const { size } = fs.statSync(file);
  return checked(name, size, () => {
    if (size > maxWhole) throw new PakratError('E_FORMAT_RANGE', `${size} bytes are too many for it`);
    check(new Uint8Array(fs.readFileSync(file)));
  });
}

function* checkData(object: CdnObject): Generator<CheckedObject> {
  const { kind, name, file } = object;
  const index = indexBeside(file, name);
  // One whose index is damaged cannot be taken apart; the index itself is reported.
  if (index === 'damaged') return;
  if (index !== undefined) yield* checkArchive(object, index);
  else if (kind === 'patch') yield checkWhole(`patch/${name}`, file, (bytes) => checkPatch(bytes, name));
  else yield* withFile(file, (read, size) => [checked(`data/${name}`, size, () => checkEntry(read, size, name))]);
}

function indexBeside(file: string, name: string): ArchiveIndex | 'damaged' | undefined {
  try {
    return decodeArchiveIndex(new Uint8Array(fs.readFileSync(`${file}.index`)), name);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error)?.startsWith('E_') === true) return 'damaged';
    throw error;
  }
}

type Read = (offset: number, size: number) => Uint8Array;

function* withFile(
  file: string,
  body: (read: Read, size: number) => Iterable<CheckedObject>,
): Generator<CheckedObject> {
  const fd = fs.openSync(file, 'r');
  try {
    const held = fs.fstatSync(fd).size;
    const read: Read = (offset, size) => {
      checkRange({ name: file, size: held }, offset, size);
      return readAt(fd, offset, size, file);
    };
    yield* body(read, held);
  } finally {
    fs.closeSync(fd);
  }
}

function* checkArchive({ kind, name, file }: CdnObject, index: ArchiveIndex): Generator<CheckedObject> {
  yield* withFile(file, function* (read) {
    for (const { ekey, offset, size } of index) {
      const key = toHex(ekey);
      const part: Read = (from, length) => read(offset + from, length);
      yield checked(`${kind}/${name} ${key}`, size, () =>
        kind === 'patch' ? checkPatch(part(0, size), key) : checkEntry(part, size, key),
      );
    }
  });
}

/** A patch has the MD5 of its bytes for a name, a patch manifest that of its first part. */
function checkPatch(bytes: Uint8Array, name: string): void {
  const hash = md5Hex(bytes);
  if (hash !== name && patchManifestKey(bytes) !== name) expectHash(hash, name);
}

function expectHash(found: string, name: string): void {
  if (found !== name) throw new PakratError('E_INTEGRITY', `its MD5 is ${found}`, { data: { found } });
}
