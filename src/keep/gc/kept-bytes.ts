import { mergeSpans, type Span, subtractSpans } from '../../store/spans.ts';

/** Spans that wait to be merged with those that are: to merge each at once would take time that grows with their square. */
const mostWaiting = 4096;

/** Byte intervals that come in any order and may overlap. */
class SpanSet {
  #merged: Span[] = [];
  #waiting: Span[] = [];

  add(start: number, end: number): void {
    const last = this.#waiting.at(-1);
    if (last?.end === start) last.end = end;
    else this.#waiting.push({ start, end });
    if (this.#waiting.length > Math.max(mostWaiting, this.#merged.length)) this.#merge();
  }

  get spans(): readonly Span[] {
    if (this.#waiting.length > 0) this.#merge();
    return this.#merged;
  }

  #merge(): void {
    this.#merged = mergeSpans([...this.#merged, ...this.#waiting]);
    this.#waiting = [];
  }
}

/** The bytes of objects that the builds want which a store keeps, by the paths of the objects. Nothing is said of what is held of them. */
export class KeptBytes {
  /** Hashes of archives that no kept build lists, of which something is kept all the same. */
  readonly strays = new Set<string>();
  readonly #whole = new Set<string>();
  readonly #parts = new Map<string, SpanSet>();

  /** Keeps all of an object. */
  addWhole(path: string): void {
    this.#whole.add(path);
    this.#parts.delete(path);
  }

  /** Keeps some bytes of an object. */
  add(path: string, start: number, end: number): void {
    if (this.#whole.has(path)) return;
    let set = this.#parts.get(path);
    if (set === undefined) {
      set = new SpanSet();
      this.#parts.set(path, set);
    }
    set.add(start, end);
  }

  /** Keeps the index of an archive that no kept build lists, and remembers the archive: a CDN config that lists it is kept, too. */
  addStray(archive: string, index: string): void {
    this.strays.add(archive);
    this.addWhole(index);
  }

  /** True for an object of which something is kept. */
  wants(path: string): boolean {
    return this.#whole.has(path) || this.#parts.has(path);
  }

  /** The parts of merged, sorted spans of an object that nothing keeps. */
  without(path: string, spans: readonly Span[]): Span[] {
    if (this.#whole.has(path)) return [];
    const parts = this.#parts.get(path);
    return parts === undefined ? [...spans] : subtractSpans(spans, parts.spans);
  }
}
