import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { breathe } from '../../../core/breathe.ts';
import { PakratError } from '../../../core/errors.ts';
import { readPart } from '../../../sources/file-reader.ts';
import { getEntry } from '../../../sources/names/find-entry.ts';
import type { Source, SourceEntry } from '../../../sources/source.ts';
import type { Looking } from '../looking.ts';
import { type LinkedFile, namedFile } from '../served/place.ts';
import { attachment, pictureType } from './media.ts';

/** Whatever is in a file, it is nothing that runs here. */
export const contentHeaders = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The beginning of a file, or all of it. @throws as reading it does */
export async function readHead(source: Source, entry: SourceEntry, most: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const wanted = Math.min(most, entry.size ?? most);
  const reading = entry.size === undefined ? source.read(entry) : readPart(source, entry, { offset: 0, size: wanted });
  for await (const piece of reading) {
    pieces.push(piece.slice());
    size += piece.length;
    if (size >= wanted) break;
  }
  return Buffer.concat(pieces).subarray(0, wanted);
}

/**
 * Sends a file: to be saved, or a picture to be shown. The last of its bytes goes out when all of them proved right.
 * @throws E_NOT_FOUND, E_UNSUPPORTED for what is no picture, and as reading it does before the first bytes are there
 */
export async function sendFile(
  reply: FastifyReply,
  { sources }: Looking,
  { id, file, as }: { id: string; file: LinkedFile; as: 'file' | 'picture' },
): Promise<FastifyReply> {
  const lease = await sources.lease(id);
  try {
    const entry = await getEntry(lease.source, await namedFile(lease, file));
    const bytes = provenBytes(lease.source, entry);
    const { value: first = Buffer.alloc(0) } = await bytes.next();
    const type = as === 'picture' ? pictureType(first) : 'application/octet-stream';
    if (type === undefined) throw new PakratError('E_UNSUPPORTED', 'this is no picture that a browser knows');
    reply.headers(contentHeaders).type(type);
    if (as === 'file') reply.header('content-disposition', attachment(entry.name));
    if (entry.size !== undefined) reply.header('content-length', entry.size);
    const all = Readable.from(withFirst(first, bytes), { objectMode: false });
    all.once('close', lease.release);
    return await reply.send(all);
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** The bytes of a file; each piece comes when there is another behind it, or none went wrong. */
async function* provenBytes(source: Source, entry: SourceEntry): AsyncGenerator<Uint8Array, undefined> {
  let last: Uint8Array | undefined;
  for await (const piece of source.read(entry)) {
    await breathe();
    if (last !== undefined && last.length > 0) yield last;
    last = piece.slice();
  }
  if (last !== undefined && last.length > 0) yield last;
  return undefined;
}

async function* withFirst(first: Uint8Array, bytes: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  yield* bytes;
}
