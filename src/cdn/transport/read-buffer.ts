import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
// The part alone, as the agent in http.ts.
import makeConnector from 'undici/lib/core/connect.js';
import { openTunnel, type Proxies } from './proxies.ts';

/** Bytes of a read, and of a piece at most. Twice and four times as many are no faster: they leave the processor's cache on their way. */
export const readBytes = 64 * 1024;

/**
 * Makes connections that read into one buffer, each piece after the one before was taken. Else node makes a new buffer for every piece:
 * to make and to collect them is a tenth of the work of a fast transfer.
 * @param options as undici's own connector takes them
 * @param proxies through which hosts are reached that are asked by https
 */
export function bufferedConnector(
  options: buildConnector.BuildOptions & { timeout: number },
  proxies: Proxies,
): buildConnector.connector {
  const buffer = Buffer.allocUnsafeSlow(readBytes);
  // A connector remembers TLS sessions, but each connection needs one of its own, for its callback.
  const sessions = new Map<string, Buffer>();
  // What comes through a tunnel is read from the socket below, into memory of its own.
  const secure = makeConnector(options);
  return (target, callback) => {
    const origin = `${target.hostname}:${target.port}`;
    const proxy = target.protocol === 'https:' ? proxies.of(target) : undefined;
    if (proxy !== undefined) {
      openTunnel(proxy, target, options.timeout).then(
        (httpSocket) => secure({ ...target, httpSocket }, callback),
        (error: Error) => callback(error, null),
      );
      return;
    }
    // Until the connection stands nothing is taken: what a host sends before it was asked is not worth a crash.
    let deliver = (_piece: Buffer): boolean => false;
    // The net module's way to read into memory that it is given. What the callback gives back says whether to go on reading.
    const onread = { buffer, callback: (size: number): boolean => deliver(buffer.subarray(0, size)) };
    const connect = makeConnector({ ...options, onread, session: sessions.get(origin) });
    connect(target, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      deliver = deliveryTo(socket);
      socket.on('session', (session: Buffer) => void sessions.set(origin, session));
      callback(null, socket);
    });
  };
}

/**
 * Brings a piece to undici's parser, which takes what `read` gives it whenever the socket says that it is readable. The rest that it leaves
 * when it is paused waits in the socket, as a copy.
 */
function deliveryTo(socket: Socket): (piece: Buffer) => boolean {
  const read = socket.read.bind(socket);
  const unshift = socket.unshift.bind(socket);
  let piece: Buffer | undefined;
  let isDelivering = false;
  socket.read = (size) => {
    const taken = piece;
    piece = undefined;
    return taken ?? (isDelivering ? null : read(size));
  };
  socket.unshift = (rest: Buffer) => unshift(Buffer.from(rest));
  return (arrived) => {
    piece = arrived;
    if (socket.readableLength === 0) {
      isDelivering = true;
      socket.emit('readable');
      isDelivering = false;
    }
    if (piece !== undefined) socket.push(Buffer.from(piece));
    piece = undefined;
    return socket.readableLength === 0;
  };
}
