import { isPakratError, valueUnless } from '../../core/errors.ts';
import type { BuildOpener, OpenedBuild } from '../../keep/build-opener.ts';
import { type BuildRow, keyOf } from '../../store/ledger/rows.ts';

/** Builds that stay open. */
const mostOpen = 8;
/** Milliseconds for which a build that cannot be opened is not tried again. */
const againMs = 60_000;

/**
 * Loose objects that no index lists, as in builds of the first years: their encoding files alone know them. Such a build is opened when somebody asks for
 * something that nothing else names, and stays open. Needs `close`.
 */
export class UnlistedObjects {
  readonly #opener: BuildOpener;
  readonly #open = new Map<string, Promise<OpenedBuild | undefined>>();
  readonly #failed = new Map<string, number>();

  constructor(opener: BuildOpener) {
    this.#opener = opener;
  }

  /** Encoded size of a loose object as a build lists it; undefined where it does not, or cannot be opened. @param ekey hex */
  async sizeOf(row: BuildRow, ekey: string): Promise<number | undefined> {
    const opened = await this.#build(row);
    const place = await opened?.build.lookUp(() => opened.build.locate(ekey));
    return place?.loose === true ? place.size : undefined;
  }

  async #build(row: BuildRow): Promise<OpenedBuild | undefined> {
    const key = keyOf(row);
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    if (performance.now() - (this.#failed.get(key) ?? Number.NEGATIVE_INFINITY) < againMs) return undefined;
    const opening = valueUnless(isPakratError, this.#opener.open(row, { offline: false }));
    this.#open.set(key, opening);
    if ((await opening) === undefined) {
      this.#open.delete(key);
      this.#failed.set(key, performance.now());
    }
    const [oldest] = this.#open.keys();
    if (this.#open.size > mostOpen && oldest !== undefined && oldest !== key) await this.#close(oldest);
    return opening;
  }

  async #close(key: string): Promise<void> {
    const opening = this.#open.get(key);
    this.#open.delete(key);
    await (await opening)?.close();
  }

  async close(): Promise<void> {
    for (const key of [...this.#open.keys()]) await this.#close(key);
  }
}
