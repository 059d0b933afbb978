import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { messageOf, PakratError } from '../../core/errors.ts';

/** A log that lines are added to. Needs `close`. */
export interface LogFile {
  write(line: string): void;
  close(): Promise<void>;
}

/** Bytes that may wait to be written: a disk that stands still costs lines, not memory. */
const mostWaiting = 4 << 20;

/**
 * Opens a file to add lines to it; `-` is standard output.
 * @param onTrouble told once when lines cannot be written
 * @throws E_USAGE for a file that cannot be opened
 */
export async function openLogFile(path: string, onTrouble: (text: string) => void): Promise<LogFile> {
  if (path === '-') {
    return { write: (line) => void process.stdout.write(`${line}\n`), close: async () => {} };
  }
  const stream = createWriteStream(path, { flags: 'a' });
  try {
    await once(stream, 'open');
  } catch (error) {
    throw new PakratError('E_USAGE', `cannot write the log ${path}: ${messageOf(error)}`, { cause: error });
  }
  let isTold = false;
  const tell = (problem: string): void => {
    if (!isTold) onTrouble(`lines are missing in the log ${path}: ${problem}`);
    isTold = true;
  };
  stream.on('error', (error) => tell(messageOf(error)));
  return {
    write(line) {
      if (stream.destroyed || stream.writableLength > mostWaiting) tell('they cannot be written as fast as they come');
      else stream.write(`${line}\n`);
    },
    async close() {
      if (stream.destroyed) return;
      await new Promise<void>((resolve) => {
        stream.once('close', resolve).end();
      });
    },
  };
}
