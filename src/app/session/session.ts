import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuildPlace } from '../../builds/objects.ts';
import type { ResolveContext } from '../../builds/resolve/product-answer.ts';
import type { KnownBuilds, ResolvedBuild } from '../../builds/resolve/resolve-build.ts';
import type { Hosts } from '../../cdn/hosts/hosts.ts';
import type { HttpClient, HttpGetter } from '../../cdn/transport/http.ts';
import type { Channels } from '../../cdn/versions/channels.ts';
import { fromHex } from '../../core/bytes.ts';
import { isNotFound, PakratError, valueUnless } from '../../core/errors.ts';
import { noting, type OnProgress, stepping, type WorkOptions } from '../../core/progress.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import type { Network, NetworkOptions } from '../../fetch/network.ts';
import { StepProgress } from '../../fetch/step-progress.ts';
import { fittingJobs } from '../../files/open-files.ts';
import type { KeyRing } from '../../formats/blte/keys.ts';
import type { ConnectedBuild, OpenedBuild } from '../../keep/build-opener.ts';
import { type LookupFolders, storeLayout } from '../../store/layout.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import type { Store } from '../../store/store.ts';
import { type CheckedOptions, checkOptions, type SessionOptions } from './session-options.ts';

/** The share of the network that a piece of work has. Default: the ranges of the setting `sync.jobs`, and no threads. */
type NetworkUse = { [Name in 'signal' | 'jobs' | 'bytesPerSecond' | 'threads']?: NetworkOptions[Name] | undefined } & {
  /** Told of trouble with hosts. */
  onProgress?: OnProgress | undefined;
  /** Nothing is expected to be fetched: threads are started when they are needed, not before. */
  isIdle?: boolean;
};

/** The remark on waiting for what another process fetches. */
const waitNote = 'another process is fetching what is needed here; waiting for it';

/** A job has a connection and a file, and connections stay open for a while when their work is done. */
const filesOfJob = 4;
const filesOfThread = 32;

/** Opens a session, and checks the settings that it is given. @throws E_USAGE for options that are none */
export async function openSession(options: SessionOptions): Promise<Session> {
  if (options.settings !== undefined) {
    const { checkSettings } = await import('../settings/check-settings.ts');
    checkSettings('the settings given', options.settings);
  }
  return new Session(options);
}

/** Opens a session with settings that were checked, runs `body` with it, and closes it, whatever happens. @throws E_USAGE, and what `body` throws */
export async function withSession<Result>(
  options: SessionOptions,
  body: (session: Session) => Promise<Result>,
): Promise<Result> {
  const session = new Session(options);
  try {
    return await body(session);
  } finally {
    await session.close();
  }
}

/**
 * A store with its settings, and connections that are made when first needed: reading what is held loads no network code, and a session
 * without a store loads no SQLite. Needs `close`.
 */
export class Session {
  readonly options: CheckedOptions;
  #store: Store | undefined;
  #moved: Promise<void> | undefined;
  #http: HttpClient | undefined;
  #channels: Channels | undefined;
  #scratch: string | undefined;
  #derivesBeside = false;

  /** Takes settings as they are; {@link openSession} checks them. @throws E_USAGE for other options that are none */
  constructor(options: SessionOptions) {
    this.options = checkOptions(options);
  }

  /** Closes the store and every connection, and removes what a session without a store has derived. */
  async close(): Promise<void> {
    const [http, store] = [this.#http, this.#store];
    this.#http = undefined;
    this.#store = undefined;
    this.#moved = undefined;
    try {
      await http?.close();
    } finally {
      store?.close();
      if (this.#scratch !== undefined) rmSync(this.#scratch, { recursive: true, force: true });
    }
  }

  /** Folder of the store. @throws E_USAGE for a session without one */
  get storeFolder(): string {
    const { store } = this.options;
    if (store !== undefined) return store;
    throw new PakratError('E_USAGE', 'this needs a store, and the session has none', {
      hint: "Open the session with one: openPakrat({ store: './store' }).",
    });
  }

  /**
   * The store.
   * @param options.create make it when it is not there
   * @throws E_NOT_FOUND when it is not there, E_USAGE for a session without one, E_STORE…
   */
  async store(options: { create: boolean }): Promise<Store> {
    const { storeFolder } = this;
    const { openStore } = await import('../../store/store.ts');
    const { moveOldFiles } = await import('../../store/settle-store.ts');
    this.#store ??= openStore(storeFolder, options);
    this.#moved ??= moveOldFiles(this.#store);
    await this.#moved;
    return this.#store;
  }

  /** The store; undefined for a session without one, and when it is not there. @throws E_STORE… */
  async storeIfThere(): Promise<Store | undefined> {
    if (this.options.store === undefined) return undefined;
    return valueUnless(isNotFound, this.store({ create: false }));
  }

  /** Folders for what is derived of builds: of the store; temporary ones where there is none, or over those of one that may only be read. */
  async folders(): Promise<LookupFolders> {
    const store = this.options.store === undefined ? undefined : await this.store({ create: true });
    if (store?.writable === true && !this.#derivesBeside) return store.layout;
    const { linkDerived } = await import('../../store/derived/derived-overlay.ts');
    if (store !== undefined && this.#scratch === undefined) linkDerived(store.layout, this.scratch());
    return this.scratch();
  }

  /** Temporary folders, gone when the session is closed. */
  scratch(): LookupFolders {
    this.#scratch ??= mkdtempSync(join(tmpdir(), 'pakrat-'));
    return storeLayout(this.#scratch);
  }

  /** From now on derives nothing in the store, whose disk is full. */
  deriveBeside(): void {
    this.#derivesBeside = true;
  }

  /** The keys of the session's options, then those of the store. */
  async keyRing(): Promise<KeyRing> {
    const { keys } = this.options;
    const store = await this.storeIfThere();
    if (store === undefined) return keys;
    return {
      find(name) {
        const key = keys.find(name);
        if (key !== undefined) return key;
        const hex = store.ledger.key(name);
        return hex === undefined ? undefined : fromHex(hex);
      },
    };
  }

  /** The HTTP client of the session, for everything but ranges in threads. @throws E_OFFLINE */
  async http(): Promise<HttpClient> {
    const { HttpClient } = await import('../../cdn/transport/http.ts');
    const { network, sync } = this.options.settings;
    this.#http ??= new HttpClient({ ...network, connections: fittingJobs(sync.smallJobs, filesOfJob) });
    return this.#http;
  }

  /** The version services, and the ledger that remembers what they say. */
  async resolveContext(options: WorkOptions & { create: boolean }): Promise<ResolveContext> {
    const { services, region, offline, settings } = this.options;
    // A client is made when a service is asked, not before: most look-ups find a recent answer in the ledger.
    const http: HttpGetter = { get: async (request) => (await this.http()).get(request) };
    const { ledger } = await this.store({ create: options.create && !offline });
    const channels = (): Promise<Channels> => this.#openChannels();
    const { signal, onProgress } = options;
    const onProblem = (problem: string | undefined): void => onProgress?.({ type: 'host', hosts: [], problem });
    const { versionServiceMs: timeoutMs } = settings.network;
    const onAsk = (): void => stepping(onProgress)('version service');
    const online = { services, http, channels, timeoutMs, signal, onAsk, onProblem };
    return { ledger, online: offline ? undefined : online, region, note: noting(onProgress) };
  }

  async #openChannels(): Promise<Channels> {
    const { Channels } = await import('../../cdn/versions/channels.ts');
    const { keptObjects } = await import('../../builds/resolve/channel-objects.ts');
    const { layout } = await this.store({ create: true });
    this.#channels ??= new Channels(keptObjects(layout));
    return this.#channels;
  }

  /** The build that `PRODUCT[@BUILD]` means. @throws as parseBuildSpec and resolveBuild */
  async resolve(
    name: string,
    options: WorkOptions & { fresh: boolean; cdnConfig?: string | undefined },
  ): Promise<ResolvedBuild> {
    const { parseBuildSpec } = await import('../../builds/resolve/build-spec.ts');
    const { resolveBuild } = await import('../../builds/resolve/resolve-build.ts');
    const spec = parseBuildSpec(name);
    const context = await this.resolveContext({ ...options, create: true });
    return resolveBuild({ ...context, ...(await this.knownBuilds()) }, spec, options);
  }

  /** What the store knows of builds. @throws E_NOT_FOUND when there is no store, E_STORE… */
  async knownBuilds(): Promise<KnownBuilds> {
    const { heldBuildName } = await import('../../builds/resolve/unlisted-build.ts');
    const store = await this.store({ create: false });
    const { region } = this.options;
    return { ledger: store.ledger, region, buildNameOf: (build) => heldBuildName(store, build) };
  }

  /** The hosts of a build as a network: undefined when the session is offline. Needs `close`. */
  async openNetwork(identity: BuildIdentity, use: NetworkUse = {}): Promise<Network | undefined> {
    const { settings, workerUrl, offline } = this.options;
    if (offline) return undefined;
    const { openNetwork } = await import('../../fetch/network.ts');
    const { signal, jobs = settings.sync.jobs, bytesPerSecond, threads = 0, isIdle = false, onProgress } = use;
    const { layout } = await this.store({ create: true });
    const fittingThreads = fittingJobs(threads, filesOfThread, 0);
    const network = openNetwork(await this.#hosts(identity, onProgress), () => this.http(), {
      ...settings.network,
      jobs: fittingJobs(jobs, filesOfJob),
      maxRangeBytes: settings.sync.maxRangeBytes,
      bytesPerSecond,
      threads: fittingThreads,
      workerUrl,
      temporary: layout.temporary,
      signal,
    });
    // Threads start while configs and indices are asked for; a failure shows when they are needed.
    if (fittingThreads > 0 && !isIdle) network.engine().catch(() => {});
    return network;
  }

  /** The hosts of a build: those that a person named for this run, else those of the CDN with the mirrors of the settings behind them. */
  async #hosts(identity: BuildIdentity, onProgress: OnProgress | undefined): Promise<Hosts> {
    const { Hosts } = await import('../../cdn/hosts/hosts.ts');
    const { withBothSchemes } = await import('../../cdn/hosts/host-names.ts');
    const { settings, ownHosts, mirrors } = this.options;
    const all = ownHosts ?? [...withBothSchemes(identity.hosts), ...mirrors];
    const hosts: Hosts = new Hosts(all, {
      prefer: settings.network.prefer,
      onProblem: (problem) => onProgress?.({ type: 'host', hosts: hosts.shown, problem }),
    });
    return hosts;
  }

  /**
   * Opens a build of the store; the parts of it that lack are fetched where there is a network. Closing it leaves the network open.
   * @param options.isKnown the ledger had it: if it was forgotten since, it stays so
   * @throws as openBuild of builds/
   */
  async openBuild(
    identity: ResolvedBuild,
    network: Network | undefined,
    options: { jobs?: number | undefined; isKnown?: boolean | undefined } & Pick<
      BuildPlace,
      'wantsDownload' | 'mayLackEncoding' | 'onStep' | 'onNote'
    > = {},
  ): Promise<OpenedBuild> {
    const { openBuild } = await import('../../builds/build.ts');
    const store = await this.store({ create: network !== undefined });
    const { cdnConfigs } = identity;
    const { wantsDownload, mayLackEncoding, onStep, onNote, isKnown = false } = options;
    const remember = (known: BuildIdentity): void => {
      if (network !== undefined && store.writable && !isKnown) store.ledger.addBuild(known);
    };
    // That there is a build which no table names only its config tells.
    if (cdnConfigs === undefined) remember(identity);
    const fetcher = await this.#openFetcher(store, network, options);
    try {
      const objects = fetcher.objects();
      const keys = await this.keyRing();
      const folders = await this.folders();
      const { threads, workerUrl } = this.options;
      const use = { wantsDownload, mayLackEncoding, threads: { threads, workerUrl } };
      const place = { identity, objects, folders, keys, ...use, onStep, onNote };
      const build =
        cdnConfigs === undefined
          ? await openBuild(place)
          : await (await import('../../builds/resolve/unlisted-build.ts')).openUnlisted(place, cdnConfigs);
      if (cdnConfigs !== undefined) remember(build.identity);
      const close = async (): Promise<void> => {
        await build.close();
        await fetcher.end();
      };
      return { build, fetcher, close };
    } catch (error) {
      await fetcher.end();
      throw error;
    }
  }

  async #openFetcher(
    store: Store,
    network: Network | undefined,
    own: { jobs?: number | undefined } & Pick<BuildPlace, 'onNote'>,
  ): Promise<Fetcher> {
    const { Fetcher } = await import('../../fetch/fetcher.ts');
    const { jobs, smallJobs, gapBytes, maxRangeBytes } = this.options.settings.sync;
    return new Fetcher(store, network, {
      jobs: fittingJobs(own.jobs ?? jobs, filesOfJob),
      smallJobs: fittingJobs(smallJobs, filesOfJob),
      planOptions: { gapBytes, maxRangeBytes },
      onWait: () => own.onNote?.(waitNote),
    });
  }

  /** What fetches objects from the hosts of a build, without opening it: it may not be there to be opened. Needs `close`. */
  async connect(identity: BuildIdentity, { signal, onProgress }: WorkOptions): Promise<ConnectedBuild> {
    const network = await this.openNetwork(identity, { signal, onProgress });
    const onNote = noting(onProgress);
    const fetcher = await this.#openFetcher(await this.store({ create: false }), network, { onNote });
    const close = async (): Promise<void> => {
      await network?.close();
      await fetcher.end();
    };
    return { fetcher, close };
  }

  /** Opens a build with a network of its own, or without any. Needs `close`. @throws as openBuild of builds/ */
  async openFetched(
    identity: ResolvedBuild,
    options: { offline?: boolean; isKnown?: boolean } & WorkOptions,
  ): Promise<OpenedBuild> {
    const { offline = false, isKnown, signal, onProgress } = options;
    const network = offline ? undefined : await this.openNetwork(identity, { signal, onProgress });
    const { onStep, end } = new StepProgress(network, onProgress);
    try {
      const opening = this.openBuild(identity, network, { onStep, onNote: noting(onProgress), isKnown });
      const { build, fetcher, close } = await opening.finally(end);
      const closeAll = async (): Promise<void> => {
        end();
        // Transfers end before what they brought is committed.
        await network?.close();
        await close();
      };
      return { build, fetcher, close: closeAll };
    } catch (error) {
      await network?.close();
      throw error;
    }
  }
}
