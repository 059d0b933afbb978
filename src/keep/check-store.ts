import * as fs from 'node:fs';
import { codeOf, isDamage, isPakratError, PakratError, resultUnless } from '../core/errors.ts';
import { partialFile } from '../fetch/loose-objects.ts';
import type { Store } from '../store/store.ts';
import { checkObject } from '../verify/check-object.ts';
import { HashBuffer } from '../verify/hash-buffer.ts';
import type { VerifyProblem } from '../verify/verify-result.ts';
import { checkDerived } from './check-derived.ts';
import type { Damage } from './damage.ts';
import type { KnownObject } from './known-objects.ts';
import { type ArchiveEntry, archiveEntries, checkHeldEntries } from './store-checks.ts';

/** The outcome for one thing that was looked at. */
export interface Finding {
  /** Bytes that were checked; undefined for what is no object that was read. */
  bytes?: number;
  problem?: VerifyProblem | undefined;
  /** The damage that can be taken out of the store, and mended. */
  damage?: Damage | undefined;
}

/** The parts of a store that are to be checked. */
export interface StoreCheck {
  store: Store;
  objects: readonly KnownObject[];
  /** Look at derived files, too, which belong to no build alone. */
  derived: boolean;
  signal?: AbortSignal | undefined;
}

type CheckStep = (check: StoreCheck, buffer: HashBuffer) => AsyncIterable<Finding> | Iterable<Finding>;

/** The steps of a check, in their order: configs and indices say what the others are. */
const steps: readonly CheckStep[] = [checkKeys, checkSmall, checkArchives, checkLoose, checkAllDerived];

/** Checks parts of a store, step by step. Nothing is changed; to stop asking stops the check. */
export async function* checkStore(check: StoreCheck): AsyncGenerator<Finding> {
  const buffer = new HashBuffer();
  const open = check.objects.filter(({ path }) => lockedBy(check.store, path) === undefined);
  for (const step of steps) yield* step(step === checkKeys ? check : { ...check, objects: open }, buffer);
}

/** Checks archives again whose index could not be read the first time. */
export async function* checkArchivesAgain(check: StoreCheck): AsyncGenerator<Finding> {
  yield* checkArchives(check, new HashBuffer());
}

/** The error of an object that cannot be looked into for want of its key; undefined for others. */
function lockedBy(store: Store, path: string): PakratError | undefined {
  try {
    store.objectKeys.keyOf(path);
    return undefined;
  } catch (error) {
    if (!isPakratError(error) || error.code !== 'E_KEY_MISSING') throw error;
    return error;
  }
}

/** Without the key of its objects nothing of a CDN path can be checked, and nothing is known to be damaged. */
function* checkKeys({ store, objects }: StoreCheck): Generator<Finding> {
  const told = new Set<string>();
  for (const { path, name } of objects) {
    const locked = lockedBy(store, path);
    if (locked === undefined || told.has(name.cdnPath)) continue;
    told.add(name.cdnPath);
    yield { problem: { name: name.cdnPath, code: locked.code, message: locked.message } };
  }
}

async function* checkSmall({ store, objects }: StoreCheck): AsyncGenerator<Finding> {
  for (const object of objects) {
    const { path, name, form, size, complete } = object;
    if (!complete || (form !== 'small' && form !== 'patch')) continue;
    yield checkWhole(object, size, () => {
      const bytes = new Uint8Array(fs.readFileSync(store.file(path)));
      checkObject(name, store.objectKeys.decrypt(path, bytes));
    });
  }
}

/** Runs a check of a whole object. */
async function checkWhole(object: KnownObject, bytes: number, check: () => Promise<void> | void): Promise<Finding> {
  try {
    await check();
    return { bytes };
  } catch (error) {
    const isGone = codeOf(error) === 'ENOENT';
    if ((!isPakratError(error) && !isGone) || codeOf(error) === 'E_ABORTED') throw error;
    const { code, message } = isGone
      ? new PakratError('E_INTEGRITY', 'its file is gone')
      : (error as { code: string; message: string });
    return { bytes, problem: { name: object.path, code, message }, damage: { kind: 'object', object } };
  }
}

async function* checkArchives({ store, objects, signal }: StoreCheck, buffer: HashBuffer): AsyncGenerator<Finding> {
  for (const object of objects) {
    if (object.form !== 'archive') continue;
    const { path, name } = object;
    const entries = entriesOf(store, name);
    if (entries === undefined) continue;
    const checked = checkHeldEntries(store.file(path), entries, {
      spans: store.ledger.spans(path),
      decrypt: (bytes, offset) => store.objectKeys.decrypt(path, bytes, offset),
      buffer,
      signal,
    });
    for await (const { bytes, damage: entry } of checked) {
      if (entry === undefined) {
        yield { bytes };
        continue;
      }
      const { ekey, code } = entry;
      // It is named in front already.
      const message = entry.message.replace(new RegExp(`^entry ${ekey}:? `), '');
      yield { bytes, problem: { name: `${path} ${ekey}`, code, message }, damage: { kind: 'entry', object, entry } };
    }
  }
}

/** The entries of an archive; undefined when its index is not there, or damaged, which is a finding of its own. */
function entriesOf(store: Store, name: KnownObject['name']): ArchiveEntry[] | undefined {
  const index = store.readObject({ ...name, suffix: '.index' });
  return index && resultUnless(isDamage, () => archiveEntries(index, name));
}

function checkAllDerived({ store, derived, signal }: StoreCheck): AsyncIterable<Finding> | Finding[] {
  return derived ? checkDerived(store, signal) : [];
}

/** A loose object is one entry. One that is not whole yet is checked when the next sync goes on with it. */
async function* checkLoose({ store, objects, signal }: StoreCheck, buffer: HashBuffer): AsyncGenerator<Finding> {
  for (const object of objects) {
    if (object.form !== 'loose') continue;
    const { path, name, size, complete } = object;
    if (!complete) {
      if (!fs.existsSync(partialFile(store, name.hash))) yield { damage: { kind: 'object', object } };
      continue;
    }
    yield checkWhole(object, size, async () => {
      const file = store.file(path);
      if (fs.statSync(file).size !== size) throw new PakratError('E_INTEGRITY', `it has not ${size} bytes any more`);
      const entry: ArchiveEntry = { ekey: name.hash, offset: 0, size, raw: false };
      const checks = checkHeldEntries(file, [entry], {
        spans: [{ start: 0, end: size }],
        decrypt: (bytes, offset) => store.objectKeys.decrypt(path, bytes, offset),
        buffer,
        signal,
      });
      for await (const { damage } of checks)
        if (damage !== undefined) throw new PakratError('E_INTEGRITY', damage.message);
    });
  }
}
