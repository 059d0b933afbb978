import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { importListfile as importInto, type ListfileChange } from '../../builds/listfile/listfile-import.ts';
import { type OnProgress, stepping, type WorkOptions } from '../../core/progress.ts';
import { givenPieces, isPipe } from '../../files/given/given-file.ts';
import { reading } from '../../files/read-at.ts';
import type { Session } from '../session/session.ts';
import { tellBadLines } from '../session/tell-names.ts';

export type { ListfileChange } from '../../builds/listfile/listfile-import.ts';

const pieceBytes = 1 << 20;

/**
 * Takes names of files into the store: `id;name` lines, or plain names. A new name of an id takes the place of the old; other names stay.
 * @param list path of the list, or its bytes
 * Lines that are no rows are passed over and told.
 * @throws E_FORMAT, E_NOT_FOUND, E_STORE…, E_ABORTED
 */
export async function importListfile(
  session: Session,
  list: string | AsyncIterable<Uint8Array>,
  { signal, onProgress }: WorkOptions = {},
): Promise<ListfileChange> {
  const { layout } = await session.store({ create: true });
  const { threads, workerUrl } = session.options;
  const pieces = typeof list === 'string' ? piecesOf(list) : list;
  const size = (typeof list === 'string' && statSync(list, { throwIfNoEntry: false })?.size) || 0;
  const onStep = stepping(onProgress);
  const change = await importInto(layout, counted(pieces, size, onProgress), { signal, threads, workerUrl, onStep });
  tellBadLines(change, onProgress);
  return change;
}

/** The pieces; it tells how many bytes they have so far, of all (0: nobody knows). */
async function* counted(
  pieces: AsyncIterable<Uint8Array>,
  total: number,
  onProgress: OnProgress | undefined,
): AsyncGenerator<Uint8Array> {
  let done = 0;
  for await (const piece of pieces) {
    yield piece;
    done += piece.length;
    onProgress?.({ type: 'bytes', phase: 'names', done, total });
  }
}

/** A file, which may be a pipe, in pieces that each hold until the next is asked for: memory for each would wait to be collected. One is read ahead. */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  if (isPipe(path)) return yield* givenPieces(path);
  const tell = (error: unknown): never =>
    reading(path, () => {
      throw error;
    });
  const file = await open(path, 'r').catch(tell);
  const read = (memory: Buffer): Promise<Uint8Array> => {
    const piece = file
      .read(memory, 0, memory.length, null)
      .then(({ bytesRead }) => memory.subarray(0, bytesRead), tell);
    // It may fail before it is asked for.
    piece.catch(() => {});
    return piece;
  };
  let [memory, other] = [Buffer.allocUnsafe(pieceBytes), Buffer.allocUnsafe(pieceBytes)];
  let next = read(memory);
  try {
    for (let piece = await next; piece.length > 0; piece = await next) {
      [memory, other] = [other, memory];
      next = read(memory);
      yield piece;
    }
  } finally {
    // Whoever stops has no use for it.
    await next.catch(() => {});
    await file.close();
  }
}
