import { outputPath } from '../../files/output/output-path.ts';
import { countEntries, entryAt } from '../../paks/many-entries.ts';
import type { Pak } from '../../paks/pak.ts';
import type { PakTask } from '../paks/pak-tasks.ts';
import { type OutputNaming, outputName } from './chosen-files.ts';

/** Sizes from this one on are not kept in 32 bits. */
const largeSize = 2 ** 32 - 1;

/** Files of a PAK that are to be written, in the order of their numbers. There may be millions: kept are their sizes, and the path of each is made when it is asked for. */
export class PakFiles implements Iterable<PakTask> {
  readonly #pak: Pak;
  readonly #naming: OutputNaming;
  readonly #isChosen: Uint8Array;
  /** By numbers: sizes of the files that were chosen, those of the largest beside them. */
  readonly #sizes: Uint32Array;
  readonly #largeSizes = new Map<number, number>();
  /** Tasks for the parts of large files, by the numbers of these. */
  readonly #parts = new Map<number, readonly PakTask[]>();
  #count = 0;
  #bytes = 0;

  /** @param naming the way from a name to the path */
  constructor(pak: Pak, naming: OutputNaming) {
    const most = countEntries(pak);
    this.#pak = pak;
    this.#naming = naming;
    this.#isChosen = new Uint8Array(most);
    this.#sizes = new Uint32Array(most);
  }

  get count(): number {
    return this.#count;
  }

  /** Bytes of all. */
  get bytes(): number {
    return this.#bytes;
  }

  has(index: number): boolean {
    return this.#isChosen[index] === 1;
  }

  /** Adds a file that is not among them. @param tasks those that write it: one, or one for each part */
  add({ index, size }: PakTask, tasks: readonly PakTask[]): void {
    this.#isChosen[index] = 1;
    this.#sizes[index] = Math.min(size, largeSize);
    if (size >= largeSize) this.#largeSizes.set(index, size);
    this.#count += 1;
    this.#bytes += size;
    if (tasks.some(({ part }) => part !== undefined)) this.#parts.set(index, tasks);
  }

  nameOf(index: number): string {
    return entryAt(this.#pak, index)?.name ?? '';
  }

  /** Where a file is written; it was claimed. */
  pathOf(index: number): string {
    return outputPath(outputName(this.nameOf(index), this.#naming) ?? '');
  }

  *[Symbol.iterator](): Generator<PakTask> {
    for (let index = 0; index < this.#isChosen.length; index++) {
      if (!this.has(index)) continue;
      const parts = this.#parts.get(index);
      if (parts === undefined) yield new FileTask(this, index, this.#sizeOf(index));
      else yield* parts;
    }
  }

  #sizeOf(index: number): number {
    return this.#largeSizes.get(index) ?? this.#sizes[index]!;
  }
}

/** The task to write a whole file. */
class FileTask implements PakTask {
  readonly index: number;
  readonly size: number;
  readonly #files: PakFiles;

  constructor(files: PakFiles, index: number, size: number) {
    this.#files = files;
    this.index = index;
    this.size = size;
  }

  get path(): string {
    return this.#files.pathOf(this.index);
  }
}
