/** Spreads bytes over time, for all transfers together. */
export interface RateLimit {
  /** Counts `bytes` as received; gives back for how many milliseconds the receiver should wait now. */
  take(bytes: number): number;
}

/** No limit. */
export const unlimited: RateLimit = { take: () => 0 };

/** A limit of `bytesPerSecond`. A quarter of a second may be ahead, so that short pauses do not cost throughput. */
export function rateLimit(bytesPerSecond: number, now: () => number = () => performance.now()): RateLimit {
  const ahead = 250;
  let paidUntil = now();
  return {
    take(bytes) {
      paidUntil = Math.max(paidUntil, now() - ahead) + (bytes / bytesPerSecond) * 1000;
      return Math.max(0, Math.ceil(paidUntil - now()));
    },
  };
}
