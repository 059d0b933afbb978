import { breathe } from '../../core/breathe.ts';
import type { NeededText } from '../../core/glob.ts';
import type { DerivedFile } from '../../store/derived/derived-file.ts';

/** Bytes that are gone through at once: as a text of twice as many characters they would not lie where memory is taken and given back at no cost. */
const pieceSize = 1 << 16;
/** Bytes of a line at most: names are at most what a row of a look-up file can say. */
const mostOfLine = 1 << 17;

/**
 * The offsets of the names in the text of a list that have one of some texts, and maybe of a few more, ascending. Each piece of the text is gone
 * through as a whole, as grep does: a line is looked at only where there is something in it. All of the text is checked. @throws E_FORMAT_CHECKSUM
 */
export async function offsetsOf(text: DerivedFile, needed: readonly NeededText[]): Promise<Float64Array> {
  const offsets = new Offsets();
  // A name begins behind the first `;` of its line.
  const patterns = needed.map(({ pattern, isAtStart }) => (isAtStart ? `;${pattern}` : pattern));
  const search = new RegExp(patterns.join('|'), 'gi');
  const step = Math.ceil(pieceSize / text.pageSize) * text.pageSize;
  const memory = Buffer.allocUnsafe(mostOfLine + step);
  let kept = 0;
  for (let offset = 0; offset < text.size; ) {
    const size = text.readPages(memory.subarray(kept, kept + step), offset);
    const end = memory.lastIndexOf('\n', kept + size - 1) + 1;
    // Bytes as characters: so that none is split, and the place of one in the text is its offset.
    addOffsets(memory.toString('latin1', 0, end), { search, start: offset - kept, offsets });
    offset += size;
    memory.copyWithin(0, end, kept + size);
    kept += size - end;
    await breathe();
  }
  return offsets.all();
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
