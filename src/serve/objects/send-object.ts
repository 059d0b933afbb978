import * as fs from 'node:fs';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { objectHash } from '../../store/layout.ts';
import { covers } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import { type ByteRange, parseRange } from '../static-server.ts';
import type { FoundObject } from './find-object.ts';

const pieceBytes = 256 * 1024;

/** Answers with an object, or the range of it that is asked, when all of that is held. */
export async function sendObject(
  request: FastifyRequest,
  reply: FastifyReply,
  { store, path, size }: FoundObject & { store: Store },
): Promise<unknown> {
  const etag = `"${objectHash(path)}${path.endsWith('.index') ? '.index' : ''}"`;
  reply.headers({ 'accept-ranges': 'bytes', etag });
  if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
  const range = parseRange(askedRange(request, etag), size);
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${size}`).send('');
  const { start, end } = range ?? { start: 0, end: size };
  if (!isHeld(store, path, { start, end })) return reply.callNotFound();
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`);
  reply.headers({ 'content-type': 'application/octet-stream', 'content-length': end - start });
  if (request.method === 'HEAD') return reply.send();
  return reply.send(Readable.from(pieces(store, path, { start, end }), { objectMode: false }));
}

/** A range is for GET alone, and one with If-Range for the same content. */
function askedRange({ method, headers }: FastifyRequest, etag: string): string | undefined {
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag;
  return method === 'GET' && isSame ? headers.range : undefined;
}

function isHeld({ ledger }: Store, path: string, { start, end }: ByteRange): boolean {
  return ledger.completeSize(path) !== undefined || covers(ledger.spansWithin(path, start, end), start, end);
}

/** Bytes of an object that were held when they were read: what is given back leaves the ledger before it leaves the disk. */
async function* pieces(store: Store, path: string, { start, end }: ByteRange): AsyncGenerator<Buffer> {
  const file = await fs.promises.open(store.file(path), 'r');
  try {
    for (let at = start; at < end; ) {
      const { bytesRead, buffer } = await file.read(
        Buffer.allocUnsafe(Math.min(pieceBytes, end - at)),
        0,
        undefined,
        at,
      );
      if (bytesRead === 0 || !isHeld(store, path, { start: at, end: at + bytesRead }))
        throw new Error(`${path} is not held any more`);
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}
