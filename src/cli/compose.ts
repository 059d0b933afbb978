import { setMaxListeners } from 'node:events';
import { availableParallelism } from 'node:os';
import { type Build, type BuildIdentity, openBuild } from '../builds/build.ts';
import type { Cdn } from '../cdn/transport/get-object.ts';
import { type Host, Hosts, hostOf } from '../cdn/transport/hosts.ts';
import type { HttpClient, HttpGetter } from '../cdn/transport/http.ts';
import { type RateLimit, rateLimit, unlimited } from '../cdn/transport/rate-limit.ts';
import { type FetchTools, type SpanCommitter, spanCommitter, storeObjects } from '../fetch/store-objects.ts';
import type { Engine, EngineOptions } from '../fetch/transfer/engine.ts';
import { openStore, type Store } from '../store/store.ts';
import type { GlobalOptions } from './global-options.ts';
import { parseBuildSpec, resolveBuild } from './resolve-build.ts';

/** What a command hands in beside its options. */
export interface SessionHooks {
  note: (text: string) => void;
  signal?: AbortSignal | undefined;
  /** Told what is going on, in a few words. */
  onStep?: ((step: string) => void) | undefined;
}

/** How the network is used. */
export interface SessionOptions {
  /** Make the store when it is not there. */
  create: boolean;
  /** Ask the version service even when its last answer is recent. */
  fresh?: boolean;
  jobs?: number | undefined;
  bytesPerSecond?: number | undefined;
  /** Transfer threads; undefined: as many as the machine has cores, 4 at most. 0: none, everything in this thread. */
  threads?: number | undefined;
}

/** Counts of a session's traffic. */
export interface Traffic {
  bytes: number;
  requests: number;
  /** Entries that were fetched outside of a sync's plan: manifests, and files that were asked for. */
  entries: number;
}

/**
 * The one place where parts are joined: a store, and a CDN, an engine and a pool of connections that are made when first needed,
 * so that reading what is held loads no network code. Needs `close`.
 */
export class Session {
  readonly store: Store;
  readonly traffic: Traffic = { bytes: 0, requests: 0, entries: 0 };
  readonly committer: SpanCommitter;
  readonly #options: GlobalOptions;
  readonly #session: SessionOptions;
  readonly #hooks: SessionHooks;
  #http: HttpClient | undefined;
  #rate: RateLimit | undefined;
  #engine: Engine | undefined;
  #hosts = new Hosts([]);
  readonly #ownHosts: Host[] | undefined;
  /** What counts the traffic, of small objects and of ranges alike. */
  readonly #counters = {
    onReceived: (bytes: number): void => {
      this.traffic.bytes += bytes;
    },
    onRequest: (): void => {
      this.traffic.requests += 1;
    },
  };

  constructor(options: GlobalOptions, session: SessionOptions, hooks: SessionHooks) {
    this.#options = options;
    this.#session = session;
    this.#hooks = hooks;
    // Every request listens to it, and there may be many.
    if (hooks.signal !== undefined) setMaxListeners(0, hooks.signal);
    // Of this run alone: the ledger remembers the hosts of the CDN.
    this.#ownHosts = options.cdnHosts.length > 0 ? options.cdnHosts.map(hostOf) : undefined;
    this.store = openStore(options.store, { create: session.create && !options.offline });
    this.committer = spanCommitter(this.store);
  }

  /** Closes everything; what was reported is committed first. */
  async close(): Promise<void> {
    await this.#engine?.close();
    await this.#http?.close();
    try {
      this.committer.flush();
    } finally {
      this.store.close();
    }
  }

  /** Hosts of the build that is open. */
  get hosts(): Hosts {
    return this.#hosts;
  }

  /** What `PRODUCT[@BUILD]` means. @throws as resolveBuild */
  async resolve(text: string): Promise<BuildIdentity> {
    const spec = parseBuildSpec(text);
    const { note, signal } = this.#hooks;
    // A client is made when a service is asked, not before: most look-ups find a recent answer in the ledger.
    const http: HttpGetter = { get: async (request) => (await this.#openHttp()).get(request) };
    const context = { ledger: this.store.ledger, options: this.#options, note, signal, http };
    return resolveBuild(context, spec, { fresh: this.#session.fresh === true });
  }

  /** Opens a build; what it lacks is fetched unless the session is offline. */
  async openBuild(identity: BuildIdentity): Promise<Build> {
    this.#hosts = new Hosts(this.#ownHosts ?? identity.hosts.map(listedHost));
    if (!this.#options.offline && this.store.writable) this.store.ledger.addBuild(identity);
    return openBuild({
      store: this.store,
      identity,
      objects: storeObjects(this.fetchTools()),
      onStep: this.#hooks.onStep,
    });
  }

  /** What objects are fetched with. */
  fetchTools(): FetchTools {
    const { settings, offline } = this.#options;
    const { gapBytes, maxRangeBytes, smallJobs } = settings.sync;
    return {
      store: this.store,
      cdn: offline ? undefined : () => this.cdn(),
      engine: () => this.engine(),
      flush: () => this.committer.flush(),
      jobs: this.jobs,
      smallJobs,
      planOptions: { gapBytes, maxRangeBytes },
      onEntry: () => {
        this.traffic.entries += 1;
      },
    };
  }

  /** Ranges in flight at a time. */
  get jobs(): number {
    return this.#session.jobs ?? this.#options.settings.sync.jobs;
  }

  async cdn(): Promise<Cdn> {
    const { bytesPerSecond } = this.#session;
    // One for all requests, for they share it.
    this.#rate ??= bytesPerSecond === undefined ? unlimited : rateLimit(bytesPerSecond);
    return {
      http: await this.#openHttp(),
      hosts: this.#hosts,
      rate: this.#rate,
      attemptsPerHost: this.#options.settings.network.attemptsPerHost,
      signal: this.#hooks.signal,
      ...this.#counters,
    };
  }

  async #openHttp(): Promise<HttpClient> {
    if (this.#http === undefined) {
      const { HttpClient } = await import('../cdn/transport/http.ts');
      const { connectMs, idleMs } = this.#options.settings.network;
      this.#http = new HttpClient({ connectMs, idleMs, connections: this.#options.settings.sync.smallJobs });
    }
    return this.#http;
  }

  /** The engine for ranges: in threads for a sync, in this thread for single files and for a limited rate. */
  async engine(): Promise<Engine> {
    if (this.#engine !== undefined) return this.#engine;
    const { threadEngine, localEngine } = await import('../fetch/transfer/engine.ts');
    const { settings } = this.#options;
    const { bytesPerSecond, threads = Math.min(availableParallelism(), 4) } = this.#session;
    const options: EngineOptions = {
      limits: { connectMs: settings.network.connectMs, idleMs: settings.network.idleMs, connections: this.jobs },
      temporary: this.store.layout.temporary,
      maxRangeBytes: settings.sync.maxRangeBytes,
      slowestBytesPerSecond: bytesPerSecond === undefined ? 1024 : 0,
      bytesPerSecond,
    };
    const events = {
      onSpans: this.committer.add,
      ...this.#counters,
    };
    const engine =
      bytesPerSecond !== undefined || threads < 1
        ? localEngine(options, events)
        : threadEngine(threads, options, events);
    const { objectKeys } = this.store;
    this.#engine = {
      ...engine,
      run: (job, base) => engine.run({ ...job, objectKey: objectKeys.keyOf(job.path) }, base),
    };
    return this.#engine;
  }
}

/** A host as the ledger writes it. */
function listedHost(text: string): Host {
  return { base: text.replace(/\?.*$/, ''), fallback: text.endsWith('?fallback=1') };
}

/** Opens a session, runs `body`, and closes it, whatever happens. */
export async function withSession<Result>(
  options: GlobalOptions,
  session: SessionOptions & { hooks: SessionHooks },
  body: (session: Session) => Promise<Result>,
): Promise<Result> {
  const opened = new Session(options, session, session.hooks);
  try {
    return await body(opened);
  } finally {
    await opened.close();
  }
}
