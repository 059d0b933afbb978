import { formatError } from '../core/errors.ts';

const utf8Decoder = new TextDecoder('utf-8');

/**
 * The lines of a text object: UTF-8, LF or CRLF, a byte order mark tolerated.
 * @param what name of the format, for messages
 * @throws E_FORMAT when there is a NUL in it: then it is no text
 */
export function textLines(bytes: Uint8Array, what: string): string[] {
  const nulOffset = bytes.indexOf(0);
  if (nulOffset >= 0) throw formatError('E_FORMAT', what, 'binary data where text should be', { offset: nulOffset });
  return utf8Decoder.decode(bytes).split(/\r?\n/);
}

/** A line as it may stand in a message: quoted, and not longer than a glance. */
export function quoteLine(line: string): string {
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}…` : line);
}
