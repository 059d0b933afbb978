import type { EntryPlace } from '../../builds/objects.ts';
import { PakratError } from '../../core/errors.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import type { OnHeld } from '../../fetch/held-spans.ts';
import { SpanWriter } from '../../fetch/transfer/span-writer.ts';
import type { Claim } from '../../store/claims.ts';
import { objectPath } from '../../store/layout.ts';
import type { Span } from '../../store/spans.ts';
import { EntryVerifier } from '../../verify/entry-verifier.ts';
import { HashBuffer } from '../../verify/hash-buffer.ts';

/** Entries that are flushed to disk at a time at most: they are what a kill can cost. */
const mostWaiting = 64;

/** Callbacks for entries that are on disk: the size of each, and what a commit adds. */
export interface EntryEvents {
  onEntry: (size: number) => void;
  onHeld?: OnHeld | undefined;
}

/**
 * Writes whole entries that were made here the way those of the network are written: checked, written, flushed, then committed.
 * Those of one archive should come one after the other, for they share a file and its flushes. Needs `finish`, also after an error.
 */
export class EntryWriter {
  readonly #fetcher: Fetcher;
  readonly #events: EntryEvents;
  readonly #buffer = new HashBuffer();
  #path = '';
  #writer: SpanWriter | undefined;
  #waiting: EntryPlace[] = [];
  /** Nobody else writes these entries, or gives bytes of their object back, until they are in the ledger. */
  #claims: (Claim | undefined)[] = [];

  constructor(fetcher: Fetcher, events: EntryEvents) {
    this.#fetcher = fetcher;
    this.#events = events;
  }

  /** Takes an entry. @throws E_INTEGRITY when its bytes are not those of its ekey, E_STORE_FULL, E_STORE */
  async add(place: EntryPlace, bytes: Uint8Array): Promise<void> {
    const path = objectPath(place.object);
    if (path !== this.#path || this.#waiting.length >= mostWaiting) await this.finish();
    this.#path = path;
    this.#claims.push(await this.#claim(path, place));
    this.#writer ??= this.#open(path);
    this.#write(this.#writer, place, bytes);
    this.#waiting.push(place);
    if (place.loose) await this.finish();
  }

  /** Whoever waits holds no claim: what was written is finished first. */
  async #claim(path: string, { offset, size }: EntryPlace): Promise<Claim | undefined> {
    const claims = this.#fetcher.store.claims();
    const claim = claims?.take(path, offset, offset + size);
    if (claim !== undefined || claims === undefined) return claim;
    await this.finish();
    return this.#fetcher.claim(path, offset, offset + size);
  }

  #write(writer: SpanWriter, place: EntryPlace, bytes: Uint8Array): void {
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
  }

  /** Flushes what was written, and closes the file. @throws E_STORE_FULL, E_STORE */
  async finish(): Promise<void> {
    const writer = this.#writer;
    const written = this.#waiting;
    this.#writer = undefined;
    this.#waiting = [];
    try {
      await writer?.finish();
      this.#fetcher.fetchedEntries += written.length;
      for (const { size, loose } of written) {
        this.#fetcher.addEntry({ path: this.#path, size, loose }, this.#events.onHeld);
        this.#events.onEntry(size);
      }
      this.#fetcher.flush();
    } finally {
      for (const claim of this.#claims.splice(0)) claim?.release();
    }
  }

  #open(path: string): SpanWriter {
    const { files, layout } = this.#fetcher.store;
    files.prepare(path);
    const report = (spans: Span[]): void => this.#fetcher.addSpans(path, spans, this.#events.onHeld);
    return new SpanWriter(files.partial(path), layout.temporary, report);
  }
}
