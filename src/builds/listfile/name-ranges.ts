import { asBuffer } from '../../core/bytes.ts';
import type { DerivedFile } from '../../store/derived/derived-file.ts';

/** A part of the text of a list: [from, to), whole lines. */
export interface TextRange {
  from: number;
  to: number;
}

const [lf, semicolon] = [0x0a, 0x3b];
/** Bytes that are read to see one line; a longer one is read again. */
const lineBytes = 512;
/** A part of so many bytes is gone through sooner than halved. */
const fewBytes = 1 << 16;

/**
 * The parts of a sorted text where the names are that begin with a text of ASCII, in any case and with any slashes, ascending. Of all that lies between they may
 * have a few lines more. Names mostly begin alike, so it is looked at the first and the last of a part what all of it has in common, and only where letters differ
 * the part of each case is searched for. What is read is checked. @throws E_FORMAT_CHECKSUM
 */
export function rangesOf(text: DerivedFile, start: string): TextRange[] {
  const ranges: TextRange[] = [];
  const wanted = Array.from(start, variantsOf);
  const search = (part: TextRange, same: number): void => {
    if (part.to - part.from <= fewBytes || same === wanted.length) {
      ranges.push(part);
      return;
    }
    const [first, last] = [lineAt(text, part.from).name, lineBefore(text, part.to).name];
    let at = same;
    for (; at < wanted.length && at < first.length && first[at] === last[at]; at++)
      if (!wanted[at]!.includes(first[at]!)) return;
    // Where all of it begins as it must no letter is left.
    if (at === wanted.length) ranges.push(part);
    for (const byte of wanted[at] ?? []) {
      const key = Buffer.from([...first.subarray(0, at), byte]);
      const from = lowerBound(text, part, key);
      key[at] = byte + 1;
      const to = lowerBound(text, { from, to: part.to }, key);
      if (from < to) search({ from, to }, at + 1);
    }
  };
  if (text.size > 0) search({ from: 0, to: text.size }, 0);
  return ranges;
}

/** The bytes that a character may stand for, ascending. */
function variantsOf(character: string): number[] {
  const both = character === '/' ? ['/', '\\'] : [character.toUpperCase(), character.toLowerCase()];
  return Array.from(new Set(both), (one) => one.charCodeAt(0)).sort((a, b) => a - b);
}

/** Where the first line of a part begins whose name is not below a key; the end of the part where there is none. */
function lowerBound(text: DerivedFile, { from, to }: TextRange, key: Uint8Array): number {
  let [low, high] = [from, to];
  while (low < high) {
    // Of a line in the middle the next is looked at, where there is one.
    const middle = lineAt(text, low + Math.floor((high - low) / 2)).end;
    const { start, end, name } = middle < high ? lineAt(text, middle) : lineAt(text, low);
    if (Buffer.compare(name, key) < 0) low = end;
    else high = start;
  }
  return low;
}

/** A line: where it begins and ends, and its name. */
interface Line {
  start: number;
  end: number;
  name: Uint8Array;
}

/** The line from an offset on, which may be in the midst of it. */
function lineAt(text: DerivedFile, start: number): Line {
  for (let size = lineBytes; ; size *= 8) {
    const bytes = text.read(start, Math.min(size, text.size - start));
    const end = bytes.indexOf(lf);
    if (end < 0 && start + bytes.length < text.size) continue;
    return { start, end: start + (end < 0 ? bytes.length : end + 1), name: nameIn(bytes, end) };
  }
}

/** The line that ends at an offset. */
function lineBefore(text: DerivedFile, end: number): Line {
  for (let size = lineBytes; ; size *= 8) {
    const from = Math.max(0, end - size);
    const bytes = asBuffer(text.read(from, end - from));
    const before = bytes.length < 2 ? -1 : bytes.lastIndexOf(lf, bytes.length - 2);
    if (before < 0 && from > 0) continue;
    return { start: from + before + 1, end, name: nameIn(bytes.subarray(before + 1), bytes.length - before - 2) };
  }
}

/** The name in a line that ends with a line end at an offset. */
function nameIn(line: Uint8Array, end: number): Uint8Array {
  return line.subarray(line.indexOf(semicolon) + 1, end < 0 ? line.length : end);
}
