import { giveBack, largeBytes, largeWords } from '../../core/tables/large-bytes.ts';
import { type DownloadEntry, downloadPieces } from '../../formats/manifests/download.ts';
import { encodeInstall, type InstallEntry } from '../../formats/manifests/install.ts';
import { sizePieces } from '../../formats/manifests/size.ts';
import type { TaggedEntries } from '../../formats/manifests/tags.ts';
import type { EncodedContent } from '../encode/encode-content.ts';
import { type PublishTag, tagsOf } from '../files/publish-file.ts';
import type { ContentRow, Contents } from '../objects/contents.ts';
import type { EncodedFile, EncodedFiles } from '../objects/encoded-files.ts';
import { makeTags, TagLists } from './tag-lists.ts';

/** Writes the install manifest: paths with back-slashes, as real ones have them. */
export function makeInstall(files: EncodedFiles): Uint8Array {
  const lists = new FileTags();
  const entries: InstallEntry[] = [];
  const tags: number[] = [];
  for (const file of files) {
    const own = lists.numberOf(file);
    if (file.install !== true) continue;
    const { ckey } = files.contents.at(file.content)!;
    entries.push({ path: file.name.replaceAll('/', '\\'), ckey, size: file.size });
    tags.push(own);
  }
  return encodeInstall({ version: 1, tags: makeTags(lists, tags, tags.length), entries });
}

/** The tags of files: what is said of a file is said of many. */
class FileTags extends TagLists {
  /** Those of a file, by the number of what is said of it. */
  readonly #tags: (readonly PublishTag[])[] = [];
  readonly #numbers: number[] = [];

  numberOf(file: EncodedFile): number {
    this.#numbers[file.facts] ??= this.of(this.tagsOfFile(file));
    return this.#numbers[file.facts]!;
  }

  tagsOfFile(file: EncodedFile): readonly PublishTag[] {
    this.#tags[file.facts] ??= tagsOf(file);
    return this.#tags[file.facts]!;
  }
}

/** Manifests come first. */
const manifestPriority = -128;
/** Of an object that no file is: above all priorities. */
const notListed = 128;

/**
 * Objects as the download and the size manifest list them, each once: manifests before files, files in the order of their priorities. Files that share their bytes
 * are one object, which is needed by whoever needs one of them. Of each there are six bytes in memory.
 */
export class ListedObjects {
  readonly #contents: Contents;
  readonly #manifests: number[] = [];
  readonly #priorities: Int16Array;
  readonly #tagsOf: Uint32Array;
  readonly #tags = new FileTags();
  readonly #count: number;

  constructor(files: EncodedFiles, manifests: readonly EncodedContent[]) {
    this.#contents = files.contents;
    const { length } = this.#contents;
    this.#priorities = new Int16Array(largeBytes(2 * length).buffer, 0, length).fill(notListed);
    this.#tagsOf = largeWords(length);
    for (const manifest of manifests) this.#addManifest(this.#contents.numberOf(manifest));
    for (const file of files) this.#add(file);
    this.#count = this.#priorities.reduce((count, priority) => count + (priority === notListed ? 0 : 1), 0);
  }

  /** Gives its memory back to the system: it is not asked any more. */
  giveBack(): void {
    giveBack(this.#priorities, this.#tagsOf);
  }

  #addManifest(number: number): void {
    if (this.#priorities[number] !== notListed) return;
    this.#manifests.push(number);
    this.#priorities[number] = manifestPriority;
    this.#tagsOf[number] = this.#tags.of([]);
  }

  #add(file: EncodedFile): void {
    const { content, priority = 0 } = file;
    const before = this.#priorities[content]!;
    this.#priorities[content] = Math.min(priority, before);
    this.#tagsOf[content] =
      before === notListed
        ? this.#tags.numberOf(file)
        : this.#tags.with(this.#tagsOf[content]!, this.#tags.tagsOfFile(file));
  }

  /** The download manifest, in pieces. */
  download(): Generator<Uint8Array> {
    return downloadPieces(this.#entries());
  }

  /** The size manifest, in pieces. */
  size(): Generator<Uint8Array> {
    return sizePieces(this.#entries());
  }

  #entries(): TaggedEntries<DownloadEntry> {
    const tagNumbers = function* (this: ListedObjects): Generator<number> {
      for (const number of this.#inOrder()) yield this.#tagsOf[number]!;
    };
    return {
      entries: { [Symbol.iterator]: () => this.#rows() },
      count: this.#count,
      tags: makeTags(this.#tags, tagNumbers.call(this), this.#count),
    };
  }

  *#inOrder(): Generator<number> {
    yield* this.#manifests;
    const isManifest = new Set(this.#manifests);
    for (const priority of [...new Set(this.#priorities)].sort((a, b) => a - b)) {
      if (priority === notListed) continue;
      for (let number = 0; number < this.#priorities.length; number++)
        if (this.#priorities[number] === priority && !isManifest.has(number)) yield number;
    }
  }

  *#rows(): Generator<DownloadEntry> {
    const rowAt = this.#contents.ahead();
    for (const number of this.#inOrder()) {
      const { ekey, encodedSize }: ContentRow = rowAt(number);
      yield { ekey, size: encodedSize, priority: this.#priorities[number]! };
    }
  }
}
