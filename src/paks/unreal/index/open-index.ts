import { createHash } from 'node:crypto';
import { checkRange } from '../../../core/byte-source.ts';
import { equalBytes, isAllZero, toHex } from '../../../core/bytes.ts';
import { PakratError } from '../../../core/errors.ts';
import { sha1 } from '../../../core/hash.ts';
import { pieceSize } from '../../../files/pieces.ts';
import type { FillingSource } from '../../../files/scratch.ts';
import type { PakProblem } from '../../pak.ts';
import type { Footer } from '../footer.ts';
import { decryptUnit, looksLikeIndex, missingKey } from '../keys.ts';
import type { PartRange } from './primary-index.ts';
import { type IndexCipher, type IndexStretch, sharedBytes } from './rows/shared-rows.ts';
import { demandSize, maxWholeBytes, windowsOf } from './rows/windows.ts';

/** Larger ones stay in the file where their rows can be read there. */
const maxKeptBytes = 4 << 20;
/** Larger ones are taken for damage: places in them are numbers of 32 bits. */
const maxLeftBytes = 0xffff_ffff;
/** So much of a part tells whether a key can be its own. */
const startBytes = 64;

/** Names of the parts of an index, in the order of their IVs. */
const indexParts = ['index', 'path-hash index', 'directory index'] as const;

interface OpenedPart {
  range: PartRange;
  part: 0 | 1 | 2;
  what: string;
}

interface HashedPart<T> {
  opened: T;
  hash: () => Uint8Array;
}

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
    const what = this.#nameOf(part);
    demandSize(range.size, what, maxWholeBytes);
    const stored = await readShared(this.#access.source, range);
    return this.#open({ range, part, what }, (cipher) => {
      const bytes = cipher === undefined ? stored : decryptUnit(stored, cipher.key, cipher);
      return { opened: bytes, hash: () => sha1(bytes) };
    });
  }

  /**
   * As {@link read}, but a large part stays in a file.
   * @param kept how large one may be that does not
   * @returns its bytes, or where they lie
   */
  async readOrLeave(range: PartRange, part: 0 | 1 | 2, kept = maxKeptBytes): Promise<Uint8Array | IndexStretch> {
    const { source } = this.#access;
    const { offset, size } = range;
    if (size <= kept || source.readInto === undefined) return this.read(range, part);
    const what = this.#nameOf(part);
    demandSize(size, what, maxLeftBytes);
    checkRange(source, offset, size);
    return this.#open({ range, part, what }, (cipher) => {
      const stretch = { offset, size, cipher };
      return { opened: stretch, hash: () => hashOfStretch(stretch, source) };
    });
  }

  /** Names a part in errors. */
  #nameOf(part: 0 | 1 | 2): string {
    return `${this.#access.source.name}: the ${indexParts[part]}`;
  }

  /** Opens a part with the key that fits, where it needs one, and checks its hash. */
  async #open<T>({ range, part, what }: OpenedPart, openWith: (cipher?: IndexCipher) => HashedPart<T>): Promise<T> {
    const isHashed = !isAllZero(range.hash);
    let damaged: { cipher: IndexCipher | undefined; found: Uint8Array; opened: T } | undefined;
    for (const cipher of await this.#ciphers(range, part)) {
      const { opened, hash } = openWith(cipher);
      const found = isHashed ? hash() : range.hash;
      if (equalBytes(found, range.hash)) {
        this.key = cipher?.key;
        return opened;
      }
      damaged ??= { cipher, found, opened };
    }
    if (damaged === undefined) throw missingKey(what, this.#access.footer, { given: this.#access.keys.length });
    this.key = damaged.cipher?.key;
    this.#differs(range, damaged.found, what);
    return damaged.opened;
  }

  /** All that a part may be decrypted with; undefined alone where it is not encrypted. */
  async #ciphers({ offset, size }: PartRange, part: 0 | 1 | 2): Promise<(IndexCipher | undefined)[]> {
    const { source, footer, keys } = this.#access;
    if (!footer.encryptedIndex) return [undefined];
    const unit = { encryption: footer.encryption, iv: footer.ivs[part] };
    if (this.key !== undefined) return [{ unit, key: this.key }];
    const start = await source.read(offset, Math.min(startBytes, size));
    return keys.map((key) => ({ unit, key })).filter(({ key }) => looksLikeIndex(decryptUnit(start, key, { unit })));
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
function hashOfStretch(stretch: IndexStretch, source: FillingSource): Buffer {
  const hash = createHash('sha1');
  const windows = windowsOf(stretch, source);
  const memory = new Uint8Array(pieceSize);
  for (let at = 0; at < windows.size; at += pieceSize) hash.update(windows.read(at, pieceSize, memory).bytes);
  return hash.digest();
}
