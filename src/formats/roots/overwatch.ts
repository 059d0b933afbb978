// A root that is a table with named columns. Overwatch (products pro…); other products have had it too.
//
//   #FILEID|MD5|CHUNK_ID|PRIORITY|MPRIORITY|FILENAME|INSTALLPATH       the first line; older ones have fewer columns
//   1|0123…|0|1|1|RetailClient/Overwatch.exe|Overwatch.exe             a line a file, with a value for each column
//
// Columns are found by their names: FILENAME and MD5 (the ckey, in hex) must be there. Lines end with LF or CR LF, nothing is quoted.
// It lists the programs and the manifests (TactManifest/Win_SPWin_RDEV_LenUS_EExt.apm); the assets behind those have no names at all.
// Known from what other readers take; no real one was at hand.

import { isKeyHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import type { Format } from '../format.ts';
import { headLines, joinText, lineNumber, plainFrame, quoteLine, splitText, type TextFrame } from '../text-lines.ts';

const format = 'Overwatch root';
const maxLine = 4096;
const maxColumns = 31;
const usualFrame: TextFrame = { ...plainFrame, lead: '#' };

/** A line of the table. */
export interface OverwatchFile {
  /** FILENAME, as written. */
  readonly name: string;
  /** Lower-case hex. */
  readonly ckey: string;
  /** A value for each column. */
  readonly values: readonly string[];
}

/** A table to write. */
export interface OverwatchRootContent {
  readonly columns: readonly string[];
  readonly files: readonly Pick<OverwatchFile, 'values'>[];
  /** The line ends and blank lines of a table that was read. Default: LF, and a `#` in front. */
  readonly frame?: TextFrame;
}

/** A decoded table. */
export interface OverwatchRoot extends OverwatchRootContent {
  readonly files: readonly OverwatchFile[];
}

/** Told by its first line, which names the columns. */
export const overwatchRootFormat: Format = {
  name: format,
  matches(head) {
    const columns = readColumns(headLines(head)[0] ?? '');
    return columns.includes('FILENAME') && columns.includes('MD5');
  },
};

function readColumns(line: string): string[] {
  return line.replace(/^#/, '').split('|');
}

/**
 * Reads a table.
 * @throws E_FORMAT, with the number of the line, for one that has not a value for each column, or no name or key; E_FORMAT_RANGE for too much
 */
export function decodeOverwatchRoot(bytes: Uint8Array): OverwatchRoot {
  const { lines, frame } = splitText(bytes, format, { passesOver: (line) => line === '', lead: /^\ufeff?#?/ });
  const [first = '', ...rows] = lines;
  const columns = readColumns(first);
  const nameAt = columns.indexOf('FILENAME');
  const keyAt = columns.indexOf('MD5');
  if (nameAt < 0 || keyAt < 0) {
    const facts = { expected: 'FILENAME and MD5', found: quoteLine(first) };
    throw formatError('E_FORMAT', format, 'columns are missing', facts);
  }
  if (columns.length > maxColumns) {
    throw formatError('E_FORMAT_RANGE', format, `more than ${maxColumns} columns`, { found: columns.length });
  }
  const files = rows.map((line, i): OverwatchFile => {
    const values = line.length > maxLine ? [] : line.split('|');
    const [name, ckey] = [values[nameAt] ?? '', values[keyAt] ?? ''];
    if (values.length !== columns.length || name === '' || !isKeyHex(ckey)) {
      const facts = { expected: columns.join('|'), found: quoteLine(line) };
      throw formatError('E_FORMAT', format, `line ${lineNumber(frame, i + 1)} is no file`, facts);
    }
    return { name, ckey: ckey.toLowerCase(), values };
  });
  return { columns, files, frame };
}

/** Writes a table. Throws E_FORMAT_RANGE for values that fit into no line, or are not as many as the columns. */
export function encodeOverwatchRoot({ columns, files, frame = usualFrame }: OverwatchRootContent): Uint8Array {
  const lines = [columns, ...files.map(({ values }) => values)].map((values, i) => {
    const line = values.join('|');
    const isWhole = values.every((value) => !/[|\r\n\0]/.test(value));
    if (values.length === columns.length && isWhole && line.length < maxLine) return line;
    throw formatError('E_FORMAT_RANGE', format, `line ${i + 1} cannot be written`, { found: quoteLine(line) });
  });
  return joinText(lines, frame);
}
