import type { Session } from '../../app/session/session.ts';
import { isNotFound, isPakratError } from '../../core/errors.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import type { Store } from '../../store/store.ts';

/** A product is asked for no more often than this. */
const askAgainMs = 60_000;
/** One that no version service knew is not asked for again for this time. */
const unknownMs = 10 * 60_000;
/** Nor is one of which nothing could be learned, because no version service answered. */
const troubleMs = 10_000;
/** Products that are remembered to be unknown, and those that may be asked for within a minute beside those that the ledger knows. */
const mostUnknown = 10_000;
const mostNewPerMinute = 20;
const productPattern = /^[a-z0-9_]{1,32}$/;

/** Learns of the builds that are live, from the version services. Strangers ask: what they may cause is bounded. */
export class BuildLearner {
  readonly #session: Session;
  readonly #store: Store;
  readonly #onBuild: () => void;
  readonly #asked = new Map<string, { until: number; answer: Promise<void> }>();
  #newSince = 0;
  #newCount = 0;

  /** @param onBuild called when the ledger got a build that it did not know */
  constructor(session: Session, store: Store, onBuild: () => void) {
    this.#session = session;
    this.#store = store;
    this.#onBuild = onBuild;
  }

  /**
   * Sees to it that the ledger knows the build of a product that is live, as far as the version services tell. Each product is asked for once a
   * minute, and what is none of theirs less often; of strangers' names only some are asked for at all.
   * @throws E_NETWORK… where nobody answered, and the ledger knows no build of the product
   */
  async learn(product: string): Promise<void> {
    if (!productPattern.test(product)) return;
    const now = performance.now();
    const asked = this.#asked.get(product);
    if (asked !== undefined && now < asked.until) return asked.answer;
    const isKnown = this.#store.ledger.builds(product).length > 0;
    if (!isKnown && !this.#mayAskNew(now)) return;
    if (this.#asked.size > mostUnknown) this.#asked.clear();
    const entry = { until: now + askAgainMs, answer: Promise.resolve() };
    entry.answer = this.#ask(product).catch((error: unknown) => {
      if (!isPakratError(error)) throw error;
      if (isKnown) return;
      entry.until = performance.now() + (isNotFound(error) ? unknownMs : troubleMs);
      if (!isNotFound(error)) throw error;
    });
    this.#asked.set(product, entry);
    return entry.answer;
  }

  #mayAskNew(now: number): boolean {
    if (now - this.#newSince > askAgainMs) {
      this.#newSince = now;
      this.#newCount = 0;
    }
    this.#newCount += 1;
    return this.#newCount <= mostNewPerMinute;
  }

  async #ask(product: string): Promise<void> {
    const { ledger } = this.#store;
    const build = await this.#session.resolve(product, { fresh: true });
    const isKnown = ({ buildConfig, cdnConfig }: BuildRow): boolean =>
      buildConfig === build.buildConfig && cdnConfig === build.cdnConfig;
    if (ledger.builds(product).some(isKnown)) return;
    ledger.addBuild(build);
    this.#onBuild();
  }
}
