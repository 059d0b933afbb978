import { setMaxListeners } from 'node:events';
import type { Hosts } from '../cdn/hosts/hosts.ts';
import { scoutHosts } from '../cdn/hosts/scout-hosts.ts';
import { BodyBudget } from '../cdn/transport/body-budget.ts';
import type { Cdn } from '../cdn/transport/fetch-object.ts';
import type { HttpClient, HttpLimits } from '../cdn/transport/http.ts';
import { type RateLimit, rateLimit, unlimited } from '../cdn/transport/rate-limit.ts';
import type { Engine } from './transfer/engine.ts';

/** Counts of what came from a network. */
export interface Traffic {
  bytes: number;
  requests: number;
  /** Bytes of the entries that were asked for by name, come or not. */
  asked: number;
}

/** The hosts of a build, and the means to ask them: a client for small objects, an engine for ranges, each made when first needed. */
export interface Network {
  readonly hosts: Hosts;
  readonly traffic: Readonly<Traffic>;
  readonly signal: AbortSignal | undefined;
  /** Counts bytes of entries that are asked for from now on. */
  ask(bytes: number): void;
  /**
   * Does work that fetches entries, and tells now and then what came of those that it asked for.
   * @param tell called with the bytes that came since, and with those that were asked for
   */
  telling<Result>(tell: (bytes: number, ofBytes: number) => void, work: () => Promise<Result>): Promise<Result>;
  cdn(): Promise<Cdn>;
  engine(): Promise<Engine>;
  /** Ends transfers and gives threads back. */
  close(): Promise<void>;
}

/** Settings of a network. Times in milliseconds. */
export interface NetworkOptions extends Omit<HttpLimits, 'connections'> {
  attemptsPerHost: number;
  /** Ranges in flight at a time. */
  jobs: number;
  /** Bytes of the largest single range. */
  maxRangeBytes: number;
  /** Limit of all transfers; undefined for none. */
  bytesPerSecond?: number | undefined;
  /** Milliseconds after which another host is asked for a small object that does not come at a good pace. Absent: none is. */
  hedgeMs?: number | undefined;
  /** Threads for ranges; 0 for none, as under a limited rate. */
  threads: number;
  workerUrl?: URL | undefined;
  /** Folder for bytes that are not verified yet. */
  temporary: string;
  signal?: AbortSignal | undefined;
}

/** Memory for the bodies of small objects that are on their way. */
const bodyBytes = 256 * 1024 * 1024;
/** Milliseconds after which it is told again what came. */
const toldEveryMs = 200;

/** A network over some hosts. Nothing is asked, started or loaded before it is needed. Needs `close`. */
export function openNetwork(hosts: Hosts, http: () => Promise<HttpClient>, options: NetworkOptions): Network {
  const { bytesPerSecond, attemptsPerHost } = options;
  // Every request listens to it, and there may be many; the caller's own signal has one listener.
  const signal = options.signal && AbortSignal.any([options.signal]);
  if (signal !== undefined) setMaxListeners(0, signal);
  const traffic: Traffic = { bytes: 0, requests: 0, asked: 0 };
  const counters = {
    onReceived: (bytes: number): void => {
      traffic.bytes += bytes;
      hosts.news.heard();
    },
    onRequest: (): void => {
      traffic.requests += 1;
    },
  };
  // One for all requests, for they share it.
  const budget = new BodyBudget(bodyBytes);
  // Under a limit everything is slow.
  const hedgeMs = bytesPerSecond === undefined ? options.hedgeMs : undefined;
  const rate: RateLimit = bytesPerSecond === undefined ? unlimited : rateLimit(bytesPerSecond);
  let engine: Promise<Engine> | undefined;
  let scouted: Promise<void> | undefined;
  const startEngine = async (): Promise<Engine> => {
    const { rangeEngine, threadEngine } = await import('./transfer/engine.ts');
    const { connectMs, idleMs, slowWindowMs, httpProxy, httpsProxy, noProxy } = options;
    const { jobs, maxRangeBytes, temporary, threads, workerUrl } = options;
    const engineOptions = {
      limits: { connectMs, idleMs, slowWindowMs, httpProxy, httpsProxy, noProxy, connections: jobs },
      temporary,
      maxRangeBytes,
    };
    return bytesPerSecond !== undefined || threads < 1
      ? rangeEngine(engineOptions, counters, rate)
      : threadEngine(threads, { ...engineOptions, workerUrl }, counters);
  };
  return {
    hosts,
    traffic,
    signal,
    ask(bytes) {
      traffic.asked += bytes;
    },
    telling(tell, work) {
      const { bytes, asked } = traffic;
      const timer = setInterval(() => tell(traffic.bytes - bytes, traffic.asked - asked), toldEveryMs);
      return work().finally(() => clearInterval(timer));
    },
    async cdn() {
      scouted ??= scoutHosts(hosts, signal, options);
      await scouted;
      return { http: await http(), hosts, rate, attemptsPerHost, budget, hedgeMs, signal, ...counters };
    },
    engine() {
      engine ??= startEngine();
      return engine;
    },
    async close() {
      hosts.news.close();
      await (await engine)?.close();
    },
  };
}
