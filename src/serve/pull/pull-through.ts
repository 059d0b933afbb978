import PQueue from 'p-queue';
import { buildOpener } from '../../app/session/build-opener.ts';
import type { Session } from '../../app/session/session.ts';
import type { EntryPlace } from '../../builds/objects.ts';
import { isPakratError, mayPass, type PakratError } from '../../core/errors.ts';
import type { OnProgress } from '../../core/progress.ts';
import { isHeld } from '../../fetch/held-spans.ts';
import { forgetLost, loseIfWrong } from '../../fetch/lost-files.ts';
import { entryJobs } from '../../fetch/plan/plan.ts';
import { failureError } from '../../fetch/transfer/transfer.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import { mergeSpans, subtractSpans } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import { patchJobs } from '../../sync/patches/patch-jobs.ts';
import type { Figure } from '../metrics/metrics.ts';
import { Failures } from '../objects/failures.ts';
import { type FoundObject, findObject } from '../objects/find-object.ts';
import { type NamedObject, NamedObjects, type ReadSmall } from '../objects/named-objects.ts';
import { heldUntil } from '../objects/read-held.ts';
import type { Bringing } from '../objects/send-object.ts';
import { ArchiveMaps } from './archive-maps.ts';
import { BuildLearner } from './learn-build.ts';
import { Room } from './room.ts';
import { UnlistedObjects } from './unlisted-objects.ts';
import { Upstreams } from './upstreams.ts';

/** Bytes, and entries, in front of an answer that are asked for at once. */
const aheadBytes = 8 * 1024 * 1024;
const aheadEntries = 512;
/** Pieces of work that ask the CDN at a time: each may have several requests. */
const mostFetches = 24;
/** Milliseconds for which what no host gave is not asked for again. */
const failedMs = 10_000;
/** Milliseconds that verified bytes wait to be committed with others, while somebody waits for them. */
const commitMs = 50;
/** Times that one answer asks for the same entry. */
const mostTries = 3;

/**
 * Sees to it that what an answer needs is fetched from the CDN, each entry once however many wait for it. Nothing here sends a byte, or says that one is right: what is fetched
 * goes into the store as ever, and answers go on with what the ledger calls held. Only what a build of the ledger names is asked for. Needs `close`.
 */
export class PullThrough {
  readonly #store: Store;
  readonly #upstreams: Upstreams;
  readonly #named: NamedObjects;
  readonly #unlisted: UnlistedObjects;
  readonly #stopping = new AbortController();
  readonly #maps: ArchiveMaps;
  readonly #learner: BuildLearner;
  readonly #queue = new PQueue({ concurrency: mostFetches });
  /** Small objects that are on their way. */
  readonly #small = new Map<string, Promise<boolean>>();
  /** Entries that are on their way, by object and offset. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #failures = new Failures(failedMs);
  /** Answers that wait for bytes of an object. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** The room that is left; undefined where it has no limit. */
  readonly #room: Room | undefined;
  /** Answers that had to wait for the CDN. */
  #misses = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * @param options.onBuild called when the ledger got a build that it did not know
   * @param options.maxBytes that the store may take on disk: then it is a cache, and forgets
   */
  constructor(
    session: Session,
    store: Store,
    {
      onProgress,
      onBuild,
      maxBytes,
    }: { onProgress?: OnProgress | undefined; onBuild: () => void; maxBytes?: number | undefined },
  ) {
    this.#store = store;
    this.#room = maxBytes === undefined ? undefined : new Room(session, store, maxBytes, onProgress);
    this.#upstreams = new Upstreams(session, onProgress);
    this.#maps = new ArchiveMaps(store);
    this.#learner = new BuildLearner(session, store, onBuild);
    this.#unlisted = new UnlistedObjects(buildOpener(session, { signal: this.#stopping.signal, onProgress }));
    const read: ReadSmall = async (build, name, size) => {
      const isHere = await this.#demandSmall({ name, build, form: 'small', size });
      return isHere ? store.readObject(name) : undefined;
    };
    this.#named = new NamedObjects(store, read, (build, ekey) => this.#unlisted.sizeOf(build, ekey));
  }

  /** Sees to it that the ledger knows the build of a product that is live; what cannot be learned is left as it is. */
  learnBuild(product: string): Promise<void> {
    return this.#learner.learn(product);
  }

  /**
   * An object of which nothing is held yet, or no size is known; a small one is fetched. Undefined for one that no build names, or no host has.
   * @throws E_NETWORK… where no host can be asked, E_STORE… where it cannot be kept
   */
  async find(path: string): Promise<FoundObject | undefined> {
    const named = await this.#named.find(path);
    if (named === undefined || !(await this.#knowSize(named))) return undefined;
    if (named.form === 'loose' && named.size) return { path, size: named.size, isWhole: false };
    const size = named.form === 'archive' ? this.#store.files.archiveEnd(path) : undefined;
    return size === undefined ? findObject(this.#store, path, async () => named.size) : { path, size, isWhole: false };
  }

  /** The way to bytes of an object that are not held. */
  bringing(path: string): Bringing {
    let ahead = 0;
    let isTouched = false;
    let isMissed = false;
    const tries = new Map<number, number>();
    const ask = (named: NamedObject, at: number, end: number): void => {
      for (const places of this.#missing(named, at, Math.min(end, at + aheadBytes))) this.#fetch(named, places);
      ahead = at + aheadBytes;
    };
    return {
      canHave: async (start, end) => {
        const named = await this.#named.find(path);
        return named !== undefined && (await this.#knowSize(named)) && this.#canHave(named, start, end);
      },
      wait: async (at, end, isUnread) => {
        const named = await this.#named.find(path);
        const times = (tries.get(at) ?? 0) + 1;
        if (named === undefined || times > mostTries) return false;
        tries.set(at, times);
        if (named.form === 'small') return this.#demandSmall(named, isUnread);
        // What could not be read has moved since, or the disk has lost it.
        const isLost = isUnread && (await this.#lose(named, at));
        if (!isLost && heldUntil(this.#store, path, at) > at) return true;
        if (!isMissed) this.#misses += 1;
        isMissed = true;
        ask(named, at, end);
        if (await this.#until(named, at)) return true;
        for (const place of this.#places(named, at, at + 1)) this.#failures.tell(keyOf(place));
        return false;
      },
      goOn: async (at, end) => {
        if (!isTouched) this.#room?.touch(path, at, end);
        isTouched = true;
        if (ahead === 0 || at + aheadBytes / 2 < ahead || ahead >= end) return;
        const named = await this.#named.find(path);
        if (named !== undefined && named.form !== 'small') ask(named, ahead, end);
      },
    };
  }

  /** What it did, for those who watch over the server. */
  figures(): Figure[] {
    const type = 'counter';
    return [
      {
        name: 'pakrat_upstream_bytes_total',
        help: 'Bytes of bodies that came from CDNs.',
        type,
        read: () => this.#upstreams.traffic().bytes,
      },
      {
        name: 'pakrat_upstream_requests_total',
        help: 'Requests to CDNs.',
        type,
        read: () => this.#upstreams.traffic().requests,
      },
      {
        name: 'pakrat_misses_total',
        help: 'Answers with an archive or a loose object of which bytes had to be waited for.',
        type,
        read: () => this.#misses,
      },
    ];
  }

  /** Ends transfers. What came until then is kept. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue.clear();
    this.#stopping.abort();
    await this.#unlisted.close();
    await this.#upstreams.close();
    await this.#queue.onIdle();
    clearInterval(this.#timer);
    await this.#room?.close();
  }

  async #knowSize(named: NamedObject): Promise<boolean> {
    if (named.form === 'loose') return true;
    const index: ObjectName = { ...named.name, suffix: '.index' };
    const small = named.form === 'small' ? named : await this.#named.find(objectPath(index));
    return small !== undefined && this.#demandSmall(small);
  }

  /** As {@link #bringSmall}. @throws what may pass, where it is not held */
  async #demandSmall(named: NamedObject, isLost = false): Promise<boolean> {
    if (await this.#bringSmall(named, isLost)) return true;
    this.#failures.tell(objectPath(named.name));
    return false;
  }

  /** @param isLost it could not be read @returns whether a small object is held now */
  #bringSmall({ name, build, size }: NamedObject, isLost = false): Promise<boolean> {
    const path = objectPath(name);
    if (!isLost && this.#store.ledger.completeSize(path) !== undefined) return Promise.resolve(true);
    if (this.#failures.has(path)) return Promise.resolve(false);
    let work = this.#small.get(path);
    if (work === undefined) {
      const bring = async (): Promise<boolean> => {
        const fetcher = await this.#upstreams.fetcher(build);
        await fetcher.object(name, size);
        return true;
      };
      work = bring().catch((error: unknown) => {
        if (!isPakratError(error)) throw error;
        this.#failures.add(path, error);
        return false;
      });
      this.#small.set(path, work);
      void work.finally(() => this.#small.delete(path)).catch(() => {});
    }
    return work;
  }

  /** The entries that have bytes of a range. */
  #places({ name, form, size }: NamedObject, start: number, end: number): Iterable<EntryPlace> {
    if (form === 'loose') return [{ ekey: name.hash, object: name, loose: true, offset: 0, size: size ?? 0 }];
    return this.#maps.of(name)?.within(start, end) ?? [];
  }

  /** What no entry covers comes from no CDN that can be checked: it must be held. */
  #canHave(named: NamedObject, start: number, end: number): boolean {
    const path = objectPath(named.name);
    if (named.form === 'small') return heldUntil(this.#store, path, start) >= end;
    const spans = [];
    for (const { offset, size } of this.#places(named, start, end)) spans.push({ start: offset, end: offset + size });
    const gaps = subtractSpans([{ start, end }], mergeSpans(spans));
    return gaps.every((gap) => heldUntil(this.#store, path, gap.start) >= gap.end);
  }

  /** Entries of a range that are neither held nor on their way, in portions. */
  *#missing(named: NamedObject, start: number, end: number): Generator<EntryPlace[]> {
    let portion: EntryPlace[] = [];
    for (const place of this.#places(named, start, end)) {
      if (this.#underWay.has(keyOf(place)) || this.#failures.has(keyOf(place)) || isHeld(this.#store, place)) continue;
      portion.push(place);
      if (portion.length < aheadEntries) continue;
      yield portion;
      portion = [];
    }
    if (portion.length > 0) yield portion;
  }

  /** Takes what the disk has lost for what is not held. @returns false where nothing was lost */
  async #lose(named: NamedObject, at: number): Promise<boolean> {
    const path = objectPath(named.name);
    if (forgetLost(this.#store, [path]).length > 0) return true;
    let isLost = false;
    for (const place of this.#places(named, at, at + 1)) isLost = (await loseIfWrong(this.#store, place)) || isLost;
    return isLost;
  }

  #fetch({ name, build }: NamedObject, places: readonly EntryPlace[]): void {
    if (this.#isClosed) return;
    const path = objectPath(name);
    const kind = name.kind === 'patch' ? 'patch' : 'data';
    const wake = (): void => this.#wake(path);
    const bring = async (): Promise<PakratError | undefined> => {
      const fetcher = await this.#upstreams.fetcher(build);
      const { maxRangeBytes } = fetcher.settings.planOptions;
      // Inside the commit: who waits looks when it is done.
      const onHeld = (): void => void setImmediate(wake);
      const failures = await fetcher.fetchPlanned({ kind, onHeld }, (whole) => {
        const left = places.filter((place) => !isHeld(this.#store, place));
        // Nothing is fetched that nobody asked for: no gap is bridged.
        return (kind === 'patch' ? patchJobs : entryJobs)(this.#store, left, { gapBytes: 0, maxRangeBytes, whole });
      });
      // One that may pass is told of all that did not come.
      const errors = failures.map((failure) => failureError(failure));
      return errors.find(mayPass) ?? errors[0];
    };
    const work = async (): Promise<PakratError | undefined> => {
      const spans = places.map(({ offset, size }) => ({ start: offset, end: offset + size }));
      const release = await this.#room?.reserve(path, spans);
      if (this.#room !== undefined && release === undefined) return undefined;
      return bring().finally(release);
    };
    const done = this.#queue
      .add(work)
      .catch((error: unknown) => (isPakratError(error) ? error : undefined))
      .then((error) => {
        for (const place of places) {
          this.#underWay.delete(keyOf(place));
          if (!isHeld(this.#store, place)) this.#failures.add(keyOf(place), error || undefined);
        }
        wake();
      });
    for (const place of places) this.#underWay.set(keyOf(place), done);
    this.#timer ??= setInterval(() => this.#commit(), commitMs);
  }

  #commit(): void {
    if (this.#underWay.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    try {
      this.#upstreams.flush();
    } catch {
      // What cannot be committed is told where the fetch ends.
    }
  }

  /** Waits until a byte is held. @returns false when it will not be */
  async #until(named: NamedObject, at: number): Promise<boolean> {
    const path = objectPath(named.name);
    for (;;) {
      if (heldUntil(this.#store, path, at) > at) return true;
      const places = [...this.#places(named, at, at + 1)];
      if (!places.some((place) => this.#underWay.has(keyOf(place)))) return false;
      await new Promise<void>((resolve) => {
        const waiting = this.#waiting.get(path) ?? new Set();
        this.#waiting.set(path, waiting.add(resolve));
      });
    }
  }

  #wake(path: string): void {
    const waiting = this.#waiting.get(path) ?? [];
    this.#waiting.delete(path);
    for (const resolve of waiting) resolve();
  }
}

function keyOf({ object, offset }: EntryPlace): string {
  return `${objectPath(object)} ${offset}`;
}
