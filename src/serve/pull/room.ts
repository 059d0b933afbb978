import { buildOpener } from '../../app/session/build-opener.ts';
import type { Session } from '../../app/session/session.ts';
import { isPakratError, valueUnless } from '../../core/errors.ts';
import type { OnProgress } from '../../core/progress.ts';
import { formatBytes } from '../../core/quantities.ts';
import { finishLeaving, giveBack } from '../../keep/gc/give-back.ts';
import { type DeadBytes, type GcPlan, planGc } from '../../keep/gc/plan-gc.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import type { PulledBytes } from '../../store/ledger/served-bytes.ts';
import { mergeSpans, type Span, spanBytes, subtractSpans } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';

/** What a full cache is emptied to, of its limit: giving back takes a while, and is done for many at once. */
const emptyTo = 0.9;
/** The share of the limit that objects may take; the rest is for the ledger, and for copies while bytes are given back. */
const usable = 0.97;
/** Bytes that a stretch may take beside its own: the blocks at its ends. */
const endBytes = 8192;
/** Milliseconds after which it is written down what was asked for, and the stretches that wait for that at most. */
const touchMs = 10_000;
const mostTouched = 10_000;
/** Milliseconds for which nothing is tried again where there was no room. */
const fullMs = 10_000;

/**
 * The room that a cache may take. It gives back what clients brought and no build is kept for, longest unasked first; nothing else. Needs `close`.
 */
export class Room {
  readonly #session: Session;
  readonly #store: Store;
  readonly #limit: number;
  readonly #onProgress: OnProgress | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** Bytes of fetches that are on their way. */
  #reserved = 0;
  /** Bytes that the store takes at most, with those that are on their way. */
  #used = Number.POSITIVE_INFINITY;
  #fullUntil = 0;
  #hasSaid = false;
  #touched = new Map<string, PulledBytes>();
  readonly #timer: NodeJS.Timeout;

  /** @param limit bytes that the store may take on disk */
  constructor(session: Session, store: Store, limit: number, onProgress: OnProgress | undefined) {
    this.#session = session;
    this.#store = store;
    this.#limit = limit * usable;
    this.#onProgress = onProgress;
    this.#timer = setInterval(() => this.#writeTouched(), touchMs).unref();
    // A run that was killed while it gave back is finished.
    this.#turn = valueUnless(isPakratError, finishLeaving(store));
  }

  /**
   * Makes room for stretches that are to be fetched, and remembers that they are a client's.
   * @returns what to call when they are held, or were given up; undefined where there is no room
   */
  reserve(path: string, spans: readonly Span[]): Promise<(() => void) | undefined> {
    const bytes = spanBytes(spans) + spans.length * endBytes;
    const reserving = this.#turn.then(() => this.#reserve(path, spans, bytes));
    this.#turn = reserving.catch(() => {});
    return reserving;
  }

  async #reserve(path: string, spans: readonly Span[], bytes: number): Promise<(() => void) | undefined> {
    if (this.#used + bytes > this.#limit) this.#count();
    if (this.#used + bytes > this.#limit && performance.now() > this.#fullUntil) {
      await this.#empty(this.#limit * emptyTo - bytes);
      this.#count();
    }
    if (this.#used + bytes > this.#limit) {
      this.#say(bytes);
      return undefined;
    }
    this.#used += bytes;
    this.#reserved += bytes;
    const { ledger } = this.#store;
    ledger.transaction(() => ledger.served.addPulled(path, spans, Date.now()));
    return () => {
      this.#reserved -= bytes;
    };
  }

  #count(): void {
    this.#used = this.#store.ledger.served.blockBytes() + this.#reserved;
  }

  #say(bytes: number): void {
    this.#fullUntil = performance.now() + fullMs;
    if (this.#hasSaid) return;
    this.#hasSaid = true;
    const why = `there is no room for ${formatBytes(bytes)} more: what is left was synced, imported or pinned, or is in use`;
    this.#onProgress?.({ type: 'note', text: `nothing more is kept within --max-size: ${why}` });
  }

  /** Gives back until the store takes so many bytes, or as far as it may. */
  async #empty(most: number): Promise<void> {
    this.#writeTouched();
    const { ledger } = this.#store;
    const opener = buildOpener(this.#session, {});
    const plan = await valueUnless(isPakratError, planGc(this.#store, opener, { rules: {}, forget: this.#visitors() }));
    if (plan === undefined) return;
    const { dead, rows } = this.#choose(plan, ledger.served.blockBytes() + this.#reserved - most);
    const given = await valueUnless(isPakratError, giveBack(this.#store, { dead, signature: plan.signature }, {}));
    if (given === undefined || given.isOutdated) return;
    const inUse = new Set(given.inUse);
    ledger.transaction(() => {
      for (const row of rows) if (!inUse.has(row.path)) ledger.served.removePulled(row);
    });
  }

  /** Builds that are known only because a client asked for them: nothing is kept for their sake. */
  #visitors(): BuildRow[] {
    const { ledger } = this.#store;
    return ledger
      .builds()
      .filter((row) => !ledger.keeping.isPinned(row) && ledger.keeping.selections(row).length === 0);
  }

  /** What goes, of what a plan says that nothing is kept for, and the rows about it. */
  #choose(plan: GcPlan, bytes: number): { dead: DeadBytes[]; rows: PulledBytes[] } {
    const { ledger } = this.#store;
    const dead = new Map(plan.dead.map((item) => [item.path, item]));
    const chosen = new Map<string, Span[]>();
    const rows: PulledBytes[] = [];
    let left = bytes;
    for (const row of ledger.served.pulled()) {
      if (left <= 0) break;
      const item = dead.get(row.path);
      const held = item === undefined ? [] : item.spans === 'all' ? ledger.spans(row.path) : item.spans;
      const going = within(held, row);
      if (going.length === 0) continue;
      rows.push(row);
      left -= spanBytes(going);
      chosen.set(row.path, [...(chosen.get(row.path) ?? []), ...going]);
    }
    const items = [...chosen].map(([path, list]): DeadBytes => {
      const spans = mergeSpans(list);
      const isAll = subtractSpans(ledger.spans(path), spans).length === 0;
      return { path, spans: isAll ? 'all' : spans, bytes: spanBytes(spans), diskBytes: 0 };
    });
    return { dead: items, rows };
  }

  /** Told what a client asks for. */
  touch(path: string, start: number, end: number): void {
    this.#touched.set(`${path} ${start}`, { path, start, end });
    if (this.#touched.size > mostTouched) this.#writeTouched();
  }

  #writeTouched(): void {
    const touched = this.#touched;
    if (touched.size === 0) return;
    this.#touched = new Map();
    const { ledger } = this.#store;
    const now = Date.now();
    try {
      ledger.transaction(() => {
        for (const bytes of touched.values()) ledger.served.touchPulled(bytes, now);
      });
    } catch {
      // It is only for the order in which they go.
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#turn;
    this.#writeTouched();
  }
}

/** The parts of merged, sorted spans that lie in a stretch. */
function within(spans: readonly Span[], { start, end }: Span): Span[] {
  return spans
    .map((span) => ({ start: Math.max(span.start, start), end: Math.min(span.end, end) }))
    .filter((span) => span.end > span.start);
}
