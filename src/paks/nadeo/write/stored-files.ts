import { equalBytes } from '../../../core/bytes.ts';
import { md5 } from '../../../core/hash.ts';
import { changedWhilePacking } from '../../packing.ts';
import { getRow } from '../../pak.ts';
import { type FileStorage, type NadeoPackFile, type StoredFile, storeFile } from './write-files.ts';

/** Stored files that are kept for the passes that follow. */
const keptBytes = 64 << 20;
const noBytes = new Uint8Array(0);

/** Gives what is stored of each file, as often as asked; what is small is made once. */
export class StoredFiles {
  readonly #files: readonly NadeoPackFile[];
  readonly #storage: FileStorage;
  readonly #kept = new Map<number, StoredFile>();
  readonly #hashes: Uint8Array[] = [];
  #room = keptBytes;

  constructor(files: readonly NadeoPackFile[], storage: FileStorage) {
    this.#files = files;
    this.#storage = storage;
  }

  /** What is stored of a file; its content is there the first time only. Throws as storing does. */
  async read(index: number): Promise<StoredFile> {
    const kept = this.#kept.get(index);
    if (kept !== undefined) return kept;
    const file = getRow(this.#files, { index });
    const stored = await storeFile(file, this.#storage);
    const hash = md5(stored.bytes);
    const earlier = this.#hashes[index];
    if (earlier !== undefined && !equalBytes(hash, earlier)) throw changedWhilePacking(file);
    this.#hashes[index] = hash;
    // The content itself is needed in the first pass only.
    if (stored.bytes.length <= this.#room) {
      this.#room -= stored.bytes.length;
      this.#kept.set(index, { ...stored, content: noBytes });
    }
    return stored;
  }
}

/** Bytes with zeros behind them, up to a size. */
export function filled(bytes: Uint8Array, size: number): Uint8Array {
  if (bytes.length === size) return bytes;
  const whole = new Uint8Array(size);
  whole.set(bytes);
  return whole;
}
