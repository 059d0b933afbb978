import * as fs from 'node:fs';
import { join } from 'node:path';
import { checkRange } from '../../core/byte-source.ts';
import { toHex } from '../../core/bytes.ts';
import { isNotFound, isOurTrouble, isPakratError } from '../../core/errors.ts';
import { openPlain, readAt, readable, readOwn, sizeOfFile } from '../../files/read-at.ts';
import { type ArchiveIndex, decodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { HashBuffer } from '../../verify/hash-buffer.ts';
import {
  type CheckedObject,
  type CheckOptions,
  checkBatches,
  checkConfigs,
  checkFolderEntries,
  checkWhole,
  type EntryWork,
  type FolderBatch,
  type FolderEntry,
  unreadFolders,
} from '../check-folder.ts';
import { hashFiles } from '../read-file.ts';

/** Bytes of all objects below a folder in the layout of a CDN. */
export function cdnBytes(path: string): number {
  let sum = 0;
  for (const kind of ['config', 'data', 'patch']) {
    for (const { file } of hashFiles(join(path, kind), () => {})) sum += sizeOfFile(file) ?? 0;
  }
  return sum;
}

/** Checks all objects of a folder in the layout of a CDN: configs, indices, archives entry by entry, and objects of their own. @throws E_ABORTED */
export async function* checkCdn(path: string, { signal, prove }: CheckOptions): AsyncGenerator<CheckedObject> {
  yield* checkConfigs(join(path, 'config'));
  const work: EntryWork = { signal, buffer: new HashBuffer() };
  const provable: CdnObject[] = [];
  const unread: CheckedObject[] = [];
  for (const kind of ['data', 'patch'] as const) {
    for (const { name, file } of hashFiles(join(path, kind), unreadFolders(path, unread))) {
      const object: CdnObject = { kind, name, file };
      if (name.endsWith('.index')) yield checkWhole(`${kind}/${name}`, object);
      else if (prove === undefined || isPatchAlone(object)) yield* checkData(object, work);
      else provable.push(object);
    }
  }
  if (prove !== undefined) yield* checkBatches(batchesOf(provable, work), prove);
  yield* unread;
}

/** A patch of its own has no entries. */
function isPatchAlone({ kind, file }: CdnObject): boolean {
  return kind === 'patch' && !fs.existsSync(`${file}.index`);
}

function* batchesOf(objects: readonly CdnObject[], work: EntryWork): Generator<FolderBatch> {
  for (const object of objects) {
    const { kind, name, file } = object;
    const index = fs.existsSync(`${file}.index`) ? `${file}.index` : undefined;
    const listed = { name: { kind, hash: name }, file, index };
    yield { listed, size: sizeOfFile(file) ?? 0, name: `${kind}/${name}`, check: () => checkData(object, work) };
  }
}

interface CdnObject {
  kind: 'data' | 'patch';
  name: string;
  file: string;
}

async function* checkData(object: CdnObject, work: EntryWork): AsyncGenerator<CheckedObject> {
  const { kind, name, file } = object;
  const index = indexBeside(file, name);
  // One whose index is damaged cannot be taken apart; the index itself is reported.
  if (index === 'damaged') return;
  if (index === undefined && kind === 'patch') yield checkWhole(`patch/${name}`, object);
  else yield* checkFile(object, index, work);
}

async function* checkFile(
  object: CdnObject,
  index: ArchiveIndex | undefined,
  work: EntryWork,
): AsyncGenerator<CheckedObject> {
  const { kind, name, file } = object;
  try {
    yield* withFile(file, (read, size) => checkFolderEntries(entriesOf(object, { index, read, size }), work));
  } catch (error) {
    if (!isPakratError(error) || isOurTrouble(error)) throw error;
    yield { name: `${kind}/${name}`, bytes: 0, problem: { code: error.code, message: error.message } };
  }
}

function indexBeside(file: string, name: string): ArchiveIndex | 'damaged' | undefined {
  try {
    return decodeArchiveIndex(
      readable(file, () => readOwn(`${file}.index`)),
      name,
    );
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (isPakratError(error)) return 'damaged';
    throw error;
  }
}

type Read = (offset: number, size: number) => Uint8Array;

async function* withFile(
  file: string,
  body: (read: Read, size: number) => AsyncIterable<CheckedObject>,
): AsyncGenerator<CheckedObject> {
  const { fd, size: held } = readable(file, () => openPlain(file));
  try {
    const read: Read = (offset, size) => {
      checkRange({ name: file, size: held }, offset, size);
      return readable(file, () => readAt(fd, offset, size, file));
    };
    yield* body(read, held);
  } finally {
    fs.closeSync(fd);
  }
}

function* entriesOf(
  { kind, name }: CdnObject,
  { index, read, size }: { index: ArchiveIndex | undefined; read: Read; size: number },
): Generator<FolderEntry> {
  if (index === undefined) {
    yield { name: `${kind}/${name}`, ekey: name, size, read };
    return;
  }
  for (const entry of index) {
    const ekey = toHex(entry.ekey);
    const readPart: Read = (offset, length) => read(entry.offset + offset, length);
    yield { name: `${kind}/${name} ${ekey}`, ekey, size: entry.size, raw: kind === 'patch', read: readPart };
  }
}
