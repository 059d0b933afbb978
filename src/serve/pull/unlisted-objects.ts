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
  readonly #open = new Map<string, Promise<OpenedBuild>>();
  readonly #failed = new Map<string, { time: number; error: unknown }>();

  constructor(opener: BuildOpener) {
    this.#opener = opener;
  }

  /**
   * Encoded size of a loose object as a build lists it; undefined where it does not.
   * @param ekey hex
   * @throws why the build cannot be opened
   */
  async sizeOf(row: BuildRow, ekey: string): Promise<number | undefined> {
    const { build } = await this.#build(row);
    const place = await build.lookUp(() => build.locate(ekey));
    return place?.loose === true ? place.size : undefined;
  }

  async #build(row: BuildRow): Promise<OpenedBuild> {
    const key = keyOf(row);
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const failed = this.#failed.get(key);
    if (failed !== undefined && performance.now() - failed.time < againMs) throw failed.error;
    const opening = this.#opener.open(row, { offline: false });
    this.#open.set(key, opening);
    try {
      await opening;
    } catch (error) {
      this.#open.delete(key);
      this.#failed.set(key, { time: performance.now(), error });
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
