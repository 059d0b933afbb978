import { formatError } from '../../core/errors.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import type { GrowingFile } from '../../files/growing-file.ts';
import {
  decodeEncodingHeader,
  decodeEspecs,
  type EncodingLayout,
  encodingHeaderSize,
  findCkeyInPage,
  findEkeyInPage,
  findPage,
  pageTable,
} from '../../formats/manifests/encoding/pages.ts';
import type { EncodedContent } from '../encode/encode-content.ts';

type Kind = 'ckey' | 'ekey';

/** The encoding file of a build, decoded on disk: what is in memory are its page tables. Needs `close`. */
export class EarlierEncoding {
  readonly especs: readonly string[];
  readonly #file: GrowingFile;
  readonly #layout: EncodingLayout;
  readonly #tables: Record<Kind, RecordTable>;

  private constructor(file: GrowingFile, layout: EncodingLayout) {
    this.#file = file;
    this.#layout = layout;
    const { especOffset, especSize, ckeyTableOffset, ckeyPagesOffset, ekeyTableOffset, ekeyPagesOffset } = layout;
    const table = (kind: Kind, start: number, end: number): RecordTable =>
      pageTable(file.read(start, end - start), layout, kind);
    this.especs = decodeEspecs(file.read(especOffset, especSize));
    this.#tables = {
      ckey: table('ckey', ckeyTableOffset, ckeyPagesOffset),
      ekey: table('ekey', ekeyTableOffset, ekeyPagesOffset),
    };
  }

  /** @param file with all of it, which is closed with it @throws E_FORMAT… for none, or one cut off; E_STORE */
  static open(file: GrowingFile): EarlierEncoding {
    try {
      const layout = decodeEncodingHeader(file.read(0, Math.min(encodingHeaderSize, file.size)));
      if (file.size < layout.ownEspecOffset) {
        const facts = { expected: layout.ownEspecOffset, found: file.size };
        throw formatError('E_FORMAT_TRUNCATED', 'encoding file', 'it is shorter than its header says', facts);
      }
      return new EarlierEncoding(file, layout);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** A content in the encoding that these specs ask for; undefined where there is none such. */
  find(ckey: string, especs: readonly string[]): EncodedContent | undefined {
    const page = this.#pageOf('ckey', ckey);
    const content = page && findCkeyInPage(page, ckey, this.#layout);
    for (const ekey of content?.ekeys ?? []) {
      const ekeys = this.#pageOf('ekey', ekey);
      const found = ekeys && findEkeyInPage(ekeys, ekey, this.#layout);
      const espec = this.especs[found?.especIndex ?? -1];
      if (content === undefined || found === undefined || espec === undefined || !especs.includes(espec)) continue;
      return { ckey, ekey, size: content.size, encodedSize: found.size, espec };
    }
    return undefined;
  }

  /** Forgets everything. */
  close(): void {
    this.#file.close();
  }

  #pageOf(kind: Kind, key: string): Uint8Array | undefined {
    const number = findPage(this.#tables[kind], key);
    return number === undefined ? undefined : this.#page(kind, number);
  }

  #page(kind: Kind, number: number): Uint8Array {
    const { ckeyPagesOffset, ckeyPageSize, ekeyPagesOffset, ekeyPageSize } = this.#layout;
    const [start, size] = kind === 'ckey' ? [ckeyPagesOffset, ckeyPageSize] : [ekeyPagesOffset, ekeyPageSize];
    return this.#file.read(start + number * size, size);
  }
}
