import type { PublishFile } from './publish-file.ts';

/** What is said of a file beside its name and its content. */
export type FileFacts = Pick<PublishFile, 'locale' | 'tags' | 'priority' | 'install' | 'key'>;

/** What is said of many files, each once: few of millions are told apart by it. */
export class FactTable {
  readonly #numbers = new Map<string, number>();
  readonly #facts: FileFacts[] = [];

  /** The number of what is said of a file. */
  numberOf({ locale, tags, priority, install, key }: FileFacts): number {
    const text = JSON.stringify([locale, tags, priority, install, key?.name, key?.key]);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#facts.length);
    return this.#facts.push({ locale, tags, priority, install, key }) - 1;
  }

  at(number: number): FileFacts {
    return this.#facts[number]!;
  }
}
