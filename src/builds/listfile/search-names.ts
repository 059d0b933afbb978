import { breathe } from '../../core/breathe.ts';
import { type NeededText, neededStart } from '../../core/glob.ts';
import type { DerivedFile } from '../../store/derived/derived-file.ts';
import { rangesOf, type TextRange } from './name-ranges.ts';

/** Bytes that are gone through at once: as a text of twice as many characters they would not lie where memory is taken and given back at no cost. */
const pieceSize = 1 << 16;
/** Bytes of a line at most: names are at most what a row of a look-up file can say. */
const mostOfLine = 1 << 17;

/**
 * The offsets of the names in the text of a list that have one of some texts, and maybe of a few more, ascending. Each piece of the text is gone
 * through as a whole, as grep does: a line is looked at only where there is something in it. What is gone through is checked: all of the text, but of a sorted
 * one only the parts where the names are that begin as they must. @throws E_FORMAT_CHECKSUM
 */
export async function offsetsOf(
  text: DerivedFile,
  needed: readonly NeededText[],
  { isSorted }: { isSorted: boolean },
): Promise<Float64Array> {
  const offsets = new Offsets();
  // A name begins behind the first `;` of its line.
  const patterns = needed.map(({ pattern, isAtStart }) => (isAtStart ? `;${pattern}` : pattern));
  const search = new RegExp(patterns.join('|'), 'gi');
  for (const range of partsOf(text, isSorted ? needed : undefined)) await searchRange(text, range, { search, offsets });
  return offsets.all();
}

/** The parts of a sorted text where the names are that begin as they must, ascending; all of it where they may begin otherwise. @throws E_FORMAT_CHECKSUM */
export function partsOf(text: DerivedFile, needed: readonly NeededText[] | undefined): TextRange[] {
  const starts = needed?.map(neededStart) ?? [''];
  if (starts.includes('')) return [{ from: 0, to: text.size }];
  return joined(starts.flatMap((start) => rangesOf(text, start)));
}

/** Parts that overlap or follow one another become one. */
function joined(ranges: TextRange[]): TextRange[] {
  const all: TextRange[] = [];
  for (const { from, to } of ranges.sort((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else all.push({ from, to });
  }
  return all;
}

async function searchRange(
  text: DerivedFile,
  { from, to }: TextRange,
  { search, offsets }: { search: RegExp; offsets: Offsets },
): Promise<void> {
  const step = Math.ceil(pieceSize / text.pageSize) * text.pageSize;
  const memory = Buffer.allocUnsafe(mostOfLine + step);
  let kept = 0;
  for (let offset = from - (from % text.pageSize); offset < to; ) {
    const size = text.readPages(memory.subarray(kept, kept + step), offset);
    const start = offset - kept;
    const begin = Math.max(0, from - start);
    const end = memory.lastIndexOf('\n', Math.min(kept + size, to - start) - 1) + 1;
    // Bytes as characters: so that none is split, and the place of one in the text is its offset.
    if (end > begin) addOffsets(memory.toString('latin1', begin, end), { search, start: start + begin, offsets });
    offset += size;
    memory.copyWithin(0, end, kept + size);
    kept += size - end;
    await breathe();
  }
}

/** @param lines whole lines, that begin at `start` */
function addOffsets(
  lines: string,
  { search, start, offsets }: { search: RegExp; start: number; offsets: Offsets },
): void {
  search.lastIndex = 0;
  while (search.test(lines)) {
    const lineAt = lines.lastIndexOf('\n', search.lastIndex - 1) + 1;
    offsets.add(start + lines.indexOf(';', lineAt) + 1);
    search.lastIndex = lines.indexOf('\n', lineAt);
  }
}

/** Ascending numbers, eight bytes each. */
class Offsets {
  #numbers = new Float64Array(1024);
  #count = 0;

  add(number: number): void {
    if (this.#count === this.#numbers.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#count++] = number;
  }

  all(): Float64Array {
    return this.#numbers.subarray(0, this.#count);
  }
}
