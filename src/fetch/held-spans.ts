import type { EntryPlace } from '../builds/objects.ts';
import { addAll } from '../core/tables/add-all.ts';
import { objectPath } from '../store/layout.ts';
import type { Amount } from '../store/ledger/rows.ts';
import { covers, heldUntil, type Span, spanBytes } from '../store/spans.ts';
import type { Store } from '../store/store.ts';

/** The spans that a store holds, as the ledger has them when they are first asked for: read once an object, for one plan. */
export class HeldSpans {
  readonly #store: Store;
  readonly #spans = new Map<string, readonly Span[]>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The verified spans of an object, merged and in order. */
  of(path: string): readonly Span[] {
    let spans = this.#spans.get(path);
    if (spans === undefined) {
      spans = this.#store.ledger.spans(path);
      this.#spans.set(path, spans);
    }
    return spans;
  }

  /** True when every byte of an entry is held. A loose object counts once it has its final name. @param path of its object, where that is at hand */
  hasEntry({ object, loose, offset, size }: EntryPlace, path = objectPath(object)): boolean {
    if (loose) return this.#store.ledger.completeSize(path) !== undefined;
    return covers(this.of(path), offset, offset + size);
  }

  /** Bytes from an entry's start that are held. */
  startOf({ object, offset, size }: EntryPlace): number {
    return Math.min(heldUntil(this.of(objectPath(object)), offset) - offset, size);
  }
}

/** True when every byte of an entry is verified and on disk now. */
export function isHeld({ ledger }: Store, { object, loose, offset, size }: EntryPlace): boolean {
  const path = objectPath(object);
  if (loose) return ledger.completeSize(path) !== undefined;
  return covers(ledger.spansWithin(path, offset, offset + size), offset, offset + size);
}

/** Few places that are asked about one by one, as files that are read one after the other: all spans of an object would be too many for each. */
const fewPlaces = 4;

/** Tells whether an entry is not held, as well as that is asked for so many of them. */
export function lacks(store: Store, count: number): (place: EntryPlace) => boolean {
  if (count <= fewPlaces) return (place) => !isHeld(store, place);
  const held = new HeldSpans(store);
  return (place) => !held.hasEntry(place);
}

/** The files and offsets of those entries that are held and that no key of their object locks; undefined for the others. */
export function heldPlaces(
  store: Store,
  places: readonly EntryPlace[],
): ({ file: string; offset: number } | undefined)[] {
  const held = new HeldSpans(store);
  /** Files of objects; undefined for one that is encrypted as a whole. */
  const files = new Map<string, string | undefined>();
  return places.map((place) => {
    const path = objectPath(place.object);
    if (!held.hasEntry(place, path)) return undefined;
    if (!files.has(path)) files.set(path, isPlain(store, path) ? store.file(path) : undefined);
    const file = files.get(path);
    return file === undefined ? undefined : { file, offset: place.offset };
  });
}

function isPlain({ objectKeys }: Store, path: string): boolean {
  try {
    return objectKeys.keyOf(path) === undefined;
  } catch {
    // Whoever reads it tells what is wrong.
    return false;
  }
}

/** Milliseconds that spans wait for others to be committed with. */
const commitMs = 200;
/** Objects that get their final names together: another process that writes to the ledger waits as long. */
const objectsAtOnce = 64;

/** Called inside a commit with the entries and bytes that it adds for one piece of work. What it writes is undone where the commit fails, and it is called again. */
export type OnHeld = (more: Amount) => void;

/** Gathers spans that engines report, and loose objects that are whole, and commits all of them a few times a second. Needs `flush`. */
export class SpanCommitter {
  readonly #store: Store;
  readonly #waiting = new Map<string, Span[]>();
  /** Loose objects that are whole, by path. */
  readonly #whole = new Map<string, { size: number; onHeld: OnHeld | undefined }>();
  readonly #amounts = new Map<OnHeld, Amount>();
  readonly #afterCommit: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Does something once all that was added so far is committed. */
  afterCommit(action: () => void): void {
    if (this.#waiting.size + this.#whole.size === 0) action();
    else this.#afterCommit.push(action);
  }

  /** Takes spans of an object that are verified and on disk. */
  add(path: string, spans: readonly Span[], onHeld?: OnHeld): void {
    const list = this.#waiting.get(path) ?? [];
    this.#waiting.set(path, list);
    addAll(list, spans);
    if (onHeld !== undefined) this.#amount(onHeld).bytes += spanBytes(spans);
    this.#schedule();
  }

  /** Counts an entry of which all spans were added. A loose one gets its final name, with others, and counts once it has it. */
  addEntry({ path, size, loose }: { path: string; size: number; loose: boolean }, onHeld?: OnHeld): void {
    if (loose) this.#whole.set(path, { size, onHeld });
    else if (onHeld !== undefined) this.#amount(onHeld).entries += 1;
    this.#schedule();
  }

  #amount(onHeld: OnHeld): Amount {
    const amount = this.#amounts.get(onHeld) ?? { entries: 0, bytes: 0 };
    this.#amounts.set(onHeld, amount);
    return amount;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#tryFlush(), commitMs);
  }

  /** Commits what waits, then gives objects that are whole now their places. @throws E_STORE… */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size + this.#whole.size + this.#amounts.size === 0) return;
    const { ledger, files } = this.#store;
    ledger.transaction(() => {
      for (const [path, spans] of this.#waiting) ledger.addSpans(path, spans);
      for (const [onHeld, amount] of this.#amounts) onHeld(amount);
    });
    const paths = [...this.#waiting.keys()].filter((path) => !this.#whole.has(path));
    this.#waiting.clear();
    this.#amounts.clear();
    const actions = this.#afterCommit.splice(0);
    try {
      for (const path of paths) files.settle(path);
      this.#complete();
    } finally {
      for (const action of actions) action();
    }
  }

  #complete(): void {
    while (this.#whole.size > 0) {
      const objects = [...this.#whole].slice(0, objectsAtOnce).map(([path, whole]) => ({ path, ...whole }));
      this.#store.ledger.transaction(() => {
        this.#store.files.complete(objects);
        for (const { onHeld } of objects) onHeld?.({ entries: 1, bytes: 0 });
      });
      for (const { path } of objects) this.#whole.delete(path);
    }
  }

  /** What could not be committed still waits: the flush at the end commits them, or says why not. */
  #tryFlush(): void {
    try {
      this.flush();
    } catch {}
  }
}
