import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex } from '../../core/bytes.ts';
import type { BuildConfig, ManifestKeys } from '../../formats/configs/build-config.ts';
import type { ArchiveIndex } from '../../formats/indices/archive-index.ts';
import { type BuildPlace, type EntryPlace, heldFiles } from '../objects.ts';
import { decodeInThread } from './manifest-thread.ts';

/**
 * Manifests that are fetched, and decoded in a thread, while the indices of archives still come and are merged: those of which the index of loose objects says where
 * they are. Whatever goes wrong is told to whoever opens one, who makes it then. Needs `close`.
 */
export class EarlyManifests {
  readonly #place: BuildPlace;
  readonly #fileIndex: Promise<ArchiveIndex | undefined>;
  readonly #made = new Map<string, Promise<boolean>>();
  readonly #end = new AbortController();
  readonly #last: Promise<unknown>;

  /** Begins to make those of a build that will be opened in any case, as far as its config knows their encoding keys. */
  static begin(
    place: BuildPlace,
    { encoding, download }: Pick<BuildConfig, 'encoding' | 'download'>,
    fileIndex: Promise<ArchiveIndex | undefined>,
  ): EarlyManifests {
    const isBoth = place.wantsDownload === true && download !== undefined;
    return new EarlyManifests(place, isBoth ? [encoding, download] : [encoding], fileIndex);
  }

  /** Begins with the first of those that are wanted. */
  constructor(place: BuildPlace, wanted: readonly ManifestKeys[], fileIndex: Promise<ArchiveIndex | undefined>) {
    this.#place = place;
    this.#fileIndex = fileIndex;
    let fetched: Promise<unknown> = fileIndex;
    let decoded: Promise<unknown> = fileIndex;
    for (const keys of wanted) {
      // Where one cannot be had nobody asks for the next: a host that fails takes its time, each time.
      const fetching = fetched.then(() => this.#fetch(keys));
      const made = Promise.all([fetching, settled(decoded)]).then(([entry]) => this.#decode(entry, keys));
      this.#made.set(
        keys.ckey,
        made.catch(() => false),
      );
      [fetched, decoded] = [fetching, made];
    }
    this.#last = settled(decoded);
  }

  /** Waits for a manifest that was begun; asked once, for it may turn out to be damaged later. @returns whether it is there now */
  async made(ckey: string): Promise<boolean> {
    const made = this.#made.get(ckey);
    this.#made.delete(ckey);
    return made ?? false;
  }

  /** Begins nothing any more, and waits for what goes on. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#last;
  }

  /** @returns its place once it is held; undefined where it is there already, or only the archives may have it */
  async #fetch({ ckey, ekey }: ManifestKeys): Promise<EntryPlace | undefined> {
    const { identity, objects, folders } = this.#place;
    const size = ekey === undefined ? undefined : (await this.#fileIndex)?.find(fromHex(ekey))?.size;
    const isDone = this.#end.signal.aborted || existsSync(join(folders.manifests, ckey));
    if (ekey === undefined || size === undefined || isDone) return undefined;
    const object = { cdnPath: identity.cdnPath, kind: 'data' as const, hash: ekey };
    const entry = { ekey, object, loose: true, offset: 0, size };
    await objects.entries([entry]);
    return entry;
  }

  async #decode(entry: EntryPlace | undefined, manifest: ManifestKeys): Promise<boolean> {
    const { objects, folders, threads } = this.#place;
    const [held] = entry === undefined ? [] : heldFiles(objects, [entry]);
    if (entry === undefined || held === undefined) return false;
    const { manifests, temporary } = folders;
    const task = { held, entry, manifest, folders: { manifests, temporary } };
    return decodeInThread(task, { ...threads, signal: this.#end.signal });
  }
}

function settled(work: Promise<unknown>): Promise<unknown> {
  return work.catch(() => {});
}
