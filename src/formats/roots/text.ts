// A root that is a text: a line a file. StarCraft Remastered (products s1…), Warcraft III 1.30 (w3…), whatever else has a list of this shape.
//
//   path|ckey                                   StarCraft Remastered: HD2/…, locales/enUS/Assets/…
//   path:locale|ckey                            an older form of it
//   path|ckey|locale                            Warcraft III 1.30; the locale may be empty: for all
//   path|ckey|locale|flags                      the fourth column is not known, and kept as it is
//
// Lines end with LF or CR LF, blank ones do not count, nothing is quoted or trimmed. A `#` as the very first character is passed over.
// A path has `/` or `\`; in Warcraft III a `:` where it goes into an archive (war3.mpq:units\unitdata.slk).
//
// Known from what other readers take, and checked on generated trees; no real one was at hand.

import { isKeyHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { ByteWriter } from '../../core/writer.ts';
import { quoteLine, textLines } from '../text-lines.ts';
import { knownLocaleFlag } from './known-locale.ts';

const format = 'text root';
/** Longest line in characters; paths of real roots have up to 200. */
const maxLine = 4096;

/** A line of the root. */
export interface TextRootRow {
  /** As written, without the locale of the older form. */
  readonly path: string;
  /** Lower-case hex. */
  readonly ckey: string;
  /** As written; undefined for all. */
  readonly locale?: string;
  /** The fourth column. */
  readonly flags?: string;
}

/** True when the first line is one of this format. @param head the first bytes of the root; some thousand are enough */
export function isTextRoot(head: Uint8Array): boolean {
  const end = head.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  const line = head.subarray(0, end < 0 ? head.length : end);
  if (line.length > maxLine || line.includes(0)) return false;
  const columns = new TextDecoder().decode(line).split('|');
  return columns.length >= 2 && columns.length <= 4 && columns[0] !== '' && isKeyHex(columns[1]!);
}

/**
 * Reads a text root.
 * @throws E_FORMAT, with the number of the line, for one that does not have 2 to 4 columns, a path and a ckey; E_FORMAT_RANGE for an endless one
 */
export function decodeTextRoot(bytes: Uint8Array): TextRootRow[] {
  const rows: TextRootRow[] = [];
  for (const [i, line] of textLines(bytes, format).entries()) {
    const text = i === 0 && line.startsWith('#') ? line.slice(1) : line;
    if (text !== '') rows.push(decodeLine(text, i + 1));
  }
  return rows;
}

function decodeLine(line: string, number: number): TextRootRow {
  if (line.length > maxLine) throw formatError('E_FORMAT_RANGE', format, `line ${number} is too long`);
  const columns = line.split('|');
  const [first = '', ckey = '', third = '', flags] = columns;
  if (columns.length > 4 || !isKeyHex(ckey) || first === '') {
    throw formatError('E_FORMAT', format, `line ${number} is no file`, {
      expected: 'path|ckey|locale',
      found: quoteLine(line),
    });
  }
  const [path, suffix] = splitLocale(first);
  const locale = third === '' ? suffix : third;
  return {
    path,
    ckey: ckey.toLowerCase(),
    ...(locale !== undefined && { locale }),
    ...(flags !== undefined && { flags }),
  };
}

/** `path:enUS` is a path and its locale; behind any other colon is a path inside an archive. */
function splitLocale(text: string): [path: string, locale: string | undefined] {
  const colon = text.lastIndexOf(':');
  const locale = text.slice(colon + 1);
  return colon > 0 && knownLocaleFlag(locale) !== undefined ? [text.slice(0, colon), locale] : [text, undefined];
}

/**
 * Writes a text root; locales go into the third column.
 * @throws E_FORMAT_RANGE for what no line can hold: an empty path, a column with `|`, a line end or a NUL
 */
export function encodeTextRoot(rows: Iterable<TextRootRow>): Uint8Array {
  const writer = new ByteWriter(64 * 1024);
  let number = 0;
  for (const { path, ckey, locale, flags } of rows) {
    number++;
    const columns = [path, ckey, ...(locale === undefined && flags === undefined ? [] : [locale ?? '']), flags];
    const line = columns.filter((column) => column !== undefined).join('|');
    const whole = columns.every((column) => column === undefined || !/[|\r\n\0]/.test(column));
    const passedOver = number === 1 && /^[#\ufeff]/.test(path);
    if (
      path === '' ||
      passedOver ||
      !whole ||
      splitLocale(path)[1] !== undefined ||
      !isKeyHex(ckey) ||
      line.length > maxLine
    ) {
      throw formatError('E_FORMAT_RANGE', format, `row ${number} does not fit into a line`, { found: quoteLine(line) });
    }
    writer.text(`${line}\n`);
  }
  return writer.bytes();
}
