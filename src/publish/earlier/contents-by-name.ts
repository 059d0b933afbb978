import { breathe } from '../../core/breathe.ts';
import { compareBytes, toHex } from '../../core/bytes.ts';
import { md5 } from '../../core/hash.ts';
import { firstNot } from '../../core/sorting/first-not.ts';
import { GrowingFile } from '../../files/growing-file.ts';
import { SortedRuns } from '../../files/sorted/sorted-runs.ts';
import { runRows } from '../manifests/written.ts';

const keySize = 16;
/** The MD5 of a name, and the ckey of its content. */
const rowSize = 2 * keySize;
/** Rows of which the first is in memory, too. */
const rowsInPage = 128;

/** The ckeys of many names, on disk. A name is its MD5. Needs `close`. */
export class ContentsByName {
  readonly #rows: GrowingFile;
  /** The first key of each page. */
  readonly #firsts: Uint8Array[] = [];

  private constructor(temporary: string) {
    this.#rows = new GrowingFile(temporary);
  }

  /** @throws E_STORE_FULL, E_STORE, E_ABORTED, and as the names do */
  static async of(
    names: Iterable<{ name: string; ckey: Uint8Array }>,
    temporary: string,
    signal: AbortSignal | undefined,
  ): Promise<ContentsByName> {
    const contents = new ContentsByName(temporary);
    const runs = new SortedRuns(temporary, { stride: rowSize, keySize, runRows });
    try {
      for (const { name, ckey } of names) {
        const row = runs.add();
        row.set(md5(utf8.encode(name)));
        row.set(ckey, keySize);
        await breathe(signal);
      }
      for (const row of runs.rows()) {
        contents.#add(row);
        await breathe(signal);
      }
      return contents;
    } catch (error) {
      contents.close();
      throw error;
    } finally {
      runs.close();
    }
  }

  /** Of rows in the order of their keys the next. */
  #add(row: Uint8Array): void {
    if (this.#rows.size % (rowsInPage * rowSize) === 0) this.#firsts.push(row.slice(0, keySize));
    this.#rows.append(row);
  }

  /** The ckey of a name, spelt as it is. */
  find(name: string): string | undefined {
    const key = md5(utf8.encode(name));
    const page = firstNot(0, this.#firsts.length, (one) => compareBytes(this.#firsts[one]!, key) <= 0) - 1;
    if (page < 0) return undefined;
    const start = page * rowsInPage * rowSize;
    const rows = this.#rows.read(start, Math.min(rowsInPage * rowSize, this.#rows.size - start));
    for (let at = 0; at < rows.length; at += rowSize) {
      const row = rows.subarray(at, at + rowSize);
      if (compareBytes(row.subarray(0, keySize), key) === 0) return toHex(row.subarray(keySize));
    }
    return undefined;
  }

  /** Forgets everything. */
  close(): void {
    this.#rows.close();
  }
}

const utf8 = new TextEncoder();
