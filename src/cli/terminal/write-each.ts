import { once } from 'node:events';
import type { Listing } from '../../app/list.ts';
import { breathe } from '../../core/breathe.ts';

/** Characters that are written at once. */
const pieceLength = 65_536;

/** Writes a text for each row, in pieces, as the stream takes them: for lists of millions. */
export async function writeEach<Row>(
  stream: NodeJS.WritableStream,
  rows: Listing<Row>,
  textOf: (row: Row) => string,
): Promise<void> {
  let text = '';
  const flush = async (): Promise<void> => {
    const whole = text;
    text = '';
    if (whole !== '') await write(stream, whole);
    await breathe();
  };
  if (Symbol.iterator in rows) {
    for (const row of rows) {
      text += textOf(row);
      if (text.length >= pieceLength) await flush();
    }
  } else {
    for await (const row of rows) {
      text += textOf(row);
      if (text.length >= pieceLength) await flush();
    }
  }
  await flush();
}

/** Writes a piece of a file to standard output, as fast as that takes it. */
export function writeToStdout(piece: Uint8Array): Promise<void> {
  return write(process.stdout, piece);
}

async function write(stream: NodeJS.WritableStream, piece: string | Uint8Array): Promise<void> {
  if (!stream.write(piece)) await once(stream, 'drain');
}
