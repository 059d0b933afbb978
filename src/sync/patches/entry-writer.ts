import type { EntryPlace } from '../../builds/objects.ts';
import { PakratError } from '../../core/errors.ts';
import { completeLoose, partialFile, type SpanCommitter } from '../../fetch/store-objects.ts';
import { SpanWriter } from '../../fetch/transfer/span-writer.ts';
import { objectPath } from '../../store/layout.ts';
import { EntryVerifier } from '../../verify/entry-verifier.ts';
import { HashBuffer } from '../../verify/hash-buffer.ts';
import type { SyncTools } from '../sync-build.ts';

/** So many entries are flushed to disk together at most: what a kill can cost. */
const mostWaiting = 64;

/**
 * Writes whole entries that were made here the way those of the network are written: checked, written, flushed, then committed.
 * Those of one archive should come one after the other, for they share a file and its flushes. Needs `finish`, also after an error.
 */
export class EntryWriter {
  readonly #tools: { store: SyncTools['store']; committer: SpanCommitter };
  readonly #onEntry: (size: number) => void;
  readonly #buffer = new HashBuffer();
  #path = '';
  #writer: SpanWriter | undefined;
  #waiting: number[] = [];

  /** @param onEntry told of each entry that is on disk */
  constructor(tools: Pick<SyncTools, 'store' | 'committer'>, onEntry: (size: number) => void) {
    this.#tools = tools;
    this.#onEntry = onEntry;
  }

  /** Takes an entry. @throws E_INTEGRITY when its bytes are not those of its ekey, E_STORE_FULL, E_STORE */
  async add(place: EntryPlace, bytes: Uint8Array): Promise<void> {
    const path = objectPath(place.object);
    if (path !== this.#path || this.#waiting.length >= mostWaiting) await this.finish();
    this.#path = path;
    const file = this.#fileOf(place, path);
    const writer = this.#open(file, path);
    const stream = this.#buffer.open(writer);
    const verifier = new EntryVerifier(place, stream);
    try {
      verifier.push(bytes);
      verifier.flush();
      if (!verifier.done) throw new PakratError('E_INTEGRITY', `entry ${place.ekey} is not whole`);
    } finally {
      verifier.close();
      stream.close();
    }
    this.#waiting.push(place.size);
    if (!place.loose) return;
    await this.finish();
    const { ekey, offset, size } = place;
    const target = { ekey, offset, size, held: 0 };
    completeLoose(this.#tools.store, { path, file, start: 0, end: size, targets: [target] }, target);
  }

  /** Flushes what was written, and closes the file. @throws E_STORE_FULL, E_STORE */
  async finish(): Promise<void> {
    const writer = this.#writer;
    const written = this.#waiting;
    this.#writer = undefined;
    this.#waiting = [];
    await writer?.finish();
    for (const size of written) this.#onEntry(size);
    this.#tools.committer.flush();
  }

  #fileOf(place: EntryPlace, path: string): string {
    const { store } = this.#tools;
    return place.loose ? partialFile(store, place.object.hash) : store.file(path);
  }

  #open(file: string, path: string): SpanWriter {
    const { store, committer } = this.#tools;
    this.#writer ??= new SpanWriter({
      file,
      temporary: store.layout.temporary,
      report: (spans) => committer.add(path, spans),
    });
    return this.#writer;
  }
}
