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
import type { Format } from '../format.ts';
import { headLines, joinText, lineNumber, plainFrame, quoteLine, splitText, type TextFrame } from '../text-lines.ts';
import { findLocaleFlag } from './locale.ts';

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

/** A text root, and the form that its lines have. */
export interface TextRoot {
  readonly rows: readonly TextRootRow[];
  /** Columns that every line has, 2 to 4, though they be empty. Default 2; a line has more where its row needs them. */
  readonly columns?: number;
  /** Whether locales stand behind the path, as in the older form. Default: in the third column. */
  readonly localeIsBehindPath?: boolean;
  /** The line ends and blank lines of a root that was read. */
  readonly frame?: TextFrame;
}

/** Told by its first line. */
export const textRootFormat: Format = {
  name: format,
  matches(head) {
    const [path = '', ckey = '', ...others] = headLines(head)[0]?.split('|') ?? [];
    return path !== '' && isKeyHex(ckey) && others.length <= 2;
  },
};

/**
 * Reads a text root.
 * @throws E_FORMAT, with the number of the line, for one that does not have 2 to 4 columns, a path and a ckey; E_FORMAT_RANGE for an endless one
 */
export function decodeTextRoot(bytes: Uint8Array): TextRoot {
  const { lines, frame } = splitText(bytes, format, { passesOver: (line) => line === '', lead: /^\ufeff?#?/ });
  let columns = lines.length === 0 ? 2 : 4;
  let localeIsBehindPath = false;
  const rows = lines.map((line, i): TextRootRow => {
    if (line.length > maxLine) throw formatError('E_FORMAT_RANGE', format, `line ${lineNumber(frame, i)} is too long`);
    const cells = line.split('|');
    const [first = '', ckey = '', third = '', flags] = cells;
    if (cells.length > 4 || !isKeyHex(ckey) || first === '') {
      const facts = { expected: 'path|ckey|locale', found: quoteLine(line) };
      throw formatError('E_FORMAT', format, `line ${lineNumber(frame, i)} is no file`, facts);
    }
    const [path, suffix] = splitLocale(first);
    const locale = third === '' ? suffix : third;
    columns = Math.min(columns, cells.length);
    if (suffix !== undefined) localeIsBehindPath = true;
    return {
      path,
      ckey: ckey.toLowerCase(),
      ...(locale !== undefined && { locale }),
      ...(flags !== undefined && { flags }),
    };
  });
  return { rows, columns, localeIsBehindPath, frame };
}

/** `path:enUS` is a path and its locale; behind any other colon is a path inside an archive. */
function splitLocale(text: string): [path: string, locale: string | undefined] {
  const colon = text.lastIndexOf(':');
  const locale = text.slice(colon + 1);
  return colon > 0 && findLocaleFlag(locale) !== undefined ? [text.slice(0, colon), locale] : [text, undefined];
}

/**
 * Writes a text root. Keys are written in lower case; a root whose lines are not of one form is written in one.
 * @throws E_FORMAT_RANGE for what no line can hold: an empty path, a column with `|`, a line end or a NUL
 */
export function encodeTextRoot(root: TextRoot): Uint8Array {
  const { rows, columns = 2, localeIsBehindPath = false, frame = plainFrame } = root;
  const lines = rows.map((row, i) => {
    const cells = cellsOf(localeIsBehindPath ? withLocale(row) : row, columns);
    const line = cells.join('|');
    const isPassedOver = i === 0 && /^[#\ufeff]/.test(row.path);
    const isWhole = cells.every((cell) => !/[|\r\n\0]/.test(cell));
    const isRead = row.path !== '' && splitLocale(row.path)[1] === undefined && isKeyHex(row.ckey);
    if (isWhole && isRead && !isPassedOver && line.length <= maxLine) return line;
    throw formatError('E_FORMAT_RANGE', format, `row ${i + 1} does not fit into a line`, { found: quoteLine(line) });
  });
  return joinText(lines, frame);
}

/** The row with its locale behind its path, where it can be told there. */
function withLocale(row: TextRootRow): TextRootRow {
  const { locale, ...others } = row;
  if (locale === undefined || findLocaleFlag(locale) === undefined) return row;
  return { ...others, path: `${row.path}:${locale}` };
}

function cellsOf({ path, ckey, locale, flags }: TextRootRow, columns: number): string[] {
  const needed = flags !== undefined ? 4 : locale !== undefined ? 3 : 2;
  return [path, ckey, locale ?? '', flags ?? ''].slice(0, Math.max(columns, needed));
}
