import { basename } from 'node:path';
import { openAny } from '../../../app/session/open-source.ts';
import type { Session } from '../../../app/session/session.ts';
import { listfileVersion } from '../../../builds/listfile/listfile-paths.ts';
import { abortError, PakratError } from '../../../core/errors.ts';
import { notesTo } from '../../../core/progress.ts';
import { isHeld } from '../../../fetch/held-spans.ts';
import { buildSource } from '../../../sources/build-source.ts';
import type { NameIndex } from '../../../sources/names/name-index.ts';
import type { Source } from '../../../sources/source.ts';
import type { BuildRow } from '../../../store/ledger/rows.ts';
import { writeNames } from './write-names.ts';

/** A source that the server lets people look into. */
export interface Served {
  /** Names it in links: `PRODUCT@BUILDCONFIG`, or `source:N` for one that was given on the command line. */
  readonly id: string;
  readonly label: string;
  /** Of a build of the store. */
  readonly build?: BuildRow | undefined;
  /** Of any other source: what it was given as. */
  readonly path?: string | undefined;
}

/** A served source that is open. It stays so until it is given back. */
export interface Lease {
  readonly served: Served;
  readonly source: Source;
  /** Its names, sorted; made when first asked for. */
  names(): Promise<NameIndex>;
  /** Remarks for a person on what it lacks, as far as that came up. */
  readonly notes: readonly string[];
  release(): void;
}

interface OpenedServed {
  source: Source;
  build: BuildRow | undefined;
  names: Promise<NameIndex> | undefined;
  notes: string[];
  close(): Promise<void>;
}

interface Slot {
  opened: Promise<OpenedServed>;
  /** As its kind tells: another when it has to be opened anew. */
  version: string;
  users: number;
  /** Closes it when nobody used it for a while. */
  idle: NodeJS.Timeout | undefined;
}

/** Sources that stay open when nobody looks at them, and for how long. */
const [mostIdle, idleMs] = [8, 600_000];
/** What lies on the disk may change: it is opened anew when nobody looked at it for a moment. */
const looseIdleMs = 5_000;

/**
 * The builds of a store and other sources, as far as they may be looked into: only what is listed can be named. They are opened when first
 * asked for, shared by all who look, and closed when nobody did for a while. Needs `close`.
 */
export class ServedSources {
  readonly #session: Session;
  readonly #others: readonly Served[];
  /** By id; those that were used last come last. */
  readonly #slots = new Map<string, Slot>();
  #warming: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #ready = new Set<string>();

  /** @param session one without a network: to look at something fetches nothing */
  constructor(session: Session, paths: readonly string[]) {
    this.#session = session;
    this.#others = paths.map((path, i) => ({ id: `source:${i + 1}`, label: basename(path) || path, path }));
  }

  /** Builds of the store, the last added first, then the others. */
  async list(): Promise<Served[]> {
    const { ledger } = await this.#session.store({ create: false });
    return [...ledger.builds().map(servedBuild), ...this.#others];
  }

  /** @throws E_NOT_FOUND for what is not served */
  async get(id: string): Promise<Served> {
    const found = (await this.list()).find((served) => served.id === id);
    if (found !== undefined) return found;
    throw new PakratError('E_NOT_FOUND', 'there is no such build or source here');
  }

  /** Opens a source, or takes one that is open. @throws E_NOT_FOUND, and as opening it does */
  async lease(id: string): Promise<Lease> {
    if (this.#isClosed) throw abortError();
    const served = await this.get(id);
    const version = await this.#versionOf(served);
    const known = this.#slots.get(id);
    if (known?.users === 0 && known.version !== version) await this.#drop(id);
    const slot = this.#slots.get(id) ?? { opened: this.#open(served), version, users: 0, idle: undefined };
    this.#slots.delete(id);
    this.#slots.set(id, slot);
    slot.users += 1;
    clearTimeout(slot.idle);
    try {
      const opened = await slot.opened;
      let isOut = true;
      const release = (): void => {
        if (isOut) this.#giveBack(id, slot);
        isOut = false;
      };
      const { source, notes } = opened;
      return { served, source, names: () => this.#namesOf(id, opened), notes, release };
    } catch (error) {
      this.#slots.delete(id);
      throw error;
    }
  }

  /** True for a source that is open, names and all: to look into it takes no time. */
  isReady(id: string): boolean {
    return this.#ready.has(id);
  }

  /** Opens sources and reads their names, one after the other, before somebody asks. Whatever is wrong with them, whoever asks is told. */
  warm(ids: readonly string[]): void {
    this.#warming = ids.reduce(
      (before, id) => before.then(() => this.use(id, (lease) => lease.names()).catch(() => undefined)),
      this.#warming,
    );
  }

  /** Runs work with an open source. @throws as {@link lease} and the work do */
  async use<Result>(id: string, work: (lease: Lease) => Promise<Result>): Promise<Result> {
    const lease = await this.lease(id);
    try {
      return await work(lease);
    } finally {
      lease.release();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#slots.keys()].map((id) => this.#drop(id)));
  }

  async #open(served: Served): Promise<OpenedServed> {
    const notes: string[] = [];
    const { source, close } =
      served.build === undefined
        ? await openAny(this.#session, served.path ?? '', { onProgress: notesTo(notes) })
        : await this.#openBuild(served.build, notes);
    const opened: OpenedServed = {
      source,
      build: served.build,
      names: undefined,
      notes,
      close: async () => {
        const names = await opened.names?.catch(() => undefined);
        names?.close();
        await close();
      },
    };
    return opened;
  }

  async #openBuild(row: BuildRow, notes: string[]): Promise<{ source: Source; close: () => Promise<void> }> {
    const onProgress = notesTo(notes);
    const { build, fetcher, close } = await this.#session.openFetched(row, { offline: true, onProgress });
    // Syncs go on beside it: the ledger is asked each time.
    const hasEntry = isHeld.bind(undefined, fetcher.store);
    return { source: buildSource(build, { locale: this.#session.options.locale, hasEntry }), close };
  }

  /** Names of builds come from a list that may be renewed. */
  async #versionOf({ build }: Served): Promise<string> {
    if (build === undefined) return '';
    return listfileVersion(await this.#session.folders())?.base ?? '';
  }

  #namesOf(id: string, opened: OpenedServed): Promise<NameIndex> {
    opened.names ??= this.#readNames(opened)
      .then((index) => {
        this.#ready.add(id);
        return index;
      })
      .catch((error: unknown) => {
        opened.names = undefined;
        throw error;
      });
    return opened.names;
  }

  async #readNames({ source, build, notes }: OpenedServed): Promise<NameIndex> {
    const { store, locale } = this.#session.options;
    if (build !== undefined && store !== undefined) {
      const { namesInThread } = await import('./names-thread.ts');
      const names = await namesInThread({ store, locale, product: build.product, buildConfig: build.buildConfig });
      const hear = notesTo(notes);
      for (const text of names?.notes ?? []) hear({ type: 'note', text });
      if (names !== undefined) return names.index;
    }
    const { temporary } = await this.#session.folders();
    return writeNames(source, temporary);
  }

  #giveBack(id: string, slot: Slot): void {
    slot.users -= 1;
    if (slot.users > 0) return;
    const ms = id.startsWith('source:') ? looseIdleMs : idleMs;
    slot.idle = setTimeout(() => void this.#drop(id), ms).unref();
    const idle = [...this.#slots].filter(([, { users }]) => users === 0);
    for (const [other] of idle.slice(0, Math.max(0, idle.length - mostIdle))) void this.#drop(other);
  }

  async #drop(id: string): Promise<void> {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    this.#ready.delete(id);
    clearTimeout(slot.idle);
    const opened = await slot.opened.catch(() => undefined);
    await opened?.close().catch(() => {});
  }
}

function servedBuild(build: BuildRow): Served {
  return { id: `${build.product}@${build.buildConfig}`, label: `${build.product} ${build.name}`, build };
}
