import { type Span, spanBytes } from '../store/spans.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds that spans wait for others to be committed with. */
const commitMs = 200;

/** Called inside a commit with the bytes that it adds for one piece of work. */
export type OnHeld = (bytes: number) => void;

/** Gathers spans that engines report, and commits all of them a few times a second. Needs `flush`. */
export class SpanCommitter {
  readonly #store: Store;
  readonly #waiting = new Map<string, Span[]>();
  readonly #bytes = new Map<OnHeld, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Takes spans of an object that are verified and on disk. */
  add(path: string, spans: readonly Span[], onHeld?: OnHeld): void {
    const list = this.#waiting.get(path) ?? [];
    this.#waiting.set(path, list);
    list.push(...spans);
    if (onHeld !== undefined) this.#bytes.set(onHeld, (this.#bytes.get(onHeld) ?? 0) + spanBytes(spans));
    this.#timer ??= setTimeout(() => this.#tryFlush(), commitMs);
  }

  /** Commits what waits. @throws E_STORE… */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size === 0) return;
    const { ledger } = this.#store;
    ledger.transaction(() => {
      for (const [path, spans] of this.#waiting) ledger.addSpans(path, spans);
      for (const [onHeld, bytes] of this.#bytes) onHeld(bytes);
    });
    this.#waiting.clear();
    this.#bytes.clear();
  }

  /** Spans that could not be committed still wait: the flush at the end commits them, or says why not. */
  #tryFlush(): void {
    try {
      this.flush();
    } catch {}
  }
}
