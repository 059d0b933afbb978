import type { DiffOptions, DiffReport } from './app/diff.ts';
import type { ExtractOptions, ExtractResult } from './app/extract.ts';
import type { GcOptions, GcReport } from './app/gc.ts';
import type { HistoryReport } from './app/history.ts';
import type { ImportOptions, ImportReport } from './app/import.ts';
import type { Inspection, InspectOptions } from './app/inspect.ts';
import type { KeyImport } from './app/keys/import-keys.ts';
import type { ListedKey } from './app/keys/list-keys.ts';
import type { MissingKey } from './app/keys/missing-keys.ts';
import type { KeyUpdate, UpdateKeysOptions } from './app/keys/update-keys.ts';
import type { ListfileChange } from './app/listfile/import-listfile.ts';
import type { ListfileUpdate, UpdateListfileOptions } from './app/listfile/update-listfile.ts';
import type { MountOptions, MountReport } from './app/mount.ts';
import type { PackNadeoOptions, PackOptions, PackReport, PackUnrealOptions } from './app/pack.ts';
import type { PinnedBuild } from './app/pin.ts';
import type { ProductRow, ProductsOptions } from './app/products.ts';
import type { PublishOptions, PublishReport } from './app/publish.ts';
import { openSource, type SourceOptions } from './app/session/open-source.ts';
import { RunningWork } from './app/session/running-work.ts';
import { openSession, type Session } from './app/session/session.ts';
import type { SessionOptions } from './app/session/session-options.ts';
import type { StatusReport } from './app/status.ts';
import type { SyncedBuilds, SyncOptions, SyncReport, SyncSeveralOptions } from './app/sync.ts';
import type { VerifyOptions, VerifyResult } from './app/verify.ts';
import type { ProductTable } from './app/versions.ts';
import type { WatchEvent, WatchOptions } from './app/watch.ts';
import type { WhichOptions, WhichReport } from './app/which.ts';
import type { WorkOptions } from './core/progress.ts';
import { waitForAll } from './core/wait-for-all.ts';
import { PakratSource } from './pakrat-source.ts';

/**
 * Opens a session. Without a store it opens PAKs and installed games, remembers nothing, and loads no SQLite.
 * The library prints nothing, handles no signals of the process and never ends it.
 * @throws E_USAGE for options that are none
 */
export async function openPakrat(options: SessionOptions = {}): Promise<Pakrat> {
  return new Pakrat(await openSession(options));
}

/** A session: a store, its settings, and the verbs of the command line. Results equal what `--json` prints. Needs `close`, or `await using`. */
export class Pakrat {
  readonly #session: Session;
  readonly #open = new Set<PakratSource>();
  readonly #work = new RunningWork('the session');

  /** Made by {@link openPakrat}. */
  constructor(session: Session) {
    this.#session = session;
  }

  /** Opens `PRODUCT[@BUILD]`, a PAK, a game folder, an installed game or a CDN folder. @throws as its kind does */
  async open(source: string, options: SourceOptions = {}): Promise<PakratSource> {
    return this.#work.calmly(options, async (calm) => {
      const work = new RunningWork('the source');
      const opened = await openSource(this.#session, source, { ...calm, signal: work.signal(calm.signal) });
      const made: PakratSource = new PakratSource(opened, work, () => this.#open.delete(made));
      this.#open.add(made);
      return made;
    });
  }

  /** Asks the version services which builds of a product are live. */
  async versions(product: string, options: WorkOptions = {}): Promise<ProductTable> {
    return this.#work.calmly(options, async (calm) => {
      const { askVersions } = await import('./app/versions.ts');
      return (await askVersions(this.#session, product, 'versions', calm)).table;
    });
  }

  /** Asks the version services which hosts and paths carry a product. */
  async cdns(product: string, options: WorkOptions = {}): Promise<ProductTable> {
    return this.#work.calmly(options, async (calm) => {
      const { askVersions } = await import('./app/versions.ts');
      return (await askVersions(this.#session, product, 'cdns', calm)).table;
    });
  }

  /** Lists the products that the version services offer, with what the store holds of them. */
  async products(options: ProductsOptions = {}): Promise<ProductRow[]> {
    return this.#work.calmly(options, async (calm) => {
      const { listProducts } = await import('./app/products.ts');
      return (await listProducts(this.#session, calm)).products;
    });
  }

  /** Lists every build of a product that was ever seen with the store. Nobody is asked. */
  async history(product: string): Promise<HistoryReport> {
    return this.#work.do(async () => {
      const { readHistory } = await import('./app/history.ts');
      return readHistory(this.#session, product);
    });
  }

  /** Tells which builds of the store have a file, and where it changed. Nothing is fetched. */
  async which(name: string, options: WhichOptions = {}): Promise<WhichReport> {
    return this.#work.calmly(options, async (calm) => {
      const { findWhich } = await import('./app/which.ts');
      return findWhich(this.#session, name, calm);
    });
  }

  /**
   * Brings a build, or the part of it that is chosen, into the store; run again to go on where it stopped. A list brings several, one after
   * the other: one that fails is told in what comes back, and does not stop the others.
   */
  sync(build: string, options?: SyncOptions): Promise<SyncReport>;
  sync(builds: readonly string[], options?: SyncSeveralOptions): Promise<SyncedBuilds>;
  async sync(
    build: string | readonly string[],
    options: SyncOptions & SyncSeveralOptions = {},
  ): Promise<SyncReport | SyncedBuilds> {
    return this.#work.calmly(options, async (calm): Promise<SyncReport | SyncedBuilds> => {
      const { sync, syncBuilds } = await import('./app/sync.ts');
      return typeof build === 'string' ? sync(this.#session, build, calm) : syncBuilds(this.#session, build, calm);
    });
  }

  /** Tells what a sync would fetch. Nothing but configs, indices and manifests is fetched for that. */
  plan(build: string, options?: Omit<SyncOptions, 'dryRun'>): Promise<SyncReport>;
  plan(builds: readonly string[], options?: Omit<SyncSeveralOptions, 'dryRun'>): Promise<SyncedBuilds>;
  async plan(
    build: string | readonly string[],
    options: Omit<SyncSeveralOptions, 'dryRun'> = {},
  ): Promise<SyncReport | SyncedBuilds> {
    const plan = { ...options, dryRun: true };
    return typeof build === 'string' ? this.sync(build, plan) : this.sync(build, plan);
  }

  /** Tells what the store holds of the builds that were synced. */
  async status(product?: string): Promise<StatusReport> {
    return this.#work.do(async () => {
      const { readStatus } = await import('./app/status.ts');
      return readStatus(this.#session, product);
    });
  }

  /** Checks a source, or the whole store, against its hashes. */
  async verify(source?: string, options: VerifyOptions = {}): Promise<VerifyResult> {
    return this.#work.calmly(options, async (calm) => {
      const { verify } = await import('./app/verify.ts');
      return verify(this.#session, source, calm);
    });
  }

  /** As {@link verify}, and fetches again what is damaged. */
  repair(source?: string, options: Omit<VerifyOptions, 'repair'> = {}): Promise<VerifyResult> {
    return this.verify(source, { ...options, repair: true });
  }

  /** Takes a folder in the layout of a CDN, an older mirror, another store or an installed game into the store. */
  async import(folder: string, options: ImportOptions = {}): Promise<ImportReport> {
    return this.#work.calmly(options, async (calm) => {
      const { importFolder } = await import('./app/import.ts');
      return importFolder(this.#session, folder, calm);
    });
  }

  /** Gives back the space of what no build of the store wants; builds that the rules let go are forgotten first. */
  async gc(options: GcOptions = {}): Promise<GcReport> {
    return this.#work.calmly(options, async (calm) => {
      const { gc } = await import('./app/gc.ts');
      return gc(this.#session, calm);
    });
  }

  /** Forgets builds, and gives back what only they wanted. */
  async forget(builds: readonly string[], options: WorkOptions & { dryRun?: boolean } = {}): Promise<GcReport> {
    return this.#work.calmly(options, async (calm) => {
      const { forget } = await import('./app/forget.ts');
      return forget(this.#session, builds, calm);
    });
  }

  /** Keeps builds whatever the rules of {@link gc} say. */
  async pin(builds: readonly string[]): Promise<PinnedBuild[]> {
    return this.#work.do(async () => {
      const { pin } = await import('./app/pin.ts');
      return pin(this.#session, builds, { pinned: true });
    });
  }

  /** Takes the pins of builds off. */
  async unpin(builds: readonly string[]): Promise<PinnedBuild[]> {
    return this.#work.do(async () => {
      const { pin } = await import('./app/pin.ts');
      return pin(this.#session, builds, { pinned: false });
    });
  }

  /** Looks again and again which builds of products are live, syncs what is new, and forgets what may go, until its signal ends it. */
  async watch(
    products: readonly string[],
    options: WatchOptions,
    onEvent: (event: WatchEvent) => Promise<void> | void,
  ): Promise<void> {
    return this.#work.calmly(options, async (calm) => {
      const { watch } = await import('./app/watch.ts');
      return watch(this.#session, products, calm, onEvent);
    });
  }

  /** Writes files of a source below a folder. */
  async extract(source: string, options: ExtractOptions): Promise<ExtractResult> {
    return this.#work.calmly(options, async (calm) => {
      const { extract } = await import('./app/extract.ts');
      return extract(this.#session, source, calm);
    });
  }

  /** Compares the files of two sources. */
  async diff(before: string, after: string, options: DiffOptions = {}): Promise<DiffReport> {
    return this.#work.calmly(options, async (calm) => {
      const { diff } = await import('./app/diff.ts');
      return diff(this.#session, before, after, calm);
    });
  }

  /** Describes one object of any known format: a file, an object of the store by its key, or bytes. */
  async inspect(object: string | Uint8Array, options: InspectOptions = {}): Promise<Inspection> {
    return this.#work.calmly(options, async (calm) => {
      const { inspect } = await import('./app/inspect.ts');
      return inspect(this.#session, object, calm);
    });
  }

  /** Shows a source as a read-only file system until the signal is aborted. */
  async mount(source: string, folder: string, options: MountOptions): Promise<MountReport> {
    return this.#work.calmly(options, async (calm) => {
      const { mount } = await import('./app/mount.ts');
      return mount(this.#session, source, folder, calm);
    });
  }

  /** Keys for encrypted files: import them from files, list them, update them from a list on the web, find out which are missing. */
  readonly keys = {
    import: async (files: readonly string[], options: Pick<WorkOptions, 'signal'> = {}): Promise<KeyImport> =>
      this.#work.calmly(options, async (calm) => {
        const { importKeys } = await import('./app/keys/import-keys.ts');
        return importKeys(this.#session, files, calm);
      }),
    list: async (options: { show?: boolean | undefined } = {}): Promise<ListedKey[]> =>
      this.#work.do(async () => {
        const { listKeys } = await import('./app/keys/list-keys.ts');
        return listKeys(this.#session, options);
      }),
    missing: async (source: string, options: SourceOptions = {}): Promise<MissingKey[]> => {
      return this.#work.calmly(options, async (calm) => {
        const { missingKeys } = await import('./app/keys/missing-keys.ts');
        return missingKeys(this.#session, source, calm);
      });
    },
    update: async (options: UpdateKeysOptions = {}): Promise<KeyUpdate> => {
      return this.#work.calmly(options, async (calm) => {
        const { updateKeys } = await import('./app/keys/update-keys.ts');
        return updateKeys(this.#session, calm);
      });
    },
  };

  /** Names of files: import a list of them, or update it from the web. */
  readonly listfile = {
    import: async (list: string | AsyncIterable<Uint8Array>, options: WorkOptions = {}): Promise<ListfileChange> =>
      this.#work.calmly(options, async (calm) => {
        const { importListfile } = await import('./app/listfile/import-listfile.ts');
        return importListfile(this.#session, list, calm);
      }),
    update: async (options: UpdateListfileOptions = {}): Promise<ListfileUpdate> => {
      return this.#work.calmly(options, async (calm) => {
        const { updateListfile } = await import('./app/listfile/update-listfile.ts');
        return updateListfile(this.#session, calm);
      });
    },
  };

  /** Makes a PAK of files and folders, or out of an older one (`like`, `replace`). */
  readonly pack = {
    quake: async (out: string, inputs: string | readonly string[], options: PackOptions = {}): Promise<PackReport> => {
      return this.#work.calmly(options, async (calm) => {
        const { packQuake } = await import('./app/pack.ts');
        return packQuake(out, inputs, calm);
      });
    },
    unreal: async (
      out: string,
      inputs: string | readonly string[],
      options: PackUnrealOptions = {},
    ): Promise<PackReport> => {
      return this.#work.calmly(options, async (calm) => {
        const { packUnreal } = await import('./app/pack.ts');
        return packUnreal(out, inputs, calm);
      });
    },
    nadeo: async (
      out: string,
      inputs: string | readonly string[],
      options: PackNadeoOptions = {},
    ): Promise<PackReport> => {
      return this.#work.calmly(options, async (calm) => {
        const { packNadeo } = await import('./app/pack.ts');
        return packNadeo(out, inputs, { store: this.#session.options.store, ...calm });
      });
    },
  };

  /** Makes a build of a folder for a web server, beside the older ones. */
  async publish(folder: string, options: PublishOptions): Promise<PublishReport> {
    return this.#work.calmly(options, async (calm) => {
      const { publish } = await import('./app/publish.ts');
      return publish(folder, calm, this.#session.options);
    });
  }

  /**
   * Closes the session: what goes on ends with E_ABORTED and is waited for, and so is what goes on with sources that are still open; then the
   * store and every connection are closed. A listener of such work must not wait for it. A second time does nothing.
   */
  close(): Promise<void> {
    return this.#work.close(async () => {
      try {
        await waitForAll(...[...this.#open].map((source) => source.close()));
      } finally {
        await this.#session.close();
      }
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
