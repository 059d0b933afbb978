import * as fs from 'node:fs';
import { join } from 'node:path';
import { type KeyLayouts, placeOfKey } from '../../formats/local/key-layout.ts';
import { OpenFiles } from '../read-file.ts';

/** Names of data files in the games. */
const fileNames: readonly ((chunk: number, archive: number) => string)[] = [
  (chunk, archive) => `data.${decimal(chunk, 3)}.${decimal(archive, 3)}`,
  (chunk, archive) => `${decimal(chunk, 2)}-${archive.toString(16).padStart(8, '0')}.data`,
];

function decimal(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

/** The data files of a static container. Needs `close`. */
export class StaticContainer {
  readonly folder: string;
  readonly #layouts: KeyLayouts;
  readonly #open = new OpenFiles();

  constructor(folder: string, layouts: KeyLayouts) {
    this.folder = folder;
    this.#layouts = layouts;
  }

  close(): void {
    this.#open.close();
  }

  /** The file and offset that an ekey names; undefined when there is no such file, or it ends before. */
  find(ekey: string): { file: string; offset: number; left: number } | undefined {
    if (ekey.length !== 32) return undefined;
    const { chunk, archive, offset } = placeOfKey(ekey, this.#layouts);
    for (const nameOf of fileNames) {
      const file = join(this.folder, nameOf(chunk, archive));
      const size = this.#open.size(file);
      if (size !== undefined) return offset < size ? { file, offset, left: size - offset } : undefined;
    }
    return undefined;
  }

  read(file: string, offset: number, size: number): Uint8Array {
    return this.#open.read(file, offset, size);
  }

  /** Bytes of all data files. */
  bytes(): number {
    const names = fs.readdirSync(this.folder).filter((name) => /^data\.\d+\.\d+$|^\d+-[0-9a-f]{8}\.data$/i.test(name));
    return names.reduce((sum, name) => sum + fs.statSync(join(this.folder, name)).size, 0);
  }
}
