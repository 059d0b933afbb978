import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
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
   * @returns false when these bytes cannot be had
   */
  wait: (at: number) => Promise<boolean>;
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
  const { range } = sending;
  let { until } = sending;
  const closed = once(response, 'close').then(() => {});
  closed.catch(() => {});
  let sent: Promise<void> | undefined;
  for (let at = range.start; at < range.end; ) {
    const buffer = idle.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
    const read = response.destroyed ? { size: 0, until } : await readNext({ ...sending, until }, at, buffer);
    const { size } = read;
    until = read.until;
    await sent;
    if (size === 0 && at === range.start) return response.destroyed;
    if (size === 0 || response.destroyed) {
      response.destroy();
      return true;
    }
    const piece = buffer.subarray(0, size);
    if (at === range.start) sendHead();
    at += size;
    const written = write(response, piece, at === range.end).then(() => giveBack(buffer));
    // A connection that is gone may never call back.
    sent = Promise.race([written, closed]);
  }
  await sent;
  return true;
}

async function readNext(
  { store, path, range, until, wait, goOn }: Sending,
  at: number,
  buffer: Buffer,
): Promise<HeldBytes> {
  await goOn?.(at);
  const into = buffer.subarray(0, Math.min(pieceBytes, range.end - at));
  for (let known = until; ; known = heldUntil(store, path, at)) {
    const read = await readHeld(store, path, { at, until: known, into });
    if (read.size > 0 || !(await wait(at))) return read;
  }
}

/** Resolves when the bytes are with the system. */
function write(response: ServerResponse, piece: Buffer, isLast: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (isLast) response.end(piece, resolve);
    else response.write(piece, () => resolve());
  });
}

function giveBack(buffer: Buffer): void {
  if (idle.length < mostIdle) idle.push(buffer);
}
