import { crc32 } from 'node:zlib';
import { resultUnless } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';

/*
 * The lines of history.jsonl, each a JSON object with `type` first, then what the type has (docs/store.md), and `crc` last: the CRC-32 of the
 * line without it. One that is torn or damaged is passed over.
 */

/** A line that was read: its type, and the rest as it stands. */
export type HistoryLine = { type: string } & Readonly<Record<string, unknown>>;

/** The text of a line without its checksum. Bytes that are UTF-8 become text, others go to `…Base64`. */
export function historyText(type: string, ...pairs: readonly unknown[]): string {
  const line: Record<string, unknown> = { type };
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const [name, value] = [String(pairs[i]), pairs[i + 1]];
    if (!Buffer.isBuffer(value)) line[name] = value;
    else if (Buffer.from(value.toString()).equals(value)) line[name] = value.toString();
    else line[`${name}Base64`] = value.toString('base64');
  }
  return JSON.stringify(line);
}

/** A line as it stands in the file, with the line break behind it. */
export function sealLine(text: string): string {
  return `${text.slice(0, -1)},"crc":"${checksum(text)}"}\n`;
}

/** The line that stands in a file; undefined when it is damaged. */
export function openLine(text: string): HistoryLine | undefined {
  const [, head, crc] = /^(\{.*),"crc":"([0-9a-f]{8})"\}$/s.exec(text) ?? [];
  if (head === undefined || checksum(`${head}}`) !== crc) return undefined;
  const line = resultUnless(
    () => true,
    () => JSON.parse(`${head}}`) as HistoryLine,
  );
  return typeof line?.type === 'string' ? line : undefined;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/** The bytes of a field that {@link historyText} was given. */
export function bytesOf(line: HistoryLine, name: string): Buffer {
  const [text, base64] = [line[name], line[`${name}Base64`]];
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : Buffer.from(String(text));
}

/** What a line says lasts: the same for lines that say the same at different times. */
export function lastingKey(line: HistoryLine): string {
  const { type, product, endpoint, buildConfig, selection } = line;
  if (type === 'answer') return JSON.stringify([type, product, endpoint, md5Hex(bytesOf(line, 'body'))]);
  if (type === 'selection') return JSON.stringify([type, product, buildConfig, selection]);
  if (type !== 'build') return JSON.stringify([type, product, buildConfig]);
  const { time: _, ...identity } = line;
  return JSON.stringify(identity);
}
