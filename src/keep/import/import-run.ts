import type { BoundedRows } from '../../core/tables/bounded-rows.ts';
import { Waiting } from '../../fetch/claimed-fetch.ts';
import { SpanCommitter } from '../../fetch/held-spans.ts';
import type { Claim } from '../../store/claims.ts';
import type { Span } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import { HashBuffer } from '../../verify/hash-buffer.ts';
import { problemRows, type VerifyProblem } from '../../verify/verify-result.ts';
import type { ProofThreads } from '../proofs/prove-objects.ts';
import { emptyReport, type ImportReport } from './import-report.ts';
import type { CopyKind } from './take/place-whole.ts';

/** The way an import works, and whom it tells. */
export interface ImportSettings {
  /** Share whole files with the folder, by hard links, rather than copy them. */
  link: boolean;
  /** Check all and take nothing. */
  dryRun: boolean;
  /** Threads to hash in. */
  use?: ProofThreads | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the bytes that were looked at, of how many. */
  onProgress?: ((done: number, total: number) => void) | undefined;
  /** Called once when it takes long that another process writes what is to be taken. */
  onWait?: (() => void) | undefined;
  /** Called with remarks for a person. */
  onNote?: ((text: string) => void) | undefined;
}

/** One import: the store, and what came of it so far. */
export class ImportRun {
  readonly store: Store;
  readonly settings: ImportSettings;
  readonly report: ImportReport;
  /** What the report has of damage. */
  readonly damaged: BoundedRows<VerifyProblem>;
  readonly buffer = new HashBuffer();
  readonly committer: SpanCommitter;
  readonly waiting: Waiting;
  /** Right small objects that a dry run found, by path: the files that they are in. */
  readonly seen = new Map<string, string>();
  /** False once the file system turned out not to share the bytes of copies. */
  canClone = true;
  /** False when no hard links are wanted, or once they turned out not to be possible. */
  canLink: boolean;
  /** The spans that the ledger of the other store claims of an object; undefined where it says nothing. */
  claimsOf: (path: string) => readonly Span[] | undefined = () => undefined;
  /** Bytes that will be looked at. */
  total = 0;
  #done = 0;
  readonly #touched = new Set<string>();

  constructor(store: Store, folder: string, settings: ImportSettings) {
    this.store = store;
    this.settings = settings;
    this.canLink = settings.link;
    this.report = emptyReport(folder, settings.dryRun);
    this.damaged = problemRows(this.report.damaged);
    this.committer = new SpanCommitter(store);
    this.waiting = new Waiting(settings.signal, settings.onWait);
  }

  /** Tells that bytes were looked at. */
  pass(bytes: number): void {
    this.#done += bytes;
    this.settings.onProgress?.(this.#done, this.total);
  }

  /** Says that copies of a kind cannot be made, of links to a person, too: from now on none are tried. */
  cannot(kind: CopyKind): void {
    if (kind === 'link') this.settings.onNote?.('no hard links can be made from there to the store; all is copied');
    if (kind === 'link') this.canLink = false;
    else this.canClone = false;
  }

  /** Counts an object of which something was taken, once. */
  touch(path: string): void {
    if (this.#touched.has(path)) return;
    this.#touched.add(path);
    this.report.taken.objects += 1;
  }

  /** False for an object of which the other store does not claim so many bytes from the first on. */
  isClaimed(path: string, size: number): boolean {
    const [span, ...others] = this.claimsOf(path) ?? [{ start: 0, end: size }];
    return span !== undefined && others.length === 0 && span.start === 0 && span.end >= size;
  }

  /** Claims bytes of an object. @returns undefined while another process has some of them */
  claim(path: string, start: number, end: number): Claim | undefined {
    const claims = this.settings.dryRun ? undefined : this.store.claims();
    if (claims === undefined) return { release() {} };
    return claims.take(path, start, Math.max(end, start + 1));
  }
}
