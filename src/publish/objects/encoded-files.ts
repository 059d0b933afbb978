import { normalizeName } from '../../core/jenkins.ts';
import type { EncodedContent } from '../encode/encode-content.ts';
import { FactTable, type FileFacts } from '../files/file-facts.ts';
import type { PublishFile } from '../files/publish-file.ts';
import type { Contents } from './contents.ts';

/** A file that is encoded. */
export interface EncodedFile extends FileFacts, Pick<PublishFile, 'name'> {
  content: EncodedContent;
  /** One of the install manifest alone has none, and one of a root that knows names. */
  fileDataId?: number | undefined;
}

/** The files of a build that are encoded. In little memory, there may be millions: each is made when it is asked for. */
export class EncodedFiles implements Iterable<EncodedFile> {
  readonly #contents: Contents;
  readonly #names: string[] = [];
  readonly #contentOf: number[] = [];
  readonly #factsOf: number[] = [];
  readonly #facts = new FactTable();
  /** Those that were given, by the number of the file; then those of all. */
  #ids = new Map<number, number>();

  constructor(contents: Contents) {
    this.#contents = contents;
  }

  get length(): number {
    return this.#names.length;
  }

  /** @param ekey of its content, one of the contents */
  add(file: PublishFile, ekey: string): void {
    if (file.fileDataId !== undefined) this.#ids.set(this.length, file.fileDataId);
    this.#names.push(file.name);
    this.#contentOf.push(this.#contents.numberOf(ekey));
    this.#factsOf.push(this.#facts.numberOf(file));
  }

  *[Symbol.iterator](): Generator<EncodedFile> {
    for (const [i, name] of this.#names.entries()) {
      const content = this.#contents.at(this.#contentOf[i]!);
      if (content === undefined) throw new RangeError(`${name} has no content`);
      yield { name, ...this.#facts.at(this.#factsOf[i]!), fileDataId: this.#ids.get(i), content };
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
    for (const [i, name] of this.#names.entries()) {
      const id = ids.get(normalizeName(name));
      if (this.#facts.at(this.#factsOf[i]!).install !== true && id !== undefined) numbered.set(i, id);
    }
    this.#ids = numbered;
  }
}
