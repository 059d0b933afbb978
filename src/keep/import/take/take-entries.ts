import { isAllZero } from '../../../core/bytes.ts';
import {
  codeOf,
  isDamage,
  isPakratError,
  type PakratError,
  resultUnless,
  throwIfAborted,
} from '../../../core/errors.ts';
import { SpanWriter } from '../../../fetch/transfer/span-writer.ts';
import { type ObjectName, objectPath } from '../../../store/layout.ts';
import { covers, heldUntil } from '../../../store/spans.ts';
import { batchesInOrder } from '../../../threads/batches.ts';
import { checkEntries } from '../../../verify/check-entries.ts';
import type { VerifiedSink } from '../../../verify/hash-buffer.ts';
import type { ArchiveEntry } from '../../store-checks.ts';
import { addAmount } from '../import-report.ts';
import type { ImportRun } from '../import-run.ts';
import type { EntrySource } from './entry-source.ts';

/** Entries of one object that are to be taken: checked, written where the object has them, and then called held. */
export interface EntryWork {
  name: ObjectName;
  /** In the order of their offsets; gone through more than once. */
  entries: Iterable<ArchiveEntry>;
  /** The object is this one entry. */
  loose: boolean;
  /** Opens them where they lie. */
  open: () => EntrySource;
}

/** Entries that are written under one claim, and their bytes: what a kill costs. */
const together = { tasks: 2048, bytes: 32 << 20 };

/** The entries of an object that the store does not hold when they are asked for, one at a time: an archive may lack two millions. */
export function* missingEntries(
  { store }: ImportRun,
  { name, entries, loose }: Pick<EntryWork, 'name' | 'entries' | 'loose'>,
): Generator<ArchiveEntry> {
  const path = objectPath(name);
  if (store.ledger.completeSize(path) !== undefined) return;
  const spans = loose ? [] : store.ledger.spans(path);
  for (const entry of entries) if (loose || !covers(spans, entry.offset, entry.offset + entry.size)) yield entry;
}

/**
 * Takes the entries that are missing, some at a time. Those that another process fetches just now come back, to be looked at again.
 * @throws E_ABORTED, E_STORE…
 */
export async function takeEntries(run: ImportRun, work: EntryWork): Promise<EntryWork | undefined> {
  const later: ArchiveEntry[] = [];
  const path = objectPath(work.name);
  if (isLocked(run, work)) return undefined;
  for (const batch of batchesInOrder(missingEntries(run, work), together)) {
    throwIfAborted(run.settings.signal);
    const ends = batch.map(({ offset, size }) => offset + size);
    const claim = run.claim(path, batch[0]?.offset ?? 0, Math.max(...ends));
    if (claim === undefined) {
      later.push(...batch);
      continue;
    }
    try {
      // Some may have been fetched and released between the look and the claim.
      await takeBatch(run, { ...work, entries: [...missingEntries(run, { ...work, entries: batch })] });
    } finally {
      claim.release();
    }
  }
  return later.length === 0 ? undefined : { ...work, entries: later };
}

/** True for an object that is encrypted as a whole with a key that is not known: nothing of it can be checked. */
function isLocked(run: ImportRun, { name, entries }: EntryWork): boolean {
  const path = objectPath(name);
  try {
    run.store.objectKeys.keyOf(path);
    return false;
  } catch (error) {
    tellWrong(run, path, error);
    for (const { size } of entries) run.pass(size);
    return true;
  }
}

/** Damage is told, and what cannot be looked at for want of a key, or is gone by now. @throws what is neither */
export function tellWrong(run: ImportRun, path: string, error: unknown): void {
  const isUnknown = codeOf(error) === 'E_KEY_MISSING' || codeOf(error) === 'E_NOT_FOUND';
  if (!isPakratError(error) || !(isUnknown || isDamage(error))) throw error;
  const { code, message, hint } = error as PakratError;
  if (isUnknown) run.report.unknown.push({ name: path, message: `${message}. ${hint ?? ''}`.trimEnd() });
  else run.damaged.add({ name: path, code, message });
}

/** Entries of an object that are taken together. */
type EntryBatch = EntryWork & { entries: readonly ArchiveEntry[] };

async function takeBatch(run: ImportRun, work: EntryBatch): Promise<void> {
  const { store, settings, buffer } = run;
  const path = objectPath(work.name);
  const source = resultUnless(isPakratError, work.open);
  if (source === undefined) return tellUnread(run, work);
  const crypt = (bytes: Uint8Array, at: number): Uint8Array => store.objectKeys.decrypt(path, bytes, at);
  const output = settings.dryRun ? undefined : outputFor(run, path, crypt);
  let right = 0;
  try {
    const read = (entry: ArchiveEntry, offset: number, size: number): Uint8Array =>
      source.isPlain === true
        ? source.read(entry, offset, size)
        : crypt(source.read(entry, offset, size), entry.offset + offset);
    const there = entriesThere(run, work, source);
    const checks = checkEntries(there, read, { buffer, signal: settings.signal, sink: output?.sink });
    for await (const batch of checks) {
      for (const checked of batch) {
        right = checked.right;
        tell(run, work, checked);
      }
    }
  } finally {
    source.close();
    await output?.writer.finish();
    run.committer.flush();
  }
  const [only] = work.entries;
  // An empty file is no object.
  if (work.loose && !settings.dryRun && right > 0 && right === only?.size)
    store.files.complete([{ path, size: right }]);
}

function outputFor(
  { store, committer }: ImportRun,
  path: string,
  crypt: (bytes: Uint8Array, at: number) => Uint8Array,
): { writer: SpanWriter; sink: VerifiedSink } {
  store.files.prepare(path);
  const writer = new SpanWriter(store.files.partial(path), store.layout.temporary, (spans) =>
    committer.add(path, spans),
  );
  // What is encrypted as a whole is checked decrypted, and kept as it came.
  const write = (position: number, bytes: Uint8Array): void => writer.write(position, crypt(bytes, position));
  return { writer, sink: { write, spool: () => writer.spool() } };
}

type EntryThere = ArchiveEntry & { held: number };

/** The entries of which something lies there. Holes and what is cut off are counted, and so is what the other store does not call held. */
function* entriesThere(run: ImportRun, work: EntryWork, source: EntrySource): Generator<EntryThere> {
  const claimed = run.claimsOf(objectPath(work.name));
  for (const entry of work.entries) {
    const inFile = source.held(entry);
    const inLedger = claimed === undefined ? entry.size : heldUntil(claimed, entry.offset) - entry.offset;
    const held = Math.min(inFile, inLedger, entry.size);
    if (held > 0 && !startsWithHole(entry, held, source)) {
      yield { ...entry, held };
    } else {
      lack(run, entry.size);
      run.pass(entry.size);
    }
  }
}

/** Encoded entries and patches begin with the letters of their format: zeros are what was never written. */
function startsWithHole(entry: ArchiveEntry, held: number, source: EntrySource): boolean {
  return resultUnless(isPakratError, () => isAllZero(source.read(entry, 0, Math.min(held, 8)))) === true;
}

function lack({ report }: ImportRun, bytes: number): void {
  report.lacking.entries += 1;
  report.lacking.bytes += bytes;
}

function tell(
  run: ImportRun,
  { name, loose }: EntryWork,
  {
    entry,
    right,
    problem,
  }: { entry: EntryThere; right: number; problem: { code: string; message: string } | undefined },
): void {
  const { report } = run;
  const path = objectPath(name);
  run.pass(entry.size);
  if (right > 0) run.touch(path);
  addAmount(report.taken, { entries: right === entry.size && !loose ? 1 : 0, bytes: right });
  if (right === entry.size) return;
  if (entry.held < entry.size) lack(run, entry.size - right);
  else if (problem !== undefined) run.damaged.add({ name: loose ? path : `${path} ${entry.ekey}`, ...problem });
}

function tellUnread(run: ImportRun, { name, entries, open }: EntryWork): void {
  const path = objectPath(name);
  try {
    open().close();
  } catch (error) {
    tellWrong(run, path, error);
  }
  for (const { size } of entries) run.pass(size);
}
