import { covers, type Span, subtractSpans, uniteSpans } from '../../store/spans.ts';

/** The bytes of objects that the builds want which a store keeps, by the paths of the objects. Nothing is said of what is held of them. */
export class KeptBytes {
  /** Hashes of archives that no kept build lists, of which something is kept all the same. */
  readonly strays = new Set<string>();
  readonly #whole = new Set<string>();
  readonly #parts = new Map<string, readonly Span[]>();
  #changed = new Set<string>();

  /** Keeps all of an object. */
  addWhole(path: string): void {
    if (this.#whole.has(path)) return;
    this.#whole.add(path);
    this.#parts.delete(path);
    this.#changed.add(path);
  }

  /** Keeps some bytes of an object. @param spans merged and in order */
  addSpans(path: string, spans: readonly Span[]): void {
    if (spans.length === 0 || this.#whole.has(path)) return;
    const before = this.#parts.get(path) ?? [];
    const united = uniteSpans(before, spans);
    if (united === before) return;
    this.#parts.set(path, united);
    this.#changed.add(path);
  }

  /** Keeps the index of an archive that no kept build lists, and remembers the archive: a CDN config that lists it is kept, too. */
  addStray(archive: string, index: string): void {
    this.strays.add(archive);
    this.addWhole(index);
  }

  /** The paths of which more is kept than when this was last asked. */
  takeChanged(): Iterable<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  /** True for an object of which something is kept. */
  wants(path: string): boolean {
    return this.#whole.has(path) || this.#parts.has(path);
  }

  /** True when every byte of a stretch of an object is kept. */
  has(path: string, { start, end }: Span): boolean {
    return this.#whole.has(path) || covers(this.#parts.get(path) ?? [], start, end);
  }

  /** The parts of merged, sorted spans of an object that nothing keeps. */
  without(path: string, spans: readonly Span[]): Span[] {
    if (this.#whole.has(path)) return [];
    return subtractSpans(spans, this.#parts.get(path) ?? []);
  }
}
