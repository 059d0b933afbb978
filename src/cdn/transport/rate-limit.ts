/** Spreads the bytes of all transfers over time. */
export interface RateLimit {
  /** Counts `bytes` as received; gives back for how many milliseconds the receiver should wait now. */
  take(bytes: number): number;
}

/** No limit. */
export const unlimited: RateLimit = { take: () => 0 };

/** A limit of `bytesPerSecond`. After a pause a quarter of a second may be caught up, so that short pauses do not cost throughput. */
export function rateLimit(bytesPerSecond: number, now: () => number = () => performance.now()): RateLimit {
  const catchUpMs = 250;
  let paidUntil = now();
  return {
    take(bytes) {
      paidUntil = Math.max(paidUntil, now() - catchUpMs) + (bytes / bytesPerSecond) * 1000;
      return Math.max(0, Math.ceil(paidUntil - now()));
    },
  };
}
