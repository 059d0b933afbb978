import type { Listing, SourceEntry } from '../../app/list.ts';
import { padText, printable } from '../terminal/text.ts';
import { writeEach } from '../terminal/write-each.ts';

const sizeWidth = 12;
const methodWidth = 9;
const timeWidth = 16;

/** A row of `ls --json`: name, size, and what the source knows beside. */
export function listRow({ name, size, facts }: SourceEntry): Record<string, unknown> {
  return { name, size: size ?? null, ...facts };
}

/** Writes a line for each file: its size, its name, and what a reader should know of it. Lists of millions are written as they come. */
export function writeList(stream: NodeJS.WritableStream, entries: Listing<SourceEntry>): Promise<void> {
  return writeEach(
    stream,
    entries,
    ({ name, size, note }) => `${sizeText(size)}  ${printable(name)}${noteText(note)}\n`,
  );
}

/** As {@link writeList}, with number, stored size, method, time and origin. */
export function writeLongList(stream: NodeJS.WritableStream, entries: Listing<SourceEntry>): Promise<void> {
  return writeEach(stream, entries, ({ index, name, size, mtime, origin, note, facts }) => {
    const method = `${String(facts.method ?? '')}${facts.encrypted === true ? ' enc' : ''}`;
    const time = mtime?.toISOString().slice(0, 16).replace('T', ' ') ?? '';
    const columns = [
      String(index ?? '').padStart(7),
      sizeText(size),
      sizeText(facts.storedSize as number | undefined),
      padText(method, methodWidth),
      padText(time, timeWidth),
      printable(name),
    ];
    const from = origin === undefined ? '' : `  [${printable(origin)}]`;
    return `${columns.join('  ')}${from}${noteText(note)}\n`;
  });
}

function sizeText(size: number | undefined): string {
  return String(size ?? '?').padStart(sizeWidth);
}

function noteText(note: string | undefined): string {
  return note === undefined ? '' : `  (${printable(note)})`;
}
