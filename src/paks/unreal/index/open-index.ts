import { createHash } from 'node:crypto';
import { checkRange } from '../../../core/byte-source.ts';
import { equalBytes, isAllZero, toHex } from '../../../core/bytes.ts';
import { formatError, PakratError } from '../../../core/errors.ts';
import { sha1 } from '../../../core/hash.ts';
import { pieceSize } from '../../../files/pieces.ts';
import type { FillingSource } from '../../../files/scratch.ts';
import type { PakProblem } from '../../pak.ts';
import type { Footer } from '../footer.ts';
import { decryptUnit, looksLikeIndex, missingKey } from '../keys.ts';
import type { PartRange } from './primary-index.ts';
import { type IndexStretch, sharedBytes } from './rows/shared-rows.ts';

/** Larger indices are taken for damage: those of the largest games have a fifth of it. */
const maxIndexBytes = 256 << 20;
/** Larger ones stay in the file where their rows can be read there. */
const maxKeptBytes = 4 << 20;

/** Names of the parts of an index, in the order of their IVs. */
const indexParts = ['index', 'path-hash index', 'directory index'] as const;

interface IndexAccess {
  source: FillingSource;
  footer: Footer;
  keys: readonly Uint8Array[];
  /** Go on when a hash does not match, and say so in `problems`. */
  ignoreHashes: boolean;
}

/** Reads the parts of an index: decrypts them, checks their hashes, and finds the key that fits. */
export class IndexOpener {
  readonly #access: IndexAccess;
  /** Hashes that did not match. */
  readonly problems: PakProblem[] = [];
  /** The key that opened the index, once it did. */
  key: Uint8Array | undefined;

  constructor(access: IndexAccess) {
    this.#access = access;
  }

  /**
   * Reads a part.
   * @param part its number in {@link indexParts}
   * @throws E_KEY_MISSING when no key fits, E_INTEGRITY when its hash does not match, E_FORMAT_RANGE, E_FORMAT_TRUNCATED
   */
  async read(range: PartRange, part: 0 | 1 | 2): Promise<Uint8Array> {
    const { source, footer } = this.#access;
    const what = this.#nameOf(range, part);
    const stored = await readShared(source, range);
    const bytes = footer.encryptedIndex ? this.#decrypt(stored, { range, part, what }) : stored;
    if (!isHash(bytes, range.hash)) this.#differs(range, sha1(bytes), what);
    return bytes;
  }

  /**
   * As {@link read} of the first part, but a large one that is not encrypted stays in a file.
   * @returns its bytes, or where they lie
   */
  async readOrLeave(range: PartRange): Promise<Uint8Array | IndexStretch> {
    const { source, footer } = this.#access;
    const { offset, size, hash } = range;
    if (footer.encryptedIndex || size <= maxKeptBytes || source.readInto === undefined) return this.read(range, 0);
    const what = this.#nameOf(range, 0);
    checkRange(source, offset, size);
    const found = isAllZero(hash) ? hash : hashOfStretch(source, { offset, size });
    if (!equalBytes(found, hash)) this.#differs(range, found, what);
    return { offset, size };
  }

  /** Names a part in errors. Throws E_FORMAT_RANGE where it is larger than any. */
  #nameOf({ size }: PartRange, part: 0 | 1 | 2): string {
    const what = `${this.#access.source.name}: the ${indexParts[part]}`;
    if (size > maxIndexBytes) throw formatError('E_FORMAT_RANGE', what, `has ${size} bytes`);
    return what;
  }

  #decrypt(stored: Uint8Array, { range, part, what }: { range: PartRange; part: 0 | 1 | 2; what: string }): Uint8Array {
    const { footer, keys } = this.#access;
    const unit = { encryption: footer.encryption, iv: footer.ivs[part] };
    if (this.key !== undefined) return decryptUnit(stored, this.key, { unit });
    let damaged: { key: Uint8Array; bytes: Uint8Array } | undefined;
    for (const key of keys) {
      if (!looksLikeIndex(decryptUnit(stored.subarray(0, 64), key, { unit }))) continue;
      const bytes = decryptUnit(stored, key, { unit });
      if (isHash(bytes, range.hash)) {
        this.key = key;
        return bytes;
      }
      damaged ??= { key, bytes };
    }
    if (damaged === undefined) throw missingKey(what, footer, { given: keys.length });
    this.key = damaged.key;
    return damaged.bytes;
  }

  #differs({ hash }: PartRange, found: Uint8Array, what: string): void {
    const error = new PakratError('E_INTEGRITY', `${what} does not have the SHA-1 that it should`, {
      hint: 'The PAK is damaged, or was changed by hand; the directory can be read all the same when hashes are ignored.',
      data: { expected: toHex(hash), found: toHex(found) },
    });
    if (!this.#access.ignoreHashes) throw error;
    this.problems.push({ code: error.code, message: error.message });
  }
}

/** Bytes of a source, in memory that threads can share where the source fills such. Throws as the source does. */
async function readShared(source: FillingSource, { offset, size }: PartRange): Promise<Uint8Array> {
  if (source.readInto === undefined) return source.read(offset, size);
  checkRange(source, offset, size);
  const bytes = sharedBytes(size);
  source.readInto(bytes, offset);
  return bytes;
}

/** SHA-1 of bytes that are not to be in memory together. */
function hashOfStretch(source: FillingSource, { offset, size }: IndexStretch): Buffer {
  const hash = createHash('sha1');
  const piece = new Uint8Array(pieceSize);
  for (let at = 0; at < size; at += pieceSize) {
    const part = piece.subarray(0, size - at);
    source.readInto?.(part, offset + at);
    hash.update(part);
  }
  return hash.digest();
}

/** True when the hash is that of the bytes, or was left empty. */
function isHash(bytes: Uint8Array, hash: Uint8Array): boolean {
  return isAllZero(hash) || equalBytes(sha1(bytes), hash);
}
