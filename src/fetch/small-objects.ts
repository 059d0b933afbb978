import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { isDamage, isFileLost, PakratError, resultUnless } from '../core/errors.ts';
import { inStore, syncFile, syncFolder } from '../files/durable.ts';
import { readOwn } from '../files/read-at.ts';
import { type ObjectName, objectPath } from '../store/layout.ts';
import type { SmallObject, Store } from '../store/store.ts';
import { checkObject } from '../verify/check-object.ts';

/** True when the ledger has a small object and its file is there, as large as it should be. Nothing is read, so that thousands are asked in no time. */
export function hasObject({ ledger, files }: Store, name: ObjectName): boolean {
  const path = objectPath(name);
  const size = ledger.completeSize(path);
  return size !== undefined && files.sizeOf(path, 'whole') === size;
}

/**
 * Takes a small object that lies on disk into the ledger, which does not know it: the ledger may be new, or a row of it damaged.
 * @returns its bytes, decrypted; undefined when none lies there, or wrong ones
 * @throws E_KEY_MISSING, E_STORE…
 */
export function adoptObject({ file, files, objectKeys, writable }: Store, name: ObjectName): Uint8Array | undefined {
  const path = objectPath(name);
  const bytes = writable ? resultUnless(isFileLost, () => readOwn(file(path))) : undefined;
  if (bytes === undefined) return undefined;
  const decrypted = objectKeys.decrypt(path, bytes);
  const isRight = resultUnless(isDamage, () => {
    checkObject(name, decrypted);
    return true;
  });
  if (isRight !== true) return undefined;
  try {
    // Whoever wrote it may have been killed before it was flushed.
    inStore(path, () => {
      syncFile(file(path));
      syncFolder(dirname(file(path)));
    });
    files.complete([{ path, size: bytes.length }]);
  } catch (error) {
    // Another process that lets go of it says so in the ledger first.
    if (!fs.existsSync(file(path))) return undefined;
    throw error;
  }
  if (name.suffix === '.index') files.settle(objectPath({ ...name, suffix: '' }));
  return decrypted;
}

/** Small objects that have come and are not in the store yet: those that come while others are brought to disk are brought there together. */
export class Arrivals {
  readonly #store: Store;
  #waiting: Arrival[] = [];
  /** The work on those that came first, while there is any. */
  #working: Promise<void> | undefined;
  #isEnded = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Puts an object into the store; it is on disk and in the ledger afterwards. @throws E_STORE…, E_ABORTED after {@link end} */
  add(object: SmallObject): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ object, done, failed });
      this.#working ??= this.#addAll().finally(() => {
        this.#working = undefined;
      });
    });
  }

  /** Ends the work, for a store that will be closed: what is on its way to disk gets there, what waits or comes later does not begin. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#working;
  }

  async #addAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const arrivals = this.#waiting;
      this.#waiting = [];
      const isDone = await this.#add(arrivals);
      // One by one, so that what is wrong with one is not the others' fault.
      if (!isDone) for (const arrival of arrivals) await this.#add([arrival]);
    }
  }

  /** @returns false where several could not be brought to disk together */
  async #add(arrivals: readonly Arrival[]): Promise<boolean> {
    try {
      if (this.#isEnded) throw new PakratError('E_ABORTED', 'the store is being closed');
      await this.#store.addObjects(arrivals.map(({ object }) => object));
      for (const { done } of arrivals) done();
    } catch (error) {
      if (arrivals.length > 1) return false;
      for (const { failed } of arrivals) failed(error);
    }
    return true;
  }
}

interface Arrival {
  object: SmallObject;
  done: () => void;
  failed: (error: unknown) => void;
}
