import { u32At, uintAt } from '../../core/bytes.ts';
import { normalizeName } from '../../core/jenkins.ts';
import { ByteWriter } from '../../core/writer.ts';
import { GrowingFile } from '../../files/growing-file.ts';
import type { EncodedContent } from '../encode/encode-content.ts';
import { FactTable, type FileFacts, type PublishFile } from '../files/publish-file.ts';
import type { Contents } from './contents.ts';

/*
 * A row on disk: size u48, number of the content u32, number of the facts u32, size of the name u32, name (UTF-8).
 */
const sizeBytes = 6;
const contentAt = sizeBytes;
const factsAt = contentAt + 4;
const nameSizeAt = factsAt + 4;
const headSize = nameSizeAt + 4;

/** A file that is encoded. */
export interface EncodedFile extends FileFacts, Pick<PublishFile, 'name'> {
  /** Decoded, in bytes. */
  size: number;
  /** The number of its content. */
  content: number;
  /** The number of what is said of it. */
  facts: number;
  /** One of the install manifest alone has none, and one of a root that knows names. */
  fileDataId: number | undefined;
}

/** The files of a build that are encoded. They are on disk, for there may be millions: each is made when it is asked for. Needs `close`. */
export class EncodedFiles implements Iterable<EncodedFile> {
  readonly contents: Contents;
  readonly #rows: GrowingFile;
  readonly #facts = new FactTable();
  #count = 0;
  /** Those that were given, by the number of the file; then those of all. */
  #ids = new Map<number, number>();

  /** @param temporary folder for what is on disk @throws E_STORE_FULL, E_STORE, as all that reads or adds does */
  constructor(contents: Contents, temporary: string) {
    this.contents = contents;
    this.#rows = new GrowingFile(temporary);
  }

  get length(): number {
    return this.#count;
  }

  /** @param encoded its content, one of the contents */
  add(file: PublishFile, encoded: EncodedContent): void {
    const content = this.contents.numberOf(encoded);
    if (content < 0) throw new RangeError(`${file.name} has no content`);
    if (file.fileDataId !== undefined) this.#ids.set(this.#count, file.fileDataId);
    const name = Buffer.from(file.name);
    const row = new ByteWriter(headSize + name.length).uint(encoded.size, sizeBytes).u32(content);
    this.#rows.append(row.u32(this.#facts.numberOf(file)).u32(name.length).raw(name).written);
    this.#count += 1;
  }

  *[Symbol.iterator](): Generator<EncodedFile> {
    const { read } = this.#rows.ahead();
    for (let number = 0, at = 0; number < this.#count; number++) {
      const head = read(at, headSize);
      const [size, content] = [uintAt(head, 0, sizeBytes), u32At(head, contentAt)];
      const [facts, nameSize] = [u32At(head, factsAt), u32At(head, nameSizeAt)];
      const name = utf8.decode(read(at + headSize, nameSize));
      at += headSize + nameSize;
      yield { name, size, content, facts, fileDataId: this.#ids.get(number), ...this.#facts.at(facts) };
    }
  }

  /** Gives each file of a root of ids its own, else the next behind the highest that was given, in the order of the names. Variants of a name share one. */
  numberAll(): void {
    const ids = new Map<string, number>();
    const unnumbered = new Set<string>();
    let highest = 0;
    for (const { name, fileDataId, install } of this) {
      if (install === true) continue;
      if (fileDataId === undefined) unnumbered.add(normalizeName(name));
      else ids.set(normalizeName(name), fileDataId);
      highest = Math.max(highest, fileDataId ?? 0);
    }
    for (const name of [...unnumbered].sort()) {
      if (ids.has(name)) continue;
      highest += 1;
      ids.set(name, highest);
    }
    const numbered = new Map<number, number>();
    let number = 0;
    for (const { name, install } of this) {
      const id = ids.get(normalizeName(name));
      if (install !== true && id !== undefined) numbered.set(number, id);
      number += 1;
    }
    this.#ids = numbered;
  }

  /** Forgets everything. */
  close(): void {
    this.#rows.close();
  }
}

const utf8 = new TextDecoder();
