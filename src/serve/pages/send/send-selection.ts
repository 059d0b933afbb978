import { PassThrough, Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { ZipFile } from 'yazl';
import { breathe } from '../../../core/breathe.ts';
import { PakratError } from '../../../core/errors.ts';
import { tarEnd, tarHeader, tarPadding } from '../../../sources/extract/tar.ts';
import type { Looking } from '../looking.ts';
import { parseQuery } from '../served/search-names.ts';
import { attachment } from './media.ts';
import { type SelectedFile, type Selection, selectedFiles } from './selected-files.ts';
import { contentHeaders } from './send-file.ts';

/** A selection of a source, and what it is to become. */
export interface SelectionRequest {
  id: string;
  selection: Selection;
  format: 'zip' | 'tar';
}

/** Sends a selection as one file, made while it is sent. @throws E_NOT_FOUND, E_USAGE */
export async function sendSelection(
  reply: FastifyReply,
  { sources, signal }: Looking,
  { id, selection, format }: SelectionRequest,
): Promise<FastifyReply> {
  parseQuery(selection.query);
  const lease = await sources.lease(id);
  const ended = new AbortController();
  const files = selectedFiles(lease, selection, AbortSignal.any([signal, ended.signal]));
  const bytes = Readable.from(format === 'zip' ? zipOf(files) : tarOf(files), { objectMode: false });
  bytes.once('close', () => {
    ended.abort();
    lease.release();
  });
  reply.headers(contentHeaders).type(format === 'zip' ? 'application/zip' : 'application/x-tar');
  reply.header('content-disposition', attachment(`${lease.served.label}.${format}`));
  return reply.send(bytes);
}

async function* tarOf(files: AsyncIterable<SelectedFile>): AsyncGenerator<Uint8Array> {
  for await (const { path, size, mtime, content } of files) {
    yield tarHeader(path, size, mtime);
    yield* sized(content(), path, size);
    yield tarPadding(size);
  }
  yield tarEnd();
}

/** The largest size and place that the plain form of a zip can tell. */
const mostPlain = 0xfffffffe;

/** A zip with the files that come; large ones have the form for it. @throws as the files do: the zip has no end then */
async function* zipOf(files: AsyncIterable<SelectedFile>): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const out = new PassThrough();
  zip.outputStream.pipe(out);
  // What yazl tells of as an error of its own is one of a file's bytes.
  zip.on('error', (error: Error) => out.destroy(error));
  const adding = addFiles(zip, files).catch((error: unknown) => out.destroy(error as Error));
  try {
    for await (const piece of out) yield piece as Uint8Array;
    await adding;
  } finally {
    out.destroy();
  }
}

async function addFiles(zip: ZipFile, files: AsyncIterable<SelectedFile>): Promise<void> {
  for await (const { path, size, mtime = new Date(0), content } of files) {
    const bytes = Readable.from(sized(content(), path, size), { objectMode: false });
    // The next file is read when this one is out: memory follows what the reader takes.
    const isOut = new Promise<void>((resolve, reject) => {
      bytes.once('end', resolve);
      bytes.once('error', reject);
      bytes.once('close', resolve);
    });
    zip.addReadStream(bytes, path, { mtime, size, compress: size > 0, forceZip64Format: size > mostPlain });
    await isOut;
  }
  zip.end();
}

/** The bytes of a file, which were right before. @throws E_INTEGRITY when they are not as many now */
async function* sized(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  path: string,
  size: number,
): AsyncGenerator<Uint8Array> {
  let done = 0;
  for await (const piece of bytes) {
    await breathe();
    done += piece.length;
    yield piece;
  }
  if (done !== size) throw new PakratError('E_INTEGRITY', `${path} changed while it was read`);
}
