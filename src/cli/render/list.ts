import { once } from 'node:events';
import type { SourceEntry } from '../../sources/source.ts';
import { printable } from './text.ts';

const sizeWidth = 12;

/** Rows of `ls --json`: name, size, and what the source knows beside. */
export async function* listRow(entries: AsyncIterable<SourceEntry>): AsyncGenerator<Record<string, unknown>> {
  for await (const { name, size, facts } of entries) yield { name, size: size ?? null, ...facts };
}

/** Writes a line for each file: its size and its name. Lists of millions are written as they come. */
export async function writeList(stream: NodeJS.WritableStream, entries: AsyncIterable<SourceEntry>): Promise<void> {
  let text = '';
  for await (const { name, size } of entries) {
    text += `${String(size ?? '?').padStart(sizeWidth)}  ${printable(name)}\n`;
    if (text.length < 65_536) continue;
    if (!stream.write(text)) await once(stream, 'drain');
    text = '';
  }
  if (text !== '' && !stream.write(text)) await once(stream, 'drain');
}
