import { closeSync, rmSync } from 'node:fs';
import type { EntryPlace } from '../builds/objects.ts';
import { isPakratError, isSystemError, resultUnless } from '../core/errors.ts';
import { openPlain, readAt, readable } from '../files/read-at.ts';
import { clearWay } from '../store/clear-way.ts';
import { objectPath } from '../store/layout.ts';
import type { Store } from '../store/store.ts';
import { checkEntries } from '../verify/check-entries.ts';
import { HeldSpans, isHeld } from './held-spans.ts';

/** An object of which less is on disk than the ledger says: its file was deleted or cut. */
interface LostBytes {
  path: string;
  /** The end of its file, 0 where there is none: all behind it is lost. */
  from: number;
}

/**
 * Looks at the file of each object that is held, whole or in part: whether it is there, and as long as it should be. Nothing is read, so that thousands
 * are looked at in no time. What is lost is not held any more, so that it is fetched again.
 * @returns the paths of objects that lost something
 * @throws E_STORE…
 */
export function forgetLost(store: Store, paths: Iterable<string>): string[] {
  const { ledger, layout, files } = store;
  const suspects = lostOf(store, paths, new HeldSpans(store));
  if (suspects.length === 0) return [];
  // Files move inside a transaction of the ledger: one that was only on its way is found now.
  const suspected = suspects.map(({ path }) => path);
  const lost = ledger.transaction(() => lostOf(store, suspected, new HeldSpans(store)));
  for (const { path } of lost) clearWay(layout, path);
  const lostPaths = lost.map(({ path }) => path);
  files.withdraw(lostPaths, () => {
    for (const { path, from } of lost) ledger.removeSpans(path, [{ start: from, end: Number.MAX_SAFE_INTEGER }]);
  });
  return lostPaths;
}

/**
 * Takes an object that turned out to be wrong on disk for one that is not held, so that it is fetched again.
 * @param found.isUnread the disk does not give it: another time it may, so its file stays until other bytes come
 * @throws E_STORE…
 */
export function loseObject(
  { ledger, files, file }: Store,
  path: string,
  size: number,
  { isUnread = false }: { isUnread?: boolean } = {},
): void {
  files.withdraw([path], () => ledger.loseObject(path, size));
  if (!isUnread) rmSync(file(path), { force: true });
}

/**
 * As {@link loseObject}, for an entry that could not be read; and for all else that its object lost, where the file of that is gone or cut.
 * @returns false for one whose bytes are right: it is no fault of the disk that it cannot be read
 */
export async function loseIfWrong(store: Store, place: EntryPlace): Promise<boolean> {
  const { object, loose, offset, size } = place;
  const path = objectPath(object);
  forgetLost(store, [path]);
  if (!isHeld(store, place)) return true;
  const found = await look(store, place);
  if (found === 'right') return false;
  if (loose) loseObject(store, path, size, { isUnread: found === 'unread' });
  else store.files.withdraw([path], () => store.ledger.removeSpans(path, [{ start: offset, end: offset + size }]));
  return true;
}

/** The bytes of an entry: right or wrong, or not given by the disk, which may give them another time. */
async function look(
  { file, objectKeys }: Store,
  { ekey, object, offset, size }: EntryPlace,
): Promise<'right' | 'wrong' | 'unread'> {
  const path = objectPath(object);
  const opened = resultUnless(isPakratError, () => readable(path, () => openPlain(file(path))));
  if (opened === undefined) return 'unread';
  const read = (_: unknown, from: number, length: number): Uint8Array =>
    objectKeys.decrypt(
      path,
      readable(path, () => readAt(opened.fd, offset + from, length, path)),
      offset + from,
    );
  try {
    for await (const [checked] of checkEntries([{ ekey, size, raw: false }], read)) {
      if (checked?.problem === undefined) return 'right';
      return isSystemError(checked.problem.cause) ? 'unread' : 'wrong';
    }
    return 'wrong';
  } finally {
    closeSync(opened.fd);
  }
}

/** True where {@link forgetLost} would find something. @param spans as they were asked for before */
export function hasLost(store: Store, paths: Iterable<string>, spans: HeldSpans): boolean {
  return lostOf(store, paths, spans).length > 0;
}

function lostOf(store: Store, paths: Iterable<string>, spans: HeldSpans): LostBytes[] {
  const lost: LostBytes[] = [];
  for (const path of paths) {
    // The ledger first: a file is never shorter than what the ledger said before.
    const held = spans.of(path);
    const end = held.at(-1)?.end ?? 0;
    // Of what is whole there is one span, from the start.
    const place = held.length === 1 && held[0]?.start === 0 ? 'whole' : 'partial';
    const size = end === 0 ? 0 : (store.files.sizeOf(path, place) ?? 0);
    if (size < end) lost.push({ path, from: size });
  }
  return lost;
}
