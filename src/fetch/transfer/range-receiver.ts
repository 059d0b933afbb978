import { isStoreTrouble } from '../../core/errors.ts';
import { bltePrefixSize } from '../../formats/blte/header.ts';
import { objectHash } from '../../store/layout.ts';
import { EntryVerifier } from '../../verify/entry-verifier.ts';
import type { HashBuffer, HashStream } from '../../verify/hash-buffer.ts';
import type { RangeJob, RangeTarget } from './range-job.ts';
import type { SpanWriter } from './span-writer.ts';

/** Wrong entries in a row after which the rest of an answer is not worth its bytes. */
const wrongInARow = 3;
const adoptBytes = 1024 * 1024;

/**
 * True when the file seems to have bytes of the entry that the ledger does not know of: a run that was killed wrote them, or the ledger is new.
 * They only count once they are hashed and flushed, but they need not be fetched.
 */
function isOnDisk(writer: SpanWriter, target: RangeTarget, { at, crypt }: { at: number; crypt: Crypt }): boolean {
  const position = target.offset + at;
  if (at >= target.size || position >= writer.size) return false;
  const [first] = crypt(writer.read(position, 1), position);
  return first !== undefined && (at > 0 || target.raw ? first !== 0 : first === 0x42);
}

/** Encrypts or decrypts bytes that stand at a position of the object; gives them back as they are when it is not encrypted. */
type Crypt = (bytes: Uint8Array, position: number) => Uint8Array;

/** The cipher of a job's object. */
export async function cryptOf({ path, objectKey }: RangeJob): Promise<Crypt> {
  if (objectKey === undefined) return (bytes) => bytes;
  // Few objects are encrypted: the cipher is loaded for those only.
  const { armadillo } = await import('../../formats/armadillo.ts');
  const object = { key: objectKey, hash: objectHash(path) };
  return (bytes, offset) => armadillo(bytes, { ...object, offset });
}

/** Gives a verifier the bytes on disk, until these end or are wrong. */
function adoptFromDisk(
  verifier: EntryVerifier,
  from: number,
  read: (offset: number, size: number) => Uint8Array,
): void {
  try {
    for (let at = from; at < verifier.size; ) {
      const piece = read(at, Math.min(adoptBytes, verifier.size - at));
      if (piece.length === 0) break;
      verifier.push(piece);
      at += piece.length;
    }
    verifier.flush();
  } catch (error) {
    if (isStoreTrouble(error)) throw error;
  }
}

/** Leads the bytes of an answer to the entries that they belong to. Bytes between entries are dropped, never written. Needs `close`. */
export class RangeReceiver {
  /** The first offset that is needed. */
  readonly start: number;
  /** The first thing that was wrong with an entry. */
  problem: unknown;
  /** The host answered a range as it was asked; for whoever reads its answer. */
  rangeServed = false;
  readonly #job: RangeJob;
  readonly #writer: SpanWriter;
  /** Hashes are over what is decrypted, the store has what came. */
  readonly #crypt: Crypt;
  readonly #stream: HashStream;
  /** Of the entries that bytes came of, or were there of, and that are not known to be right: an entry that is waited for takes no memory. */
  readonly #verifiers = new Map<number, EntryVerifier>();
  /** Entries that no bytes can be right for, as a bad index may list. */
  readonly #impossible = new Set<number>();
  /** Where the bytes of an entry are needed from, where that is not its start. */
  readonly #from = new Map<number, number>();
  #adopting = true;
  #current = 0;
  /** Entries before this one are known to be right or wrong. */
  #judged = 0;
  #wrong = 0;

  /** @throws E_STORE… */
  constructor(job: RangeJob, writer: SpanWriter, { buffer, crypt }: { buffer: HashBuffer; crypt: Crypt }) {
    this.#job = job;
    this.#writer = writer;
    this.#crypt = crypt;
    this.#stream = buffer.open({
      write: (position, bytes) => {
        if (this.#adopting) writer.adopt(position, bytes.length);
        else writer.write(position, this.#crypt(bytes, position));
      },
      spool: () => writer.spool(),
    });
    try {
      for (const [index, target] of job.targets.entries()) {
        const isThere = target.held > 0 || isOnDisk(writer, target, { at: 0, crypt });
        if (isThere) this.#open(index, () => this.#resumed(target, index));
        else if (target.size <= bltePrefixSize) this.#open(index, () => new EntryVerifier(target, this.#stream));
      }
    } catch (error) {
      this.#stream.close();
      throw error;
    }
    this.#adopting = false;
    this.start = job.targets.reduce((least, { offset }, index) => {
      const isNeeded = !this.#impossible.has(index) && this.#verifiers.get(index)?.done !== true;
      return isNeeded ? Math.min(least, this.#from.get(index) ?? offset) : least;
    }, job.end);
  }

  /** Opens the verifier of an entry, where bytes can be right for it. */
  #open(index: number, open: () => EntryVerifier): void {
    try {
      this.#verifiers.set(index, open());
    } catch (error) {
      if (isStoreTrouble(error)) throw error;
      this.problem ??= error;
      this.#impossible.add(index);
    }
  }

  /** A verifier that goes on behind what is on disk. */
  #resumed(target: RangeTarget, index: number): EntryVerifier {
    const writer = this.#writer;
    const crypt = this.#crypt;
    const read = (offset: number, size: number): Uint8Array =>
      crypt(writer.read(target.offset + offset, size), target.offset + offset);
    const held = (size: number): Uint8Array => read(0, size);
    let verifier = new EntryVerifier(target, this.#stream);
    let at = target.held > 0 ? verifier.resume(target.held, held) : 0;
    if (isOnDisk(writer, target, { at, crypt })) {
      adoptFromDisk(verifier, at, read);
      at = verifier.verified;
      if (!verifier.done) {
        verifier.close();
        verifier = new EntryVerifier(target, this.#stream);
        at = at > 0 ? verifier.resume(at, held) : 0;
      }
    }
    this.#from.set(index, target.offset + at);
    return verifier;
  }

  /** True when nothing behind this point is wanted. */
  get finished(): boolean {
    return this.#current >= this.#job.targets.length;
  }

  /** Takes bytes that stand at `position` of the object. @throws E_STORE…, or the host's fault when too much is wrong */
  push(position: number, piece: Uint8Array): void {
    let at = position;
    const end = position + piece.length;
    for (; at < end; this.#current += 1) {
      const target = this.#job.targets[this.#current];
      if (target === undefined) break;
      const targetEnd = target.offset + target.size;
      at = Math.max(at, this.#from.get(this.#current) ?? target.offset);
      const until = Math.min(end, targetEnd);
      if (until > at) this.#give(target, this.#crypt(piece.subarray(at - position, until - position), at));
      if (until < targetEnd) break;
      at = Math.max(at, until);
    }
    if (this.#stream.hasComplete && this.#writer.isDue) this.#stream.flush();
    this.#judge();
    if (this.#wrong >= wrongInARow) throw this.problem;
  }

  /** Gives bytes to the current entry. */
  #give(target: RangeTarget, bytes: Uint8Array): void {
    const index = this.#current;
    if (this.#impossible.has(index)) return;
    if (!this.#verifiers.has(index)) this.#open(index, () => new EntryVerifier(target, this.#stream));
    const verifier = this.#verifiers.get(index);
    if (verifier === undefined) return;
    if (verifier.failure !== undefined) {
      // Its bytes must leave the buffer before those of the next entry come.
      verifier.close();
      return;
    }
    try {
      verifier.push(bytes);
    } catch (error) {
      if (isStoreTrouble(error)) throw error;
    }
  }

  /** Looks which entries turned out right or wrong, in their order. */
  #judge(): void {
    for (; this.#judged < this.#job.targets.length; this.#judged++) {
      const verifier = this.#verifiers.get(this.#judged);
      if (verifier?.failure !== undefined) {
        this.problem ??= verifier.failure;
        this.#wrong += 1;
      } else if (verifier?.done === true) {
        this.#wrong = 0;
        this.#verifiers.delete(this.#judged);
      } else if (!this.#impossible.has(this.#judged)) {
        return;
      }
    }
  }

  /** For each entry the bytes from its start that are verified. */
  verified(): number[] {
    return this.#job.targets.map(({ size }, index) => {
      const open = this.#verifiers.get(index);
      if (open !== undefined) return open.verified;
      return index < this.#judged && !this.#impossible.has(index) ? size : 0;
    });
  }

  /** Hashes all that is complete, and gives the memory back. @throws E_STORE… */
  close(): void {
    try {
      for (const verifier of this.#verifiers.values()) verifier.close();
      this.#stream.flush();
      this.#judge();
    } finally {
      this.#stream.close();
    }
  }
}
