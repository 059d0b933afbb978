import type { EntryPlace } from '../builds/objects.ts';
import { objectPath } from '../store/layout.ts';
import { covers, heldUntil, type Span } from '../store/spans.ts';
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

  /** True when every byte of an entry is held. A loose object counts once it has its final name. */
  hasEntry({ object, loose, offset, size }: EntryPlace): boolean {
    const path = objectPath(object);
    if (loose) return this.#store.ledger.completeSize(path) !== undefined;
    return covers(this.of(path), offset, offset + size);
  }

  /** Bytes from an entry's start that are held. */
  startOf({ object, offset, size }: EntryPlace): number {
    return Math.min(heldUntil(this.of(objectPath(object)), offset) - offset, size);
  }
}

/** True when every byte of an entry is verified and on disk now. */
export function isHeld(store: Store, place: EntryPlace): boolean {
  return new HeldSpans(store).hasEntry(place);
}
