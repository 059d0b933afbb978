import { codeOf, isDamage, throwIfAborted } from '../../../core/errors.ts';
import { giveBack } from '../../../core/tables/large-bytes.ts';
import { claimObject } from '../../../fetch/claimed-fetch.ts';
import { hasObject } from '../../../fetch/small-objects.ts';
import { removeTemporary } from '../../../files/temporary.ts';
import type { Claim } from '../../../store/claims.ts';
import { type ObjectName, objectPath } from '../../../store/layout.ts';
import { batchesInOrder } from '../../../threads/batches.ts';
import { checkObject } from '../../../verify/check-object.ts';
import type { FoundFile } from '../find/found-files.ts';
import { addAmount, addLinked } from '../import-report.ts';
import type { ImportRun } from '../import-run.ts';
import { readPlain } from './entry-source.ts';
import { type Copy, type CopyKind, makeCopy, placeFiles, writeCopy } from './place-whole.ts';
import { tellWrong } from './take-entries.ts';

/** The largest objects that are read whole: configs are some MB of text, patches and indices may be more. */
const mostConfigBytes = 32 << 20;
const mostBytes = 256 << 20;

/** Objects that are brought to disk together, and their bytes: what a kill costs. */
export const together = { tasks: 64, bytes: 8 << 20 };

/** The bytes of a small object, decrypted, out of the store or, in a dry run, out of the folder; undefined where neither has it right. */
export function readSmall({ store, seen }: ImportRun, name: ObjectName): Uint8Array | undefined {
  try {
    const held = store.readObject(name);
    const file = seen.get(objectPath(name));
    const bytes =
      held ?? (file === undefined ? undefined : store.objectKeys.decrypt(objectPath(name), readPlain(file, mostBytes)));
    if (bytes !== undefined) checkObject(name, bytes);
    return bytes;
  } catch (error) {
    if (isDamage(error) || codeOf(error) === 'E_KEY_MISSING' || codeOf(error) === 'E_NOT_FOUND') return undefined;
    throw error;
  }
}

/** True when a small object is in the store, or in a dry run right in the folder. */
export function hasSmall({ store, seen }: ImportRun, name: ObjectName): boolean {
  return hasObject(store, name) || seen.has(objectPath(name));
}

/** Takes objects that are checked as a whole: configs, indices, patches. @throws E_ABORTED, E_STORE… */
export async function takeSmall(run: ImportRun, files: readonly FoundFile[]): Promise<void> {
  for (const group of batchesInOrder(files, together)) {
    throwIfAborted(run.settings.signal);
    const right: RightObject[] = [];
    for (const found of group) {
      run.pass(found.size);
      if (hasObject(run.store, found.name)) {
        addAmount(run.report.held, { objects: 1, bytes: found.size });
        continue;
      }
      const bytes = bytesIfRight(run, found);
      if (bytes !== undefined) right.push({ ...found, bytes });
    }
    await addObjects(run, right);
    // An index of a group of archives has a hundred MB.
    giveBack(...right.map(({ bytes }) => bytes).filter(({ length }) => length > together.bytes));
  }
}

function bytesIfRight(run: ImportRun, { name, file }: FoundFile): Uint8Array | undefined {
  const path = objectPath(name);
  try {
    const bytes = readPlain(file, name.kind === 'config' || name.kind === 'product' ? mostConfigBytes : mostBytes);
    checkObject(name, run.store.objectKeys.decrypt(path, bytes));
    return bytes;
  } catch (error) {
    tellWrong(run, path, error);
    return undefined;
  }
}

/** An object that is right, and its bytes as they lie there. */
export interface RightObject extends FoundFile {
  bytes: Uint8Array;
}

/**
 * Puts objects that are right and not held into the store, and counts them: they share the waits for the disk. What another process fetches just
 * now is waited for.
 * @throws E_ABORTED, E_STORE…
 */
export async function addObjects(run: ImportRun, objects: readonly RightObject[]): Promise<void> {
  const { store } = run;
  const claimed: Claim[] = [];
  const free: RightObject[] = [];
  const fetched: RightObject[] = [];
  try {
    for (const object of objects) {
      const claim = run.claim(objectPath(object.name), 0, Number.MAX_SAFE_INTEGER);
      if (claim === undefined) fetched.push(object);
      else claimed.push(claim);
      // It may have been fetched and released between the look and the claim.
      if (claim !== undefined && !hasObject(store, object.name)) free.push(object);
    }
    await place(run, free);
  } finally {
    for (const claim of claimed) claim.release();
  }
  for (const object of fetched) {
    const claim = await claimObject(store, objectPath(object.name), run.waiting);
    try {
      if (!hasObject(store, object.name)) await place(run, [object]);
    } finally {
      claim?.release();
    }
  }
}

async function place(run: ImportRun, objects: readonly RightObject[]): Promise<void> {
  const { settings, report, seen } = run;
  if (!settings.dryRun && objects.length > 0) await placeCopies(run, objects);
  for (const { name, file, bytes } of objects) {
    const path = objectPath(name);
    if (settings.dryRun) seen.set(path, file);
    run.touch(path);
    report.taken.bytes += bytes.length;
  }
}

async function placeCopies(run: ImportRun, objects: readonly RightObject[]): Promise<void> {
  const { store, report } = run;
  const copies: Copy[] = [];
  try {
    for (const object of objects) copies.push(copyOf(run, object));
    await placeFiles(store, copies);
  } finally {
    for (const { from } of copies) removeTemporary(from);
  }
  for (const { kind, size } of copies) if (kind === 'link') addLinked(report, size);
  // They say whether their archives are whole.
  for (const { name } of objects) if (name.suffix === '.index') store.files.settle(objectPath({ ...name, suffix: '' }));
}

/** Copies an object into the store, under a temporary name: shared with the folder where that can be, and is as it was when it was checked. */
function copyOf(run: ImportRun, { name, file, bytes }: RightObject): Copy {
  const copy = { path: objectPath(name), size: bytes.length };
  // Bytes of configs and indices are not worth sharing.
  const shared = sharedCopy(run, file, { clone: name.kind === 'data' && name.suffix === '' });
  if (shared !== undefined && isSame(shared.from, bytes)) return { ...copy, ...shared };
  if (shared !== undefined) removeTemporary(shared.from);
  return { ...copy, kind: 'bytes', from: writeCopy(run.store, bytes) };
}

/** A copy that shares its bytes with the folder, under a temporary name; undefined where there can be none. @throws E_STORE… */
export function sharedCopy(
  run: ImportRun,
  file: string,
  { clone }: { clone: boolean },
): { kind: CopyKind; from: string } | undefined {
  const kinds: CopyKind[] = [
    ...(run.canLink ? ['link' as const] : []),
    ...(run.canClone && clone ? ['clone' as const] : []),
  ];
  for (const kind of kinds) {
    const from = makeCopy(run.store, kind, file);
    if (from !== undefined) return { kind, from };
    run.cannot(kind);
  }
  return undefined;
}

function isSame(file: string, bytes: Uint8Array): boolean {
  return Buffer.from(readPlain(file, mostBytes)).equals(bytes);
}
