import type { HttpGetter } from '../cdn/http.ts';
import { checkRangeHead } from '../cdn/http-head.ts';
import type { RateLimit } from '../cdn/rate-limit.ts';
import { codeOf, type ErrorData, messageOf, PakratError } from '../core/errors.ts';
import { storeError } from '../store/durable.ts';
import { objectHash } from '../store/layout.ts';
import type { Span } from '../store/spans.ts';
import { EntryVerifier } from './entry-verifier.ts';
import { SpanWriter } from './span-writer.ts';
import type { Stage, StageRoom } from './stage.ts';

/** An entry that is to be fetched as part of a range. */
export interface RangeTarget {
  /** Hex. */
  ekey: string;
  /** Where it starts in the object. */
  offset: number;
  /** Encoded size. */
  size: number;
  /** Bytes from its start that the store holds already, verified. */
  held: number;
  /** A patch: no BLTE, its key is the MD5 of its bytes. */
  raw?: boolean;
}

/** A stretch of one object that is fetched in one go, with the entries in it that are wanted. */
export interface RangeJob {
  /** Path of the object below a host, and in the ledger. */
  path: string;
  /** File of the store that its bytes go to, at the same offsets. */
  file: string;
  start: number;
  end: number;
  /** In the order of their offsets, none overlapping another. */
  targets: RangeTarget[];
  /** Take an answer that is the whole object, for hosts that know no ranges. */
  allowWhole?: boolean;
  /** The key that the object is encrypted with as a whole. */
  objectKey?: Uint8Array | undefined;
}

/** What came of a job. */
export interface RangeResult {
  /** For each target the bytes from its start that are verified now. */
  verified: number[];
  /** Whether the host answered a range as it was asked. */
  rangeServed: boolean;
  /** The first thing that was wrong with the host's answer, or that went wrong here. */
  error?: { code: string; message: string; hint: string | undefined; data: ErrorData } | undefined;
}

/** What a job needs around it. */
export interface RangeTools {
  http: HttpGetter;
  rate: RateLimit;
  /** Where bytes wait for their hash. */
  room: StageRoom;
  /** Folder for temporary files. */
  temporary: string;
  /** Largest single range to ask for. */
  maxRangeBytes: number;
  /** Slowest transfer that is waited for, in bytes a second; 0 for no such bound. */
  slowestBytesPerSecond: number;
  onSpans: (path: string, spans: Span[]) => void;
  onReceived: (bytes: number) => void;
  onRequest: () => void;
}

/** After so many wrong entries in a row the rest of an answer is not worth its bytes. */
const wrongInARow = 3;
const slowWindowMs = 15_000;

/**
 * Fetches one range from one host: each entry in it is checked as it arrives, right bytes are written and flushed,
 * a wrong entry is passed over. Never throws for what the host did: the result says how far each entry came.
 */
export async function fetchRange(
  job: RangeJob,
  base: string,
  tools: RangeTools & { signal?: AbortSignal | undefined },
): Promise<RangeResult> {
  const writer = new SpanWriter({
    file: job.file,
    temporary: tools.temporary,
    report: (spans) => tools.onSpans(job.path, spans),
  });
  let reception: Reception | undefined;
  let errors: unknown[] = [];
  try {
    reception = new Reception(job, writer, { room: tools.room, crypt: await cryptOf(job) });
    await download(job, `${base}/${job.path}`, { ...tools, reception });
  } catch (error) {
    errors.push(error);
  }
  try {
    reception?.close();
  } catch (error) {
    errors.unshift(error);
  }
  if (reception?.problem !== undefined) errors.unshift(reception.problem);
  await writer.finish().catch((error) => errors.unshift(error));
  errors = errors.map((error) => storeError(error, job.file));
  const local = errors.find((error) => codeOf(error)?.startsWith('E_STORE'));
  return {
    // What is not on disk is not verified, however right it was.
    verified:
      local === undefined && reception !== undefined ? reception.verified() : job.targets.map(({ held }) => held),
    rangeServed: reception?.rangeServed === true,
    error: plainError(local ?? errors[0]),
  };
}

async function download(
  job: RangeJob,
  url: string,
  tools: RangeTools & { reception: Reception; signal?: AbortSignal | undefined },
): Promise<void> {
  const { reception } = tools;
  for (let at = reception.start; at < job.end; ) {
    const range = { start: at, end: Math.min(at + tools.maxRangeBytes, job.end) };
    const slow = new SlownessGuard(tools.slowestBytesPerSecond, url);
    const controller = new AbortController();
    const signal = tools.signal === undefined ? controller.signal : AbortSignal.any([tools.signal, controller.signal]);
    const timer = setInterval(() => slow.check((error) => controller.abort(error)), slowWindowMs / 3);
    let position = at;
    let bodyEnd = range.end;
    tools.onRequest();
    try {
      await tools.http.get({
        url,
        range,
        signal,
        onHead: (head) => {
          position = checkRangeHead(head, range, { url, allowWhole: job.allowWhole === true });
          if (head.status === 206) reception.rangeServed = true;
          if (head.status === 200) bodyEnd = Number(head.headers['content-length'] ?? Number.POSITIVE_INFINITY);
        },
        onData: (piece) => {
          slow.count(piece.length);
          tools.onReceived(piece.length);
          reception.push(position, piece);
          position += piece.length;
          if (reception.finished && position < bodyEnd) throw finishedEarly;
          if (position > bodyEnd) throw new PakratError('E_NETWORK_RANGE', `${url}: more bytes than asked`);
          return tools.rate.take(piece.length);
        },
      });
    } catch (error) {
      if (error === finishedEarly) return;
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      clearInterval(timer);
    }
    if (position < range.end)
      throw new PakratError('E_NETWORK', `${url}: the answer ended ${range.end - position} bytes early`);
    at = position;
  }
}

/** Thrown to leave an answer that goes on behind the last entry wanted. Carries a code of ours so that it passes untouched. */
const finishedEarly = new PakratError('E_ABORTED', 'all entries of the range are here');

/** Notices a transfer that crawls: fewer bytes than allowed over a whole window. */
class SlownessGuard {
  #bytes = 0;
  #since = performance.now();
  readonly #slowest: number;
  readonly #url: string;

  constructor(slowest: number, url: string) {
    this.#slowest = slowest;
    this.#url = url;
  }
  count(bytes: number): void {
    this.#bytes += bytes;
  }
  check(giveUp: (error: PakratError) => void): void {
    const ms = performance.now() - this.#since;
    if (ms < slowWindowMs) return;
    const rate = this.#bytes / (ms / 1000);
    if (rate < this.#slowest) {
      giveUp(new PakratError('E_NETWORK_TIMEOUT', `${this.#url}: only ${Math.round(rate)} bytes a second came`));
    }
    this.#bytes = 0;
    this.#since = performance.now();
  }
}

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

async function cryptOf({ path, objectKey }: RangeJob): Promise<Crypt> {
  if (objectKey === undefined) return (bytes) => bytes;
  // Few objects are encrypted: the cipher is loaded for those only.
  const { armadillo } = await import('../formats/armadillo.ts');
  const object = { key: objectKey, hash: objectHash(path) };
  return (bytes, offset) => armadillo(bytes, { ...object, offset });
}

/** Feeds a verifier with what is on disk, until that ends or is wrong. */
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
    verifier.settle();
  } catch (error) {
    if (codeOf(error)?.startsWith('E_STORE')) throw error;
  }
}

/** Leads the bytes of an answer to the entries that they belong to. Bytes between entries are dropped, never written. */
class Reception {
  /** The first offset that is needed. */
  readonly start: number;
  problem: unknown;
  rangeServed = false;
  readonly #job: RangeJob;
  readonly #writer: SpanWriter;
  /** Hashes are over what is decrypted, the store has what came. */
  readonly #crypt: Crypt;
  readonly #stage: Stage;
  readonly #verifiers: (EntryVerifier | undefined)[];
  readonly #from: number[] = [];
  #adopting = true;
  #current = 0;
  /** Entries before this one are known to be right or wrong. */
  #judged = 0;
  #wrong = 0;

  constructor(job: RangeJob, writer: SpanWriter, { room, crypt }: { room: StageRoom; crypt: Crypt }) {
    this.#job = job;
    this.#writer = writer;
    this.#crypt = crypt;
    this.#stage = room.open({
      write: (position, bytes) => {
        if (this.#adopting) writer.adopt(position, bytes.length);
        else writer.write(position, this.#crypt(bytes, position));
      },
      spool: () => writer.spool(),
    });
    try {
      this.#verifiers = job.targets.map((target, index) => this.#tryOpen(target, index));
    } catch (error) {
      this.#stage.close();
      throw error;
    }
    this.#adopting = false;
    this.start = this.#from.reduce(
      (least, from, i) => (this.#verifiers[i]?.done === false ? Math.min(least, from) : least),
      job.end,
    );
  }

  /** A verifier for an entry; undefined for one that no bytes can be right for, as a bad index may list. */
  #tryOpen(target: RangeTarget, index: number): EntryVerifier | undefined {
    this.#from[index] = target.offset + target.size;
    try {
      return this.#open(target, index);
    } catch (error) {
      if (codeOf(error)?.startsWith('E_STORE')) throw error;
      this.problem ??= error;
      return undefined;
    }
  }

  #open(target: RangeTarget, index: number): EntryVerifier {
    const writer = this.#writer;
    const crypt = this.#crypt;
    const read = (offset: number, size: number): Uint8Array =>
      crypt(writer.read(target.offset + offset, size), target.offset + offset);
    const held = (size: number): Uint8Array => read(0, size);
    let verifier = new EntryVerifier(target, this.#stage);
    let at = target.held > 0 ? verifier.resume(target.held, held) : 0;
    if (isOnDisk(writer, target, { at, crypt })) {
      adoptFromDisk(verifier, at, read);
      at = verifier.verified;
      if (!verifier.done) {
        verifier.close();
        verifier = new EntryVerifier(target, this.#stage);
        at = at > 0 ? verifier.resume(at, held) : 0;
      }
    }
    this.#from[index] = target.offset + at;
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
    while (this.#current < this.#job.targets.length && at < end) {
      const target = this.#job.targets[this.#current]!;
      const targetEnd = target.offset + target.size;
      at = Math.max(at, this.#from[this.#current]!);
      const until = Math.min(end, targetEnd);
      if (until > at) this.#give(this.#current, this.#crypt(piece.subarray(at - position, until - position), at));
      if (until < targetEnd) break;
      this.#current += 1;
      at = Math.max(at, until);
    }
    if (this.#stage.hasComplete && this.#writer.isDue) this.#stage.settle();
    this.#judge();
    if (this.#wrong >= wrongInARow) throw this.problem;
  }

  #give(index: number, bytes: Uint8Array): void {
    const verifier = this.#verifiers[index];
    if (verifier === undefined || verifier.failure !== undefined) return;
    try {
      verifier.push(bytes);
    } catch (error) {
      if (codeOf(error)?.startsWith('E_STORE')) throw error;
    }
  }

  /** Looks which entries turned out right or wrong, in their order. */
  #judge(): void {
    for (; this.#judged < this.#verifiers.length; this.#judged++) {
      const verifier = this.#verifiers[this.#judged];
      if (verifier?.failure !== undefined) {
        if (this.#judged === this.#current) verifier.close();
        this.problem ??= verifier.failure;
        this.#wrong += 1;
      } else if (verifier?.done === true) {
        this.#wrong = 0;
      } else if (verifier !== undefined) {
        return;
      }
    }
  }

  verified(): number[] {
    return this.#verifiers.map((verifier) => verifier?.verified ?? 0);
  }

  /** Settles what is complete, and gives the memory back. @throws E_STORE… */
  close(): void {
    try {
      for (const verifier of this.#verifiers) verifier?.close();
      this.#stage.settle();
      this.#judge();
    } finally {
      this.#stage.close();
    }
  }
}

function plainError(error: unknown): RangeResult['error'] {
  if (error === undefined) return undefined;
  const { data = {}, hint } = error as { data?: ErrorData; hint?: string };
  return { code: codeOf(error) ?? 'E_BUG', message: messageOf(error), hint, data };
}
