// Text objects: UTF-8, lines that end with LF or CR LF. Some lines are values, others (blank, comments) are passed over when they are
// read; a frame keeps those, so that a text is written again as it was. A text in which both kinds of line ends occur, or bytes that are
// no UTF-8, is not.

import { formatError } from '../core/errors.ts';
import { headSize } from './format.ts';

const utf8Decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const utf8Encoder = new TextEncoder();

/** All of a text but its lines of values. */
export interface TextFrame {
  /** Characters before the first line: a byte order mark, a `#` that belongs to no name. */
  readonly lead: string;
  readonly lineEnd: '\n' | '\r\n';
  /** Whether the last line ends, too. */
  readonly isEnded: boolean;
  /** The lines that are passed over, in order, each with the number of lines of values before it. */
  readonly passedOver: readonly { readonly after: number; readonly text: string }[];
}

/** The frame of a text that has nothing but lines of values. */
export const plainFrame: TextFrame = { lead: '', lineEnd: '\n', isEnded: true, passedOver: [] };

/** The ways to tell the lines of a text. */
export interface TextForm {
  /** Whether a line is none of values. */
  passesOver(line: string): boolean;
  /** The characters that may stand before the first line. Default: a byte order mark. */
  lead?: RegExp;
}

/**
 * The lines of values of a text object, and the frame around them.
 * @param what name of the format, for messages
 * @throws E_FORMAT when there is a NUL in it: then it is no text
 */
export function splitText(
  bytes: Uint8Array,
  what: string,
  { passesOver, lead: leadForm = /^\ufeff?/ }: TextForm,
): { lines: string[]; frame: TextFrame } {
  const nulOffset = bytes.indexOf(0);
  if (nulOffset >= 0) throw formatError('E_FORMAT', what, 'binary data where text should be', { offset: nulOffset });
  const text = utf8Decoder.decode(bytes);
  const lead = leadForm.exec(text)?.[0] ?? '';
  const all = text.slice(lead.length).split(/\r?\n/);
  const isEnded = all.length > 1 && all.at(-1) === '';
  if (isEnded) all.pop();
  const lines: string[] = [];
  const passedOver: { after: number; text: string }[] = [];
  for (const line of all) {
    if (passesOver(line)) passedOver.push({ after: lines.length, text: line });
    else lines.push(line);
  }
  return { lines, frame: { lead, lineEnd: text.includes('\r\n') ? '\r\n' : '\n', isEnded, passedOver } };
}

/** Writes a text: lines of values in a frame. */
export function joinText(lines: readonly string[], { lead, lineEnd, isEnded, passedOver }: TextFrame): Uint8Array {
  const all: string[] = [];
  const others = passedOver.toReversed();
  const addOthers = (before: number): void => {
    for (let other = others.at(-1); other !== undefined && other.after <= before; other = others.at(-1)) {
      all.push(other.text);
      others.pop();
    }
  };
  for (const [i, line] of lines.entries()) {
    addOthers(i);
    all.push(line);
  }
  addOthers(Number.POSITIVE_INFINITY);
  if (isEnded && all.length > 0) all.push('');
  return utf8Encoder.encode(lead + all.join(lineEnd));
}

/** The lines of the head of a text, the last of which may be cut; none when there is a NUL among its first bytes. */
export function headLines(head: Uint8Array): string[] {
  const start = head.subarray(0, headSize);
  if (start.includes(0)) return [];
  const text = utf8Decoder.decode(start).replace(/^\ufeff/, '');
  return text.split(/\r?\n/);
}

/** The first line of a head that is neither blank nor a comment; empty when there is none. */
export function firstLine(head: Uint8Array): string {
  return headLines(head).find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '';
}

/** The number, counted from 1, that the line of value `i` has in the whole text. */
export function lineNumber({ passedOver }: TextFrame, i: number): number {
  return i + 1 + passedOver.filter(({ after }) => after <= i).length;
}

/** A line as it may stand in a message: quoted, and not longer than a glance. */
export function quoteLine(line: string): string {
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}…` : line);
}
