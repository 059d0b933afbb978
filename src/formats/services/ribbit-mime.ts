// The answer of a version service of the first kind (Ribbit v1): MIME with CRLF lines.
//
//   MIME-Version: 1.0
//   Content-Type: multipart/alternative; boundary="2f2fda3d…"
//
//   --2f2fda3d…
//   Content-Type: text/plain
//   Content-Disposition: versions          what it is
//
//   Region!STRING:0|…                      the table
//   --2f2fda3d…
//   Content-Type: application/octet-stream
//   Content-Disposition: signature         over the part before; not looked at
//
//   …
//   --2f2fda3d…--
//   Checksum: 4b1cf2ab…                    SHA-256, hex, of every byte before this line
//
// Known from wowdev.wiki (Ribbit); that the checksum is SHA-256, and not MD5, from two readers that check it.

import { concatBytes, toHex } from '../../core/bytes.ts';
import { formatError, PakratError } from '../../core/errors.ts';
import { sha256 } from '../../core/hash.ts';
import type { Format } from '../format.ts';
import { headLines } from '../text-lines.ts';

/** The table inside an answer. */
export interface RibbitAnswer {
  /** The bytes of the table; a view of the answer. */
  readonly data: Uint8Array;
  /** The kind of table: versions, cdns, summary, … Empty when the answer does not say. */
  readonly disposition: string;
  /** All that stands before and behind the table of an answer that was read, up to the checksum: headers, disposition and signature among it. */
  readonly envelope?: { readonly before: Uint8Array; readonly behind: Uint8Array };
}

const format = 'Ribbit answer';

/** Told by its first header. */
export const ribbitFormat: Format = {
  name: format,
  matches: (head) => /^MIME-Version:/i.test(headLines(head)[0] ?? ''),
};

const utf8 = new TextEncoder();
const latin1Decoder = new TextDecoder('latin1');
const checksumLine = /\r?\nChecksum: ([0-9a-fA-F]{64})\r?\n?$/;

/**
 * Takes the table out of an answer, after checking the checksum.
 * @throws E_FORMAT when it is no such answer or was cut off, E_INTEGRITY when the checksum is another
 */
export function decodeRibbit(bytes: Uint8Array): RibbitAnswer {
  // One character per byte: offsets in the text are offsets in the bytes.
  const text = latin1Decoder.decode(bytes);
  const end = checkChecksum(bytes, text);
  const headEnd = bodyStart(text);
  const boundary = /\bboundary="?([^"\r\n;]{1,200})/i.exec(text.slice(0, headEnd))?.[1];
  if (boundary === undefined) throw formatError('E_FORMAT', format, 'no MIME boundary');
  let start = text.indexOf(`--${boundary}`, headEnd);
  while (start >= 0) {
    const partEnd = text.indexOf(`\n--${boundary}`, start);
    if (partEnd < 0) break;
    const part = text.slice(start, partEnd).replace(/\r$/, '');
    const body = bodyStart(part);
    const disposition = /^Content-Disposition:[ \t]*([^\r\n;]*)/im.exec(part.slice(0, body))?.[1]?.trim() ?? '';
    if (disposition !== 'signature') {
      const [from, to] = [start + body, start + part.length];
      const envelope = { before: bytes.subarray(0, from), behind: bytes.subarray(to, end) };
      return { data: bytes.subarray(from, to), disposition, envelope };
    }
    start = partEnd + 1;
  }
  throw formatError('E_FORMAT', format, 'no part with a table');
}

/** Offset of the line of the checksum, which is checked. */
function checkChecksum(bytes: Uint8Array, text: string): number {
  // The last line, looked for near the end only.
  const tailStart = Math.max(0, text.length - 100);
  const match = checksumLine.exec(text.slice(tailStart));
  if (match === null) throw formatError('E_FORMAT', format, 'no checksum at the end; it may be cut off');
  const [line, digits = ''] = match;
  const lineBreak = line.startsWith('\r') ? 2 : 1;
  const start = tailStart + match.index + lineBreak;
  const found = toHex(sha256(bytes.subarray(0, start)));
  const expected = digits.toLowerCase();
  if (found === expected) return start;
  throw new PakratError('E_INTEGRITY', `${format}: its checksum does not match`, { data: { expected, found } });
}

/** Offset of the body of a message or part: behind the first blank line. */
function bodyStart(text: string): number {
  const match = /\r?\n\r?\n/.exec(text);
  if (match === null) throw formatError('E_FORMAT', format, 'headers without end');
  return match.index + match[0].length;
}

/** Wraps a table as such an answer, with the envelope it came in, else with an empty signature. */
export function encodeRibbit(answer: RibbitAnswer): Uint8Array {
  const { before, behind } = answer.envelope ?? makeEnvelope(answer);
  const message = concatBytes([before, answer.data, behind]);
  return concatBytes([message, utf8.encode(`Checksum: ${toHex(sha256(message))}\r\n`)]);
}

function makeEnvelope({ data, disposition }: RibbitAnswer): { before: Uint8Array; behind: Uint8Array } {
  const boundary = toHex(sha256(data)).slice(0, 32);
  const before = [
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain',
    `Content-Disposition: ${disposition}`,
    '',
    '',
  ].join('\r\n');
  const behind = [
    '',
    `--${boundary}`,
    'Content-Type: application/octet-stream',
    'Content-Disposition: signature',
    'Content-Transfer-Encoding: base64',
    '',
    '',
    `--${boundary}--`,
    '',
  ].join('\r\n');
  return { before: utf8.encode(before), behind: utf8.encode(behind) };
}
