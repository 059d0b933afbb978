// Pipe-separated tables: versions, cdns, bgdl, summary, .build.info.
//
//   Region!STRING:0|BuildConfig!HEX:16|BuildId!DEC:4      one header line: name, type, size in bytes; a table of 2015 has "!HEX:!16"
//   ## seqn = 35202                                       sequence number, on any line, or missing (before 2018)
//   us|4eb3986466ec004f…||27291                           a row; a cell may be empty
//
// Columns come, go, move and change their spelling (VersionsName/VersionName, KeyRing/Keyring): ask by name, never by place.
// Known from wowdev.wiki (TACT, Ribbit) and checked on real files of 2014 to 2026.

import { formatError } from '../../core/errors.ts';
import type { Format } from '../format.ts';
import { firstLine, joinText, plainFrame, quoteLine, splitText, type TextFrame } from '../text-lines.ts';

/** A column as its header cell declares it. `type` keeps its spelling (`String` and `STRING` both occur). */
export interface BpsvColumn {
  readonly name: string;
  readonly type: string;
  /** Bytes of a HEX or DEC value, 0 for strings. */
  readonly size: number;
  /** The size as a table wrote it, where it did so in a way of its own. */
  readonly sizeText?: string | undefined;
}

/** A row, keyed by column name as written. */
export type BpsvRow = Record<string, string>;

/** A table. */
export interface Bpsv {
  readonly columns: readonly BpsvColumn[];
  /** Sequence number: a later answer never has a lower one. */
  readonly seqn: number | undefined;
  readonly rows: readonly BpsvRow[];
  /** The comments and blank lines of a table that was read. */
  readonly frame?: TextFrame;
}

const format = 'BPSV table';

/** Told by its header line. */
export const bpsvFormat: Format = {
  name: format,
  matches: (head) => /^[^|!=]+![A-Za-z]+:!?\d+(\||$)/.test(firstLine(head)),
};

/**
 * Reads a table. An empty body, which the service sends for what it does not have, is a table without columns.
 * @throws E_FORMAT when there is no header line (an error page, say) or a row has another number of cells
 */
export function decodeBpsv(bytes: Uint8Array): Bpsv {
  const { lines, frame } = splitText(bytes, format, {
    passesOver: (line) => line.trim() === '' || line.startsWith('#'),
  });
  const [header, ...rows] = lines;
  const columns = header === undefined ? [] : decodeHeader(header);
  const seqn = frame.passedOver.reduce<number | undefined>((found, { text }) => decodeSeqn(text) ?? found, undefined);
  return { columns, seqn, rows: rows.map((line) => decodeRow(line, columns)), frame };
}

function decodeSeqn(comment: string): number | undefined {
  const digits = /^##\s*seqn\s*=\s*(\d{1,15})\s*$/i.exec(comment)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function decodeHeader(line: string): BpsvColumn[] {
  return line.split('|').map((cellText) => {
    const [, name, type, odd, size] = /^([^!]+)!([A-Za-z]+):(!?)(\d{1,9})$/.exec(cellText.trim()) ?? [];
    if (name === undefined || type === undefined) {
      throw formatError('E_FORMAT', format, 'no header line', { expected: 'Name!TYPE:size', found: quoteLine(line) });
    }
    return { name, type, size: Number(size), ...(odd && { sizeText: `${odd}${size}` }) };
  });
}

function decodeRow(line: string, columns: readonly BpsvColumn[]): BpsvRow {
  const cells = line.split('|');
  if (cells.length !== columns.length) {
    const facts = { found: quoteLine(line) };
    throw formatError('E_FORMAT', format, `a row of ${cells.length} cells under ${columns.length} columns`, facts);
  }
  return Object.fromEntries(columns.map((column, i) => [column.name, (cells[i] ?? '').trim()]));
}

/**
 * Writes a table. Without a frame: header, sequence number if there is one, rows, LF after each line. Spaces round the cells of a table
 * that was read are not kept: they are none of the values.
 * @throws E_FORMAT when a cell holds a bar or a line break
 */
export function encodeBpsv({ columns, seqn, rows, frame = plainFrame }: Bpsv): Uint8Array {
  const header = columns.map(({ name, type, size, sizeText }) => `${name}!${type}:${sizeText ?? size}`).join('|');
  const lines = rows.map((row) => columns.map(({ name }) => encodeCell(row[name] ?? '')).join('|'));
  return joinText(columns.length === 0 ? [] : [header, ...lines], withSeqn(frame, seqn));
}

/** The frame with this sequence number: where another stands, else behind the header. */
function withSeqn(frame: TextFrame, seqn: number | undefined): TextFrame {
  const numbered = frame.passedOver.filter(({ text }) => decodeSeqn(text) !== undefined);
  const last = numbered.at(-1);
  if ((last && decodeSeqn(last.text)) === seqn) return frame;
  const others = frame.passedOver.filter((line) => !numbered.includes(line));
  if (seqn === undefined) return { ...frame, passedOver: others };
  const line = { after: last?.after ?? 1, text: `## seqn = ${seqn}` };
  const before = others.filter(({ after }) => after < line.after);
  return { ...frame, passedOver: [...before, line, ...others.slice(before.length)] };
}

function encodeCell(text: string): string {
  if (/[|\r\n]/.test(text)) {
    throw formatError('E_FORMAT', format, 'a cell cannot hold a bar or a line break', { found: quoteLine(text) });
  }
  return text;
}

/** The value of the first of these columns that the row has, in names of any case; undefined for none, or no value. */
export function cell(row: Readonly<BpsvRow>, ...names: string[]): string | undefined {
  for (const name of names) {
    const column = Object.keys(row).find((key) => key.toLowerCase() === name.toLowerCase());
    if (column !== undefined) return row[column] === '' ? undefined : row[column];
  }
  return undefined;
}
