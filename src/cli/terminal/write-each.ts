import { once } from 'node:events';
import type { Listing } from '../../app/list.ts';

/** So much text is written at once. */
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
    if (whole !== '' && !stream.write(whole)) await once(stream, 'drain');
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
