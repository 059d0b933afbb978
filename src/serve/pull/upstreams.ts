import type { Session } from '../../app/session/session.ts';
import { learnObjectKey } from '../../builds/keys/build-keys.ts';
import type { OnProgress } from '../../core/progress.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import type { ConnectedBuild } from '../../keep/build-opener.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';

/** Networks that are open at a time: builds of one product share one. */
const mostOpen = 64;

/** What was asked of CDNs, and came. */
export interface UpstreamTraffic {
  /** Bytes of bodies. */
  bytes: number;
  requests: number;
}

/** The CDNs of builds, each connected to when first needed and kept. Needs `close`. */
export class Upstreams {
  readonly #session: Session;
  readonly #onProgress: OnProgress | undefined;
  readonly #stopping = new AbortController();
  readonly #open = new Map<string, Promise<ConnectedBuild>>();
  readonly #fetchers = new Set<Fetcher>();
  /** Of fetchers that were closed. */
  #closed: UpstreamTraffic = { bytes: 0, requests: 0 };

  constructor(session: Session, onProgress: OnProgress | undefined) {
    this.#session = session;
    this.#onProgress = onProgress;
  }

  /** What fetches the objects of a build. The key that they are encrypted with is known then, where there is one. @throws E_ABORTED, E_STORE… */
  async fetcher(build: BuildRow): Promise<Fetcher> {
    const key = JSON.stringify([build.cdnPath, build.configPath, build.hosts]);
    let opening = this.#open.get(key);
    if (opening === undefined) {
      opening = this.#connect(build);
      this.#open.set(key, opening);
      opening.catch(() => this.#open.delete(key));
      if (this.#open.size > mostOpen) await this.#closeOldest();
    }
    return (await opening).fetcher;
  }

  async #connect(build: BuildRow): Promise<ConnectedBuild> {
    const connected = await this.#session.connect(build, {
      signal: this.#stopping.signal,
      onProgress: this.#onProgress,
    });
    await learnObjectKey({ identity: build, objects: connected.fetcher.objects() });
    this.#fetchers.add(connected.fetcher);
    return connected;
  }

  async #closeOldest(): Promise<void> {
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    this.#open.delete(oldest[0]);
    const { fetcher, close } = await oldest[1];
    this.#closed = this.traffic();
    this.#fetchers.delete(fetcher);
    await close();
  }

  /** All that was asked, and came, until now. */
  traffic(): UpstreamTraffic {
    let { bytes, requests } = this.#closed;
    for (const { network } of this.#fetchers) {
      bytes += network?.traffic.bytes ?? 0;
      requests += network?.traffic.requests ?? 0;
    }
    return { bytes, requests };
  }

  /** Commits what came, on disk and checked, since the last time. @throws E_STORE… */
  flush(): void {
    for (const fetcher of this.#fetchers) fetcher.flush();
  }

  /** Ends transfers; what came until then is kept. */
  async close(): Promise<void> {
    this.#stopping.abort();
    for (const opening of this.#open.values()) await opening.then(({ close }) => close()).catch(() => {});
    this.#open.clear();
    this.#fetchers.clear();
  }
}
