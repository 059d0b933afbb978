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
 * Notices an answer that never gets anywhere: a head that does not end, whatever comes of it, or a body that crawls. Time in which the
 * taker of the body made it wait does not count. Needs `end`.
 */
export class CrawlWatch {
  readonly #limits: CrawlLimits;
  readonly #giveUp: (problem: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #since = 0;
  #pausedAt: number | undefined;
  #pausedMs = 0;

  /** @param giveUp called once or more with what is wrong */
  constructor(limits: CrawlLimits, giveUp: (problem: string) => void) {
    this.#limits = limits;
    this.#giveUp = giveUp;
  }

  /** The request was sent: its head is due. */
  asked(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp('no answer in time'), this.#limits.idleMs);
  }

  /** The head is there: its body is due. */
  answered(): void {
    clearTimeout(this.#timer);
    const { slowestBytesPerSecond = defaultSlowest, slowWindowMs = defaultWindowMs } = this.#limits;
    if (slowestBytesPerSecond === 0) return;
    this.#begin();
    this.#timer = setInterval(() => this.#check(slowestBytesPerSecond, slowWindowMs), slowWindowMs / 3);
  }

  count(bytes: number): void {
    this.#bytes += bytes;
  }

  pause(): void {
    this.#pausedAt = performance.now();
  }

  resume(): void {
    this.#pausedMs += performance.now() - (this.#pausedAt ?? performance.now());
    this.#pausedAt = undefined;
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #begin(): void {
    this.#bytes = 0;
    this.#since = performance.now();
    this.#pausedMs = 0;
  }

  #check(slowest: number, windowMs: number): void {
    const passed = performance.now() - this.#since;
    const active = passed - this.#pausedMs;
    if (this.#pausedAt !== undefined || active < windowMs * 0.99) return;
    const rate = this.#bytes / (active / 1000);
    // A check that comes far too late says that this process was held up, and not the host.
    if (rate < slowest && active < windowMs * 2) {
      this.#giveUp(`only ${Math.round(rate)} bytes a second came`);
    }
    this.#begin();
  }
}
