import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { isDiskBroken } from '../../core/errors.ts';
import type { Store } from '../../store/store.ts';
import type { ByteRange } from '../static-server.ts';
import { type HeldBytes, heldUntil, readHeld } from './read-held.ts';

/** Bytes that are read and sent at once. */
const pieceBytes = 256 * 1024;
/** Buffers that are kept for the next answer. */
const mostIdle = 64;
const idle: Buffer[] = [];

/** The bytes of an object that are to be sent, and the means to get them. */
export interface Sending {
  store: Store;
  path: string;
  range: ByteRange;
  /** The end to which the object is held from the start of the range on. */
  until: number;
  /**
   * Waits until more than the bytes before `at` are held.
   * @param isUnread they were held, and could not be read
   * @returns false when these bytes cannot be had
   */
  wait: (at: number, isUnread: boolean) => Promise<boolean>;
  /** Told how far it has come. */
  goOn?: ((at: number) => Promise<void>) | undefined;
}

/**
 * Sends held bytes of an object. The head goes out with the first of them, so that what cannot be had is told by its status; what is lost behind
 * that ends the connection.
 * @param sendHead writes the head
 * @returns false when the first byte cannot be had: nothing was sent
 */
export async function sendBytes(response: ServerResponse, sending: Sending, sendHead: () => void): Promise<boolean> {
  const { start, end } = sending.range;
  const buffer = takeBuffer();
  const { size, until } = await readNext(sending, start, buffer);
  if (size > 0) await endOfTurn();
  if (size === 0 || response.destroyed) {
    giveBack(buffer);
    return response.destroyed;
  }
  sendHead();
  // Most ranges that readers ask for are one piece, for whose end nobody waits.
  const piece = buffer.subarray(0, size);
  if (size === end - start) response.on('error', ignore).end(piece, () => giveBack(piece));
  else await sendPieces(response, { ...sending, until }, piece);
  return true;
}

/**
 * Answers that are ready go out together, when all that was asked is looked at. To wake a client that waits costs more than all else of a small
 * range, and one that is awake already takes the next answer as well.
 */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Sends the first piece, which was read, and all that follow: one is read while the one before it goes out. */
async function sendPieces(response: ServerResponse, sending: Sending, first: Buffer): Promise<void> {
  const { start, end } = sending.range;
  const closed = once(response, 'close').then(() => {});
  closed.catch(() => {});
  // A connection that is gone may never call back.
  const send = (piece: Buffer, isLast = false): Promise<void> =>
    Promise.race([write(response, piece, isLast).then(() => giveBack(piece)), closed]);
  let { until } = sending;
  let sent = send(first);
  for (let at = start + first.length; at < end; ) {
    const buffer = takeBuffer();
    const read = response.destroyed ? { size: 0, until } : await readNext({ ...sending, until }, at, buffer);
    until = read.until;
    await sent;
    if (read.size === 0 || response.destroyed) {
      response.destroy();
      return;
    }
    at += read.size;
    sent = send(buffer.subarray(0, read.size), at === end);
  }
  await sent;
}

/** Whatever a peer does to its connection ends the answer, and nothing else. */
function ignore(): void {}

async function readNext(
  { store, path, range, until, wait, goOn }: Sending,
  at: number,
  buffer: Buffer,
): Promise<HeldBytes> {
  await goOn?.(at);
  const into = buffer.subarray(0, Math.min(pieceBytes, range.end - at));
  for (let known = until; ; known = heldUntil(store, path, at)) {
    let broken: unknown;
    try {
      const read = await readHeld(store, path, { at, until: known, into });
      if (read.size > 0) return read;
    } catch (error) {
      if (!isDiskBroken(error)) throw error;
      broken = error;
    }
    if (await wait(at, known > at)) continue;
    // Of what can be had nowhere else it is told why.
    if (broken !== undefined) throw broken;
    return { size: 0, until: known };
  }
}

/** Resolves when the bytes are with the system. */
function write(response: ServerResponse, piece: Buffer, isLast: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (isLast) response.end(piece, resolve);
    else response.write(piece, () => resolve());
  });
}

function takeBuffer(): Buffer {
  return idle.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
}

/** A piece lies in memory of its own, all of which is good for the next. */
function giveBack(piece: Buffer): void {
  if (idle.length < mostIdle) idle.push(Buffer.from(piece.buffer));
}
