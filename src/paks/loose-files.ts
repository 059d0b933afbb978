import { join } from 'node:path';
import { fileSource } from '../files/file-source.ts';
import { checkPart, readPieces } from '../files/pieces.ts';
import { walkFiles } from '../files/walk.ts';
import { cleanName, foldName } from './names.ts';
import { getRow, type Pak, type PakEntry, type PakProblem } from './pak.ts';

/**
 * The plain files below a folder, by name, as a PAK of its own: the last step of most search paths. Links to files are
 * followed, links to folders are not.
 * @param isWanted tells by the relative name, with `/`
 * @throws E_NOT_FOUND, E_STORE
 */
export function openLooseFiles(root: string, isWanted: (name: string) => boolean): Pak {
  const files = [...walkFiles(root)].filter(({ name }) => isWanted(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  const entries = files.map(({ name, stat: { size, mtime } }, index): PakEntry => {
    return { index, name, size, storedSize: size, method: 'none', encrypted: false, mtime };
  });
  return new LooseFiles(root, entries);
}

class LooseFiles implements Pak {
  readonly family = 'folder';
  readonly version = '';
  readonly notes: readonly string[] = [];
  readonly facts: Record<string, unknown> = {};
  readonly entries: readonly PakEntry[];
  readonly #root: string;

  constructor(root: string, entries: readonly PakEntry[]) {
    this.#root = root;
    this.entries = entries;
  }

  find(name: string): PakEntry | undefined {
    const wanted = cleanName(name);
    return (
      this.entries.find((entry) => entry.name === wanted) ??
      this.entries.find((entry) => foldName(entry.name) === foldName(wanted))
    );
  }

  read(entry: PakEntry): AsyncIterable<Uint8Array> {
    return this.readRange(entry, 0, entry.size);
  }

  async *readRange(entry: PakEntry, offset: number, size: number): AsyncGenerator<Uint8Array> {
    checkPart(entry, offset, size);
    const source = await fileSource(join(this.#root, getRow(this.entries, entry).name));
    try {
      yield* readPieces(source, offset, size);
    } finally {
      await source.close();
    }
  }

  async verify(): Promise<PakProblem | undefined> {
    return undefined;
  }
  async hasProof({ size }: PakEntry): Promise<boolean> {
    return size === 0;
  }
  async verifyDirectory(): Promise<PakProblem | undefined> {
    return undefined;
  }
  async close(): Promise<void> {}
}
