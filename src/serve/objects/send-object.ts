import type { FastifyReply, FastifyRequest } from 'fastify';
import { objectHash } from '../../store/layout.ts';
import type { Store } from '../../store/store.ts';
import { parseRange } from '../static-server.ts';
import type { FoundObject } from './find-object.ts';
import { heldUntil } from './read-held.ts';
import { type Sending, sendBytes } from './send-bytes.ts';

/** Brings bytes of an object that are not held. */
export interface Bringing {
  /** False when some of these bytes are not held, and cannot be asked for either. */
  canHave: (start: number, end: number) => boolean | Promise<boolean>;
  /** Waits until the byte `at` is held. @param isUnread it was, and could not be read @returns false when it will not be */
  wait: (at: number, end: number, isUnread: boolean) => Promise<boolean>;
  /** Told how far an answer has come, so that what follows is asked for before it is needed. */
  goOn: (at: number, end: number) => Promise<void>;
}

/**
 * Answers with an object, or the range of it that is asked, when all of that is held or can be brought. Several ranges in one request get 416: no
 * reader that is known asks for them, and an answer in parts would be a way to make a server work hard.
 */
export async function sendObject(
  request: FastifyRequest,
  reply: FastifyReply,
  { store, path, size, isWhole, bringing }: FoundObject & { store: Store; bringing?: Bringing | undefined },
): Promise<unknown> {
  // The name says what the bytes are, whichever host and product they come from.
  const etag = `"${objectHash(path)}${path.endsWith('.index') ? '.index' : ''}"`;
  const headers: Record<string, string | number> = { 'accept-ranges': 'bytes', etag };
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).headers(headers).send();
  const range = parseRange(askedRange(request, etag), size);
  if (range === 'unsatisfiable')
    return reply.code(416).headers(headers).header('content-range', `bytes */${size}`).send('');
  const { start, end } = range ?? { start: 0, end: size };
  const until = isWhole ? size : heldUntil(store, path, start);
  if (until < end && !(await bringing?.canHave(start, end))) return reply.callNotFound();
  if (range !== undefined) headers['content-range'] = `bytes ${start}-${end - 1}/${size}`;
  headers['content-type'] = 'application/octet-stream';
  headers['content-length'] = end - start;
  const status = range === undefined ? 200 : 206;
  if (request.method === 'HEAD' || start === end) return reply.code(status).headers(headers).send();
  const wait: Sending['wait'] = async (at, isUnread) => (await bringing?.wait(at, end, isUnread)) ?? false;
  const goOn = bringing && ((at: number) => bringing.goOn(at, end));
  const sending: Sending = { store, path, range: { start, end }, until, wait, goOn };
  try {
    const isSent = await sendBytes(reply.raw, sending, () => {
      reply.hijack();
      reply.raw.writeHead(status, headers);
    });
    return isSent ? reply : reply.callNotFound();
  } catch (error) {
    // Behind the head trouble can only be told by an answer that ends early.
    if (!reply.raw.headersSent) throw error;
    reply.raw.destroy();
    return reply;
  }
}

function isKnown(header: string | undefined, etag: string): boolean {
  return header !== undefined && (header.trim() === '*' || header.includes(etag));
}

/** A range is for GET alone, and one with If-Range for the same content. */
function askedRange({ method, headers }: FastifyRequest, etag: string): string | undefined {
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag;
  return method === 'GET' && isSame ? headers.range : undefined;
}
