import { Numbered } from '../../core/tables/numbered.ts';
import type { PublishFile } from './publish-file.ts';

/** What is said of a file beside its name and its content. */
export type FileFacts = Pick<PublishFile, 'locale' | 'tags' | 'priority' | 'install' | 'key'>;

/** What is said of many files, each once: few of millions are told apart by it. */
export class FactTable {
  readonly #facts = new Numbered<FileFacts>();

  /** The number of what is said of a file. */
  numberOf({ locale, tags, priority, install, key }: FileFacts): number {
    return this.#facts.numberOf({ locale, tags, priority, install, key });
  }

  at(number: number): FileFacts {
    return this.#facts.at(number);
  }
}
