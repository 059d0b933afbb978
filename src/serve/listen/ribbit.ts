import type { Socket } from 'node:net';

/** A line of Ribbit is at most this long. */
const maxLine = 256;

/**
 * Tells Ribbit from HTTP by the first byte of a connection, which HTTP begins with the capital letter of a method, and hands the connection on with
 * that byte.
 * @param options.withinMs time for that byte to come
 */
export function tellProtocol(
  socket: Socket,
  { withinMs, onRibbit, onHttp }: { withinMs: number; onRibbit: () => void; onHttp: () => void },
): void {
  const timer = setTimeout(() => socket.destroy(), withinMs).unref();
  socket.once('close', () => clearTimeout(timer));
  const look = (): void => {
    const bytes = socket.read() as Buffer | null;
    if (bytes === null) {
      if (socket.readableEnded) socket.destroy();
      return;
    }
    clearTimeout(timer);
    socket.off('readable', look);
    socket.unshift(bytes);
    if (bytes[0] === 0x76) onRibbit();
    else onHttp();
  };
  socket.on('readable', look);
  socket.once('end', () => {
    if (socket.listeners('readable').includes(look)) socket.destroy();
  });
}

/** Reads a line of Ribbit, answers it, and closes the connection. Who sends none in time, or too long a one, is cut. */
export function answerRibbit(
  socket: Socket,
  {
    withinMs,
    answer,
  }: {
    withinMs: number;
    answer: (line: string) => Promise<Uint8Array | undefined>;
  },
): void {
  const cut = (): void => void socket.destroy();
  let timer = setTimeout(cut, withinMs).unref();
  socket.once('close', () => clearTimeout(timer));
  let text = '';
  const read = (piece: Buffer): void => {
    text += piece.toString('latin1');
    const end = text.indexOf('\n');
    if (end < 0 && text.length <= maxLine) return;
    socket.off('data', read).off('end', cut).resume();
    clearTimeout(timer);
    if (end < 0 || end > maxLine) {
      cut();
      return;
    }
    const line = text.slice(0, end).replace(/\r$/, '');
    answer(line).then((bytes) => {
      socket.end(bytes ?? '');
      // A peer that keeps its own half open does not keep the connection.
      timer = setTimeout(cut, withinMs).unref();
    }, cut);
  };
  socket.on('data', read).once('end', cut);
}
