import type { Socket } from 'node:net';
import type { Limits } from './limits.ts';

/** The connections of a server, on all of its ports. Needs `close`. */
export interface Connections {
  readonly count: number;
  /** Takes in a connection; false when there is no room, and it was closed. */
  add(socket: Socket): boolean;
  /** A request has come on it: it is not closed to make room. */
  setBusy(socket: Socket): void;
  /** Its answer has ended. */
  setIdle(socket: Socket): void;
  isBusy(socket: Socket): boolean;
  /** Closes connections that wait, and each of the others when its answer has ended; cuts what is left after `graceMs`. */
  close(graceMs: number): void;
}

/** How far a peer was with taking its answer. */
interface Taken {
  bytes: number;
  at: number;
}

/** Watches connections: there is always room for one more while some are idle, and who takes nothing of its answer is cut. */
export function watchConnections({ connections: most, slowMs }: Limits): Connections {
  const all = new Map<Socket, Taken>();
  /** Those that wait for a request, the longest first. */
  const idle = new Set<Socket>();
  let isClosing = false;
  const cutSlow = (): void => {
    const now = performance.now();
    for (const [socket, taken] of all) {
      const bytes = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || bytes > taken.bytes) Object.assign(taken, { bytes, at: now });
      else if (now - taken.at >= slowMs) socket.destroy();
    }
  };
  const watch = setInterval(cutSlow, Math.max(10, slowMs / 10)).unref();
  return {
    get count() {
      return all.size;
    },
    add(socket) {
      // Whatever a peer does to its connection is its own trouble.
      socket.on('error', () => socket.destroy());
      if (all.size >= most) {
        const [longest] = idle;
        (longest ?? socket).destroy();
        if (longest === undefined) return false;
        all.delete(longest);
        idle.delete(longest);
      }
      all.set(socket, { bytes: 0, at: performance.now() });
      idle.add(socket);
      socket.once('close', () => {
        all.delete(socket);
        idle.delete(socket);
      });
      return true;
    },
    setBusy: (socket) => void idle.delete(socket),
    setIdle(socket) {
      if (isClosing) socket.end();
      else if (all.has(socket)) idle.add(socket);
    },
    isBusy: (socket) => all.has(socket) && !idle.has(socket),
    close(graceMs) {
      isClosing = true;
      clearInterval(watch);
      for (const socket of idle) socket.destroy();
      setTimeout(() => {
        for (const socket of all.keys()) socket.destroy();
      }, graceMs).unref();
    },
  };
}
