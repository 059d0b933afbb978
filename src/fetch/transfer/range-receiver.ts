import { isStoreTrouble } from '../../core/errors.ts';
import { bltePrefixSize } from '../../formats/blte/header.ts';
import { objectHash } from '../../store/layout.ts';
import { EntryVerifier } from '../../verify/entry-verifier.ts';
import type { HashBuffer, HashStream } from '../../verify/hash-buffer.ts';
import { SmallEntries } from '../../verify/small-entries.ts';
import type { RangeJob, RangeTarget } from './range-job.ts';
import type { PackedJob } from './range-targets.ts';
import type { SpanWriter } from './span-writer.ts';

/** Wrong entries in a row after which the rest of an answer is not worth its bytes, unless there is patience for them. */
const wrongInARow = 3;
const adoptBytes = 1024 * 1024;
/** Bytes of a file that are read at once to see where entries lie. */
const peekBytes = 16 * 1024;

/** An entry of a job, and whether it is a patch. */
type JobTarget = RangeTarget & Pick<PackedJob, 'raw'>;

/**
 * True when the file seems to have bytes of the entry that the ledger does not know of: a run that was killed wrote them, or the ledger is new.
 * They only count once they are hashed and flushed, but they need not be fetched.
 */
function isOnDisk(writer: SpanWriter, target: JobTarget, { at, crypt }: { at: number; crypt: Crypt }): boolean {
  const position = target.offset + at;
  if (at >= target.size || position >= writer.size) return false;
  const [first] = crypt(writer.read(position, 1), position);
  return first !== undefined && (at > 0 || target.raw ? first !== 0 : first === entryStart);
}

/** The first byte of BLTE. */
const entryStart = 0x42;

/** Encrypts or decrypts bytes that stand at a position of the object; gives them back as they are when it is not encrypted. */
type Crypt = (bytes: Uint8Array, position: number) => Uint8Array;

/** The cipher of a job's object. */
export async function cryptOf({ path, objectKey }: Pick<RangeJob, 'path' | 'objectKey'>): Promise<Crypt> {
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

/** What is known of an entry: nothing; something, by a verifier of its own; all of it is right, which was found out together with others; none of it is. */
const states = { untouched: 0, opened: 1, right: 2, wrong: 3 };

/** Leads the bytes of an answer to the entries that they belong to. Bytes between entries are dropped, never written. Needs `close`. */
export class RangeReceiver {
  /** The first offset that is needed. */
  readonly start: number;
  /** The first thing that was wrong with an entry. */
  problem: unknown;
  /** Bytes of entries that came wrong. */
  wrongBytes = 0;
  /** The host answered a range as it was asked; for whoever reads its answer. */
  rangeServed = false;
  readonly #job: PackedJob;
  readonly #writer: SpanWriter;
  /** Hashes are over what is decrypted, the store has what came. */
  readonly #crypt: Crypt;
  readonly #stream: HashStream;
  /** Absent where its entries are of another kind, or their bytes are encrypted. */
  readonly #small: SmallEntries | undefined;
  /** What is known of each entry: one of {@link states}. */
  readonly #states: Uint8Array;
  /** Of the entries that bytes came of, or were there of, and that are not known to be right: an entry that is waited for takes no memory. */
  readonly #verifiers = new Map<number, EntryVerifier>();
  /** Entries that no bytes can be right for, as a bad index may list. */
  readonly #impossible = new Set<number>();
  /** Where the bytes of an entry are needed from, where that is not its start. */
  readonly #from = new Map<number, number>();
  /** Bytes of the file as it was found, and where they lie. */
  #peeked: { at: number; bytes: Uint8Array } = { at: 0, bytes: new Uint8Array() };
  #adopting = true;
  #current = 0;
  /** Entries before this one are known to be right or wrong. */
  #judged = 0;
  /** Wrong entries in a row up to there, and the most of them. */
  #wrong = 0;
  #mostWrong = 0;

  /** @throws E_STORE… */
  constructor(
    job: PackedJob,
    writer: SpanWriter,
    { buffer, small, crypt }: { buffer: HashBuffer; small?: SmallEntries | undefined; crypt: Crypt },
  ) {
    const { targets } = job;
    this.#job = job;
    this.#small = job.raw === true || job.objectKey !== undefined ? undefined : small;
    this.#states = new Uint8Array(targets.length);
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
      for (let index = 0; index < targets.length; index++) {
        const isThere = targets.held(index) > 0 || this.#isOnDisk(index);
        if (isThere) this.#open(index, () => this.#resumed(index));
        else if (targets.size(index) <= bltePrefixSize) this.#begin(index);
      }
    } catch (error) {
      this.#stream.close();
      throw error;
    }
    this.#adopting = false;
    const isNeeded = (index: number): boolean =>
      !this.#impossible.has(index) && this.#verifiers.get(index)?.done !== true;
    let first = 0;
    while (first < targets.length && !isNeeded(first)) first++;
    this.start = first === targets.length ? job.end : (this.#from.get(first) ?? targets.offset(first));
  }

  #target(index: number): JobTarget {
    return { ...this.#job.targets.at(index), raw: this.#job.raw === true };
  }

  /** As {@link isOnDisk}; asked of each of thousands, in their order, which lie behind the end of the file or where nothing was written yet. */
  #isOnDisk(index: number): boolean {
    const { targets, raw } = this.#job;
    const offset = targets.offset(index);
    if (targets.size(index) === 0 || offset >= this.#writer.size) return false;
    if (offset >= this.#peeked.at + this.#peeked.bytes.length || offset < this.#peeked.at)
      this.#peeked = { at: offset, bytes: this.#writer.read(offset, peekBytes) };
    const at = offset - this.#peeked.at;
    const [first] = this.#crypt(this.#peeked.bytes.subarray(at, at + 1), offset);
    return first !== undefined && (raw === true ? first !== 0 : first === entryStart);
  }

  #begin(index: number): void {
    this.#open(index, () => new EntryVerifier(this.#target(index), this.#stream));
  }

  /** Opens the verifier of an entry, where bytes can be right for it. */
  #open(index: number, open: () => EntryVerifier): void {
    this.#states[index] = states.opened;
    try {
      this.#verifiers.set(index, open());
    } catch (error) {
      if (isStoreTrouble(error)) throw error;
      this.problem ??= error;
      this.#impossible.add(index);
    }
  }

  /** A verifier that goes on behind what is on disk. */
  #resumed(index: number): EntryVerifier {
    const target = this.#target(index);
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
    const { targets } = this.#job;
    for (; at < end; this.#current += 1) {
      at = this.#takeSmall(at, piece, position);
      const index = this.#current;
      if (index >= targets.length) break;
      at = Math.max(at, this.#from.get(index) ?? targets.offset(index));
      const targetEnd = targets.end(index);
      const until = Math.min(end, targetEnd);
      if (until > at) this.#give(index, this.#crypt(piece.subarray(at - position, until - position), at));
      if (until < targetEnd) break;
      at = Math.max(at, until);
    }
    if (this.#stream.hasComplete && this.#writer.isDue) this.#stream.flush();
    this.#judge();
    if (this.#mostWrong >= wrongInARow && this.wrongBytes > (this.#job.patience ?? 0)) throw this.problem;
  }

  /**
   * Takes small entries from the current one on that are in a piece whole. Right ones are written, neighbours together; what another one is a verifier
   * finds out.
   * @param from where to go on in the object
   * @returns where to go on then
   */
  #takeSmall(from: number, piece: Uint8Array, position: number): number {
    const { targets } = this.#job;
    const first = this.#current;
    const end = this.#endOfSmall(from, position + piece.length);
    if (this.#small === undefined || end === first) return from;
    const bytesOf = (index: number, last: number): Uint8Array =>
      piece.subarray(targets.offset(index) - position, targets.end(last) - position);
    const start = targets.offset(first);
    const right = this.#small.check({ bytes: bytesOf(first, end - 1), position: start }, targets, first, end);
    for (let index = first; index < end; ) {
      let next = index + 1;
      if (right[index - first] === 1) {
        while (next < end && right[next - first] === 1 && targets.offset(next) === targets.end(next - 1)) next++;
        this.#writer.write(targets.offset(index), bytesOf(index, next - 1));
        this.#states.fill(states.right, index, next);
      } else {
        this.#give(index, bytesOf(index, index));
      }
      index = next;
    }
    this.#current = end;
    return targets.end(end - 1);
  }

  /** The first entry, from the current one on, that does not lie between two offsets, is not small, was seen before, or is too many. */
  #endOfSmall(from: number, until: number): number {
    const { targets } = this.#job;
    let index = this.#current;
    if (this.#small === undefined || index >= targets.length) return index;
    // What a socket kept while it was not read comes in one piece.
    const limit = Math.min(until, targets.offset(index) + this.#small.pieceBytes);
    while (
      index < targets.length &&
      targets.offset(index) >= from &&
      targets.end(index) <= limit &&
      targets.size(index) <= SmallEntries.maxSize &&
      this.#states[index] === states.untouched
    )
      index++;
    return index;
  }

  /** Gives bytes to an entry. */
  #give(index: number, bytes: Uint8Array): void {
    if (this.#impossible.has(index)) return;
    if (!this.#verifiers.has(index)) this.#begin(index);
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
    for (; this.#judged < this.#states.length; this.#judged++) {
      if (this.#states[this.#judged] === states.right) {
        this.#wrong = 0;
        continue;
      }
      const verifier = this.#verifiers.get(this.#judged);
      if (verifier?.failure !== undefined) {
        this.problem ??= verifier.failure;
        this.wrongBytes += this.#job.targets.size(this.#judged);
        this.#wrong += 1;
        this.#mostWrong = Math.max(this.#mostWrong, this.#wrong);
        this.#forget(this.#judged, verifier);
      } else if (verifier?.done === true) {
        this.#wrong = 0;
        this.#states[this.#judged] = states.right;
        this.#verifiers.delete(this.#judged);
      } else if (!this.#impossible.has(this.#judged)) {
        return;
      }
    }
  }

  /** Lets go of an entry that is wrong, none of which is right, and of which no more bytes come: there may be thousands. */
  #forget(index: number, verifier: EntryVerifier): void {
    if (index >= this.#current || verifier.verified > 0) return;
    this.#states[index] = states.wrong;
    this.#verifiers.delete(index);
  }

  /** For each entry the bytes from its start that are verified. */
  verified(): Float64Array {
    const verified = new Float64Array(this.#states.length);
    for (let index = 0; index < verified.length; index++) {
      const open = this.#verifiers.get(index);
      const isRight = this.#states[index] === states.right;
      verified[index] = open !== undefined ? open.verified : isRight ? this.#job.targets.size(index) : 0;
    }
    return verified;
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
