import PQueue from 'p-queue';
import type { EntryPlace, Objects } from '../builds/objects.ts';
import type { HealthKind } from '../cdn/hosts/hosts.ts';
import { fetchObject } from '../cdn/transport/fetch-object.ts';
import { eitherSignal } from '../core/breathe.ts';
import { toHex } from '../core/bytes.ts';
import { codeOf, isUnavailable, PakratError } from '../core/errors.ts';
import { addAll } from '../core/tables/add-all.ts';
import { giveBackOwn } from '../core/tables/large-bytes.ts';
import { waitForAll } from '../core/wait-for-all.ts';
import type { Claim } from '../store/claims.ts';
import { type ObjectName, objectPath } from '../store/layout.ts';
import type { Span } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import { checkObject } from '../verify/check-object.ts';
import { ClaimedJobs, claimObject, Waiting } from './claimed-fetch.ts';
import { heldPlaces, isHeld, lacks, type OnHeld, SpanCommitter } from './held-spans.ts';
import { loseIfWrong, loseObject } from './lost-files.ts';
import type { Network } from './network.ts';
import { entryJobs, type PlanOptions } from './plan/plan.ts';
import { Arrivals, adoptObject } from './small-objects.ts';
import type { RangeJob } from './transfer/range-job.ts';
import { isLoose, type PackedJob, packJob } from './transfer/range-targets.ts';
import { failureError, type TransferFailure, transfer } from './transfer/transfer.ts';

/** The largest objects that are believed where nothing promises their size. */
const maxSizes = { config: 16 * 1024 * 1024, index: 64 * 1024 * 1024, patch: 256 * 1024 * 1024, data: 0 };
/** For this time an entry that no host gave is not asked for again. */
const failedMs = 60_000;
const mostFailed = 100_000;
/** Entries that are fetched again because the disk has spoilt them. */
const mostLost = 1000;
/** Bytes that an object may have beyond what was promised: it proves itself, and makers of CDNs err. */
const sizeSlack = 1024 * 1024;

/** The amount that is fetched side by side, and the sizes by which ranges are cut. */
interface FetchSettings {
  /** Ranges in flight at a time. */
  jobs: number;
  /** Small objects in flight at a time. */
  smallJobs: number;
  planOptions: PlanOptions;
  /** Called once when it takes long that another process fetches what is needed. */
  onWait?: (() => void) | undefined;
}

/** A few entries in objects, or thousands in columns. */
type Jobs = Iterable<RangeJob | PackedJob>;

/** Ranges that are to be fetched. */
interface RangeFetch {
  kind: Extract<HealthKind, 'data' | 'patch'>;
  /** Times that one host is asked for the same thing; absent: as the settings say. */
  attemptsPerHost?: number;
  /** Tell the ekeys of what failed. */
  withKeys?: boolean;
  /** Called for each entry that is held to its end now, with its index in a job. */
  onEntry?: ((job: PackedJob, index: number) => void) | undefined;
  /** Called inside each commit with what it adds. */
  onHeld?: OnHeld | undefined;
  /** Ends it. Default: the signal of the network. */
  signal?: AbortSignal | undefined;
}

/**
 * Brings bytes of a CDN into a store: fetched, checked, on disk, in the ledger, then used. All that is ever fetched of a build comes
 * through here. Without a network there is only what the store holds: anything else is E_OFFLINE. Needs `end`.
 */
export class Fetcher {
  readonly store: Store;
  readonly settings: FetchSettings;
  /** Undefined when nothing may be fetched. */
  readonly network: Network | undefined;
  /** Entries that were brought whole, manifests among them; patches are no entries. */
  fetchedEntries = 0;
  readonly #committer: SpanCommitter;
  readonly #smallObjects: PQueue;
  readonly #arrivals: Arrivals;
  /** Entries that no host gave a short while ago: a batch asks for many, and then each file for its own. */
  readonly #failed = new Map<string, { time: number; error: PakratError }>();
  readonly #waiting: Waiting;
  /** Entries that turned out to be wrong on disk, and were asked for again. */
  #lost = 0;

  constructor(store: Store, network: Network | undefined, settings: FetchSettings) {
    this.store = store;
    this.network = network;
    this.settings = settings;
    this.#committer = new SpanCommitter(store);
    this.#arrivals = new Arrivals(store);
    this.#smallObjects = new PQueue({ concurrency: settings.smallJobs });
    this.#waiting = new Waiting(network?.signal, settings.onWait);
  }

  /** Commits what is verified and on disk. @throws E_STORE… */
  flush(): void {
    this.#committer.flush();
  }

  /** As {@link flush}, for a store that will be closed: no small object is brought to it any more, whoever still asks for one. @throws E_STORE… */
  async end(): Promise<void> {
    await this.#arrivals.end();
    this.flush();
  }

  /** Takes spans that were written here rather than fetched. Their bytes must be on disk. */
  addSpans(path: string, spans: readonly Span[], onHeld?: OnHeld): void {
    this.#committer.add(path, spans, onHeld);
  }

  /** Counts an entry of which all spans were added; a loose one gets its final name. */
  addEntry(entry: { path: string; size: number; loose: boolean }, onHeld?: OnHeld): void {
    this.#committer.addEntry(entry, onHeld);
  }

  /** Claims bytes of an object that are made here, as soon as nobody fetches them; undefined where the store has no claims. @throws E_ABORTED, E_STORE… */
  async claim(path: string, start: number, end: number): Promise<Claim | undefined> {
    for (const claims = this.store.claims(); claims !== undefined; await this.#waiting.moment()) {
      const claim = claims.take(path, start, end);
      if (claim !== undefined) return claim;
    }
    return undefined;
  }

  /**
   * A small object (config, index, patch manifest), decrypted and checked against its name; from the store, else from a host.
   * @param size what a config promises it to have; a body is not read much further than that
   * @throws E_OFFLINE, E_NOT_FOUND, E_NETWORK_EXHAUSTED, E_KEY_MISSING, E_ABORTED
   */
  async object(name: ObjectName, size?: number): Promise<Uint8Array> {
    const held = this.#heldObject(name) ?? adoptObject(this.store, name);
    if (held !== undefined) return held;
    const path = objectPath(name);
    const { objectKeys } = this.store;
    // An object that cannot be checked is not asked for.
    const isEncrypted = objectKeys.keyOf(path) !== undefined;
    const network = this.#demandNetwork(path, { object: path });
    const kind: HealthKind = name.suffix === '.index' ? 'index' : name.kind === 'product' ? 'config' : name.kind;
    const check = (bytes: Uint8Array): void => {
      try {
        checkObject(name, objectKeys.decrypt(path, bytes));
      } catch (error) {
        throw isEncrypted ? maybeWrongKey(error) : error;
      }
    };
    // Nobody promises an object of no bytes: a size of 0 is one that is not told.
    const maxSize = Math.min(size ? size + sizeSlack : Number.POSITIVE_INFINITY, maxSizes[kind]);
    const claim = await claimObject(this.store, path, this.#waiting);
    try {
      const heldNow = this.#heldObject(name);
      if (heldNow !== undefined) return heldNow;
      const request = { path, kind, maxSize, isMostlySmaller: !size, check };
      const bytes = await fetchObject(await network.cdn(), request);
      await this.#arrivals.add({ name, bytes });
      return objectKeys.decrypt(path, bytes);
    } finally {
      claim?.release();
    }
  }

  /** A small object that the store holds. One that was damaged on disk since it was checked is not held any more. */
  #heldObject(name: ObjectName): Uint8Array | undefined {
    const held = this.store.readObject(name);
    if (held === undefined) return undefined;
    try {
      checkObject(name, held);
      return held;
    } catch {
      const path = objectPath(name);
      const size = this.store.ledger.completeSize(path);
      if (this.store.writable && size !== undefined) loseObject(this.store, path, size);
      return undefined;
    }
  }

  /**
   * Brings small objects beside each other. That no host has one is told, other trouble ends it.
   * @returns those that no host gave
   * @throws E_KEY_MISSING, E_ABORTED, E_STORE…
   */
  async bringObjects(names: readonly ObjectName[]): Promise<TransferFailure[]> {
    const bring = async (name: ObjectName): Promise<TransferFailure[]> => {
      try {
        await this.#smallObjects.add(() => this.object(name));
        return [];
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        const { code, message, hint, data } = error;
        return [{ path: objectPath(name), code, message, hint, wrong: data.wrong === true }];
      }
    };
    return (await waitForAll(...names.map(bring))).flat();
  }

  /**
   * Sees to it that entries are held: manifests, and files that are asked for by name.
   * @param own a signal that ends it, beside that of the network
   * @throws E_OFFLINE, the error of the first that no host gave, E_ABORTED, E_STORE…
   */
  async entries(places: readonly EntryPlace[], own?: AbortSignal): Promise<void> {
    const missing = places.filter(lacks(this.store, places.length));
    const [first] = missing;
    if (first === undefined) return;
    const network = this.#demandNetwork(`entry ${first.ekey}`, { ekey: first.ekey, object: objectPath(first.object) });
    const signal = own && eitherSignal(own, network.signal);
    const [known] = missing.flatMap(({ ekey }) => this.#failureOf(ekey) ?? []);
    const asked = missing.filter(({ ekey }) => this.#failureOf(ekey) === undefined);
    network.ask(asked.reduce((sum, { size }) => sum + size, 0));
    const failures = await this.fetchPlanned({ kind: 'data', withKeys: true, signal }, (whole) => {
      const left = whole ? asked.filter((place) => !isHeld(this.store, place)) : asked;
      return entryJobs(this.store, left, { ...this.settings.planOptions, whole });
    });
    const errors = failures.map((failure) => this.#remember(failure));
    const error = errors[0] ?? known;
    if (error !== undefined) throw error;
  }

  #failureOf(ekey: string): PakratError | undefined {
    const failed = this.#failed.get(ekey);
    return failed !== undefined && performance.now() - failed.time < failedMs ? failed.error : undefined;
  }

  #remember(failure: TransferFailure): PakratError {
    const ekeys = toHex(failure.keys ?? new Uint8Array()).match(/.{32}/g) ?? [];
    const error = failureError(failure, ekeys);
    if (this.#failed.size > mostFailed) this.#failed.clear();
    for (const ekey of ekeys) this.#failed.set(ekey, { time: performance.now(), error });
    return error;
  }

  /**
   * Fetches the ranges of a plan. When it turns out that no host knows ranges, it is planned again for answers that are whole objects.
   * @param plan the jobs for what is missing now
   * @returns the entries that no host gave right
   * @throws E_ABORTED, E_STORE…
   */
  async fetchPlanned(fetch: RangeFetch, plan: (whole: boolean) => Jobs): Promise<TransferFailure[]> {
    const failures = await this.fetchRanges(fetch, plan(false));
    if (failures.length === 0 || this.network?.hosts.noneKnowsRanges(fetch.kind) !== true) return failures;
    return this.fetchRanges(fetch, wholeJobs(plan(true)));
  }

  /**
   * Fetches ranges, each from the host that does best. What another process fetches is waited for, and used.
   * @returns and @throws as {@link fetchPlanned}
   */
  async fetchRanges(fetch: RangeFetch, jobs: Jobs): Promise<TransferFailure[]> {
    const claimed = new ClaimedJobs(this.store);
    try {
      const failures = await this.#transfer(fetch, claimed, jobs);
      while (claimed.hasPutOff) {
        if (!claimed.renewSpoilt()) await this.#waiting.moment(fetch.signal);
        addAll(failures, await this.#transfer(fetch, claimed, claimed.takePutOff()));
      }
      return failures;
    } finally {
      this.#committer.afterCommit(() => claimed.close());
    }
  }

  async #transfer(fetch: RangeFetch, claimed: ClaimedJobs, jobs: Jobs): Promise<TransferFailure[]> {
    const network = this.#demandNetwork('data', {});
    const { kind, withKeys, onEntry, onHeld, signal = network.signal } = fetch;
    const { hosts, attemptsPerHost } = await network.cdn();
    const failures = await transfer(claimed.take(this.#prepared(jobs)), {
      hosts,
      engine: () => network.engine(),
      jobs: this.settings.jobs,
      attemptsPerHost: fetch.attemptsPerHost ?? attemptsPerHost,
      kind,
      withKeys,
      signal,
      onSpans: (path, spans) => this.#committer.add(path, spans, onHeld),
      onDone: (job, index) => {
        this.addEntry({ path: job.path, size: job.targets.size(index), loose: isLoose(job) }, onHeld);
        if (kind === 'data') this.fetchedEntries += 1;
        onEntry?.(job, index);
      },
      onSpoilt: (job) => claimed.putOffSpoilt(job),
      onEnd: (job) => this.#committer.afterCommit(() => claimed.release(job)),
    });
    this.flush();
    return failures;
  }

  /** Hashes are over decrypted bytes: whoever checks those of an encrypted object needs its key. */
  *#prepared(jobs: Jobs): Generator<PackedJob> {
    for (const job of jobs) {
      this.store.files.prepare(job.path);
      yield { ...packJob(job), objectKey: this.store.objectKeys.keyOf(job.path) };
    }
  }

  #demandNetwork(what: string, data: PakratError['data']): Network {
    if (this.network !== undefined) return this.network;
    throw new PakratError('E_OFFLINE', `${what} is not held and may not be fetched`, {
      hint: 'Leave --offline away, or sync it first.',
      data,
    });
  }

  #demandHeld(place: EntryPlace): void {
    if (isHeld(this.store, place)) return;
    this.#demandNetwork(`entry ${place.ekey}`, { ekey: place.ekey, object: objectPath(place.object) });
    throw new PakratError('E_NOT_FOUND', `entry ${place.ekey} is not held`, { data: { ekey: place.ekey } });
  }

  /** Each is asked for by itself: of very many it is better to say that the store is damaged. */
  async #lose(place: EntryPlace): Promise<boolean> {
    if (this.network === undefined || !this.store.writable || this.#lost === mostLost) return false;
    const isLost = await loseIfWrong(this.store, place);
    if (isLost) this.#lost += 1;
    return isLost;
  }

  /** The objects of a build, as whoever opens and reads it asks for them. */
  objects(): Objects {
    const { store } = this;
    return {
      config: (name) => this.object(name),
      index: async (name, size) => {
        // Thousands of indices come faster than garbage is collected.
        await this.#smallObjects.add(async () => giveBackOwn(await this.object(name, size)));
        return store.file(objectPath(name));
      },
      entries: (places, signal) => this.entries(places, signal),
      open: (place) => {
        this.#demandHeld(place);
        return { file: store.file(objectPath(place.object)), offset: place.offset };
      },
      openMany: (places) => heldPlaces(store, places),
      demandHeld: (place) => this.#demandHeld(place),
      lose: (place) => this.#lose(place),
      decrypt: (name, bytes, offset) => store.objectKeys.decrypt(objectPath(name), bytes, offset),
      learnObjectKey: (cdnPath, keyName) => store.objectKeys.learn(cdnPath, keyName),
    };
  }
}

function* wholeJobs(jobs: Jobs): Generator<RangeJob | PackedJob> {
  for (const job of jobs) yield { ...job, allowWhole: true };
}

function maybeWrongKey(error: unknown): unknown {
  if (codeOf(error) !== 'E_INTEGRITY') return error;
  const { message, data } = error as PakratError;
  return new PakratError('E_INTEGRITY', `${message} when it is decrypted: the key may be a wrong one`, { data });
}
