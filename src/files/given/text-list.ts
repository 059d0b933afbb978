import { concatBytes } from '../../core/bytes.ts';
import { formatError, PakratError } from '../../core/errors.ts';
import { givenPieces } from './given-file.ts';

/*
 * A list that a person wrote: UTF-8 text, a row a line, fields with semicolons between them. Remarks (# text), blank lines and a byte order mark
 * are passed over.
 */

const maxListBytes = 256 * 1024 * 1024;

/** Reads a list from a file, or from pieces of one. @throws E_USAGE for one that is too large, E_NOT_FOUND */
export async function readList(list: string | AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of typeof list === 'string' ? givenPieces(list) : list) {
    pieces.push(piece);
    size += piece.length;
    if (size > maxListBytes) throw new PakratError('E_USAGE', `a list of more than ${maxListBytes} bytes is not read`);
  }
  return concatBytes(pieces);
}

/** Makes a row of what a line has; throws what `refused` makes of a problem. */
type RowOf<Cells, Row> = (cells: Cells, refused: (problem: string) => PakratError) => Row;

/** The rows of a list whose fields are separated by semicolons. @throws E_FORMAT that names the line which is none */
export function decodeList<Row>(bytes: Uint8Array, rowOf: RowOf<readonly string[], Row>): Row[] {
  return decodeLines(bytes, (line, refused) =>
    rowOf(
      line.split(';').map((field) => field.trim()),
      refused,
    ),
  );
}

/** The rows of a list, each made of a line without blanks around it. @param what the list for errors @throws E_FORMAT that names the line which is none */
export function decodeLines<Row>(bytes: Uint8Array, rowOf: RowOf<string, Row>, what = 'list'): Row[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw formatError('E_FORMAT', what, 'it is not UTF-8 text');
  }
  return text.split(/\r?\n/).flatMap((line, i) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    const refused = (problem: string): PakratError =>
      formatError('E_FORMAT', what, `line ${i + 1}: ${problem}: ${JSON.stringify(trimmed.slice(0, 80))}`);
    return [rowOf(trimmed, refused)];
  });
}
