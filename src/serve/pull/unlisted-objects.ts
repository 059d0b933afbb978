import { isPakratError } from '../../core/errors.ts';
import type { BuildOpener, OpenedBuild } from '../../keep/build-opener.ts';
import { type BuildRow, keyOf } from '../../store/ledger/rows.ts';
import { Failures } from '../objects/failures.ts';

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
  readonly #open = new Map<string, Promise<OpenedBuild>>();
  readonly #failures = new Failures(againMs);

  constructor(opener: BuildOpener) {
    this.#opener = opener;
  }

  /**
   * Encoded size of a loose object as a build lists it; undefined where it does not, or cannot be opened.
   * @param ekey hex
   * @throws why it cannot be opened, where that may pass
   */
  async sizeOf(row: BuildRow, ekey: string): Promise<number | undefined> {
    const opened = await this.#build(row);
    const place = await opened?.build.lookUp(() => opened.build.locate(ekey));
    return place?.loose === true ? place.size : undefined;
  }

  async #build(row: BuildRow): Promise<OpenedBuild | undefined> {
    const key = keyOf(row);
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    this.#failures.tell(key);
    if (this.#failures.has(key)) return undefined;
    const opening = this.#opener.open(row, { offline: false });
    this.#open.set(key, opening);
    try {
      await opening;
    } catch (error) {
      this.#open.delete(key);
      if (isPakratError(error)) this.#failures.add(key, error);
      throw error;
    }
    const [oldest] = this.#open.keys();
    if (this.#open.size > mostOpen && oldest !== undefined && oldest !== key) await this.#close(oldest);
    return opening;
  }

  async #close(key: string): Promise<void> {
    const opening = this.#open.get(key);
    this.#open.delete(key);
    await opening?.then(({ close }) => close()).catch(() => {});
  }

  async close(): Promise<void> {
    for (const key of [...this.#open.keys()]) await this.#close(key);
  }
}
