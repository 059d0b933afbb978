/** The patience that a transfer has. Times in milliseconds. */
export interface CrawlLimits {
  /** Until the head of an answer is there, and between two pieces of its body. */
  idleMs: number;
  /** Bytes a second below which a body crawls, as the mean of a whole window. Default: 1024; 0 for no such bound. */
  slowestBytesPerSecond?: number | undefined;
  /** The window. Default: 15 s. */
  slowWindowMs?: number | undefined;
}

/** A body below this rate is of no use to anyone, and above it a slow line may be to blame. */
const defaultSlowest = 1024;
const defaultWindowMs = 15_000;
/**
 * A try that broke off with fewer right bytes a second than this got nowhere, and counts. It is a quarter of a crawl: eight bodies may share a line that
 * is slow itself.
 */
const worthwhile = defaultSlowest / 4;
/** Where others can be asked, a body crawls that is so many times slower than a good one lately was, and slower than this. */
const timesSlower = 20;
const fastEnough = 64 * 1024;
/** A body of so many bytes tells how fast a good one is, for a minute. */
const tellingBytes = 32 * 1024;
const paceMs = 60_000;
/** Milliseconds more for a head, for a busy machine. */
const graceMs = 1000;

/** True when a try that took so long, and broke off, brought enough for the next one to begin as the first did. */
export function gotSomewhere(bytes: number, ms: number): boolean {
  return bytes > 0 && bytes * 1000 >= worthwhile * ms;
}

/** The rate of the fastest body of late. */
export class Pace {
  #rate = 0;
  #at = Number.NEGATIVE_INFINITY;

  /** Takes a body that came to its end. */
  add(bytes: number, ms: number): void {
    const rate = (bytes * 1000) / Math.max(ms, 1);
    const now = performance.now();
    if (bytes < tellingBytes || (rate < this.#rate && now - this.#at < paceMs)) return;
    this.#rate = rate;
    this.#at = now;
  }

  /** Bytes a second below which a body is far too slow. */
  get crawl(): number {
    return Math.min(this.#rate / timesSlower, fastEnough);
  }
}

/**
 * Notices an answer that never gets anywhere: a head that does not end, whatever comes of it, or a body that crawls. Time in which the
 * taker of the body made it wait does not count. Needs `end`.
 */
export class CrawlWatch {
  readonly #limits: CrawlLimits;
  readonly #giveUp: (problem: string) => void;
  readonly #pace: Pace;
  readonly #hasAlternatives: boolean;
  #total = 0;
  #answeredAt = 0;
  #isDue = false;
  #pausedTotalMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #since = 0;
  #pausedAt: number | undefined;
  #pausedMs = 0;

  /** @param of.pace of other bodies, @param of.hasAlternatives others can be asked, @param giveUp called once or more with what is wrong */
  constructor(
    limits: CrawlLimits,
    { pace, hasAlternatives }: { pace: Pace; hasAlternatives: boolean },
    giveUp: (problem: string) => void,
  ) {
    this.#limits = limits;
    this.#pace = pace;
    this.#hasAlternatives = hasAlternatives;
    this.#giveUp = giveUp;
  }

  /** The request was sent: its head is due. */
  asked(): void {
    clearTimeout(this.#timer);
    // Who can ask another has less patience.
    const idleMs = this.#hasAlternatives ? this.#limits.idleMs / 2 : this.#limits.idleMs;
    // When this process was held up, the answer may lie in the socket: it is taken before anyone is given up.
    this.#timer = setTimeout(
      () => setImmediate(() => this.#isDue && this.#giveUp('no answer in time')),
      idleMs + graceMs,
    );
    this.#isDue = true;
  }

  /** The head is there: its body is due. */
  answered(): void {
    clearTimeout(this.#timer);
    this.#isDue = false;
    const { slowestBytesPerSecond = defaultSlowest, slowWindowMs = defaultWindowMs } = this.#limits;
    this.#answeredAt = performance.now();
    this.#begin();
    if (slowestBytesPerSecond === 0) return;
    this.#timer = setInterval(() => this.#check(slowestBytesPerSecond, slowWindowMs), slowWindowMs / 3);
  }

  count(bytes: number): void {
    this.#bytes += bytes;
    this.#total += bytes;
  }

  pause(): void {
    this.#pausedAt = performance.now();
  }

  resume(): void {
    const ms = performance.now() - (this.#pausedAt ?? performance.now());
    this.#pausedMs += ms;
    this.#pausedTotalMs += ms;
    this.#pausedAt = undefined;
  }

  /** @param isWhole the body came to its end */
  end(isWhole: boolean): void {
    clearTimeout(this.#timer);
    this.#isDue = false;
    if (isWhole) this.#pace.add(this.#total, performance.now() - this.#answeredAt - this.#pausedTotalMs);
  }

  #begin(): void {
    this.#bytes = 0;
    this.#since = performance.now();
    this.#pausedMs = 0;
  }

  #check(slowest: number, windowMs: number): void {
    const passed = performance.now() - this.#since;
    const active = passed - this.#pausedMs;
    if (this.#pausedAt !== undefined) return;
    const rate = this.#bytes / (active / 1000);
    const isWindow = active >= windowMs * 0.99;
    const least = this.#hasAlternatives ? Math.max(slowest, this.#pace.crawl) : isWindow ? slowest : 0;
    // A check that comes far too late says that this process was held up, and not the host.
    if (rate < least && active > windowMs * 0.3 && active < windowMs * 2) {
      this.#giveUp(`only ${Math.round(rate)} bytes a second came`);
    }
    if (isWindow) this.#begin();
  }
}
