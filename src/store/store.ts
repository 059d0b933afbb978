import * as fs from 'node:fs';
import { isFileLost, PakratError } from '../core/errors.ts';
import { inStore, makeFolderDurable, storeError, writeFilesDurable } from '../files/durable.ts';
import { readOwn } from '../files/read-at.ts';
import { clearDeadTemporaries } from '../files/temporary.ts';
import { Claims } from './claims.ts';
import { clearWay, sharedPlace } from './clear-way.ts';
import { type ObjectName, objectPath, type StoreLayout, storeLayout } from './layout.ts';
import { Ledger } from './ledger/ledger.ts';
import { lockStore } from './ledger/sqlite.ts';
import { ObjectFiles } from './object-files.ts';
import { type ObjectKeys, objectKeys } from './object-keys.ts';
import { announce, type Presence } from './presence.ts';

/** A small object, with its bytes as the CDN has them. */
export interface SmallObject {
  name: ObjectName;
  bytes: Uint8Array;
}

/** An open store: the folder, its ledger, and where objects lie in it. Needs `close`. */
export interface Store {
  readonly layout: StoreLayout;
  readonly ledger: Ledger;
  /** False for a store that can only be read: nothing new is remembered then. */
  readonly writable: boolean;
  /** The file of an object, whether it is there or not: the one way to it for all who read. */
  file(path: string): string;
  /** The places of objects, and their moves. */
  readonly files: ObjectFiles;
  /** Keys of objects that are encrypted one by one. Files have the bytes of the CDN: whoever reads one decrypts what it read. */
  readonly objectKeys: ObjectKeys;
  /** The bytes of a small object that is held whole, decrypted; undefined when it is not, or a broken disk does not give them. @throws E_KEY_MISSING, E_STORE */
  readObject(name: ObjectName): Uint8Array | undefined;
  /** Puts small objects, as they came and checked by the caller, into the store and the ledger. They share the waits for the disk, and the event loop turns. */
  addObjects(objects: readonly SmallObject[]): Promise<void>;
  /** What this process and others fetch just now; undefined for a store that cannot be written. @throws E_STORE… when it is first used */
  claims(): Claims | undefined;
  /** Takes the lock of those who move or remove files in great number, and gives back its release. @throws E_STORE_LOCKED when it is held, by this process or another */
  lock(): () => void;
  close(): void;
}

/**
 * Opens the store at a folder. With `create` the folder is made; else a missing one is E_NOT_FOUND.
 * A store that cannot be written is opened for reading.
 */
export function openStore(root: string, options: { create: boolean }): Store {
  const layout = storeLayout(root);
  if (fs.existsSync(root) && !fs.statSync(root).isDirectory()) {
    throw new PakratError('E_STORE', `${root} is no folder`, {
      hint: 'A store is a folder: name another one with --store.',
      data: { path: root },
    });
  }
  if (!fs.existsSync(layout.ledger)) {
    const isLost = fs.existsSync(layout.history) && canWrite(layout);
    if (!options.create && !isLost) {
      throw new PakratError('E_NOT_FOUND', `there is no store at ${root}`, {
        hint: 'Make one with `pakrat sync PRODUCT --store DIR`, or name the right --store.',
        data: { path: root },
      });
    }
    inStore(root, () => makeFolderDurable(root));
  }
  const writable = canWrite(layout);
  if (writable && options.create) clearDeadTemporaries(layout.temporary);
  const presence = writable ? announce(layout) : undefined;
  const ledger = openLedger(layout, writable, presence);
  const keys = objectKeys(ledger, writable);
  const files = new ObjectFiles(layout, ledger, keys);
  let claims: Claims | undefined;
  return {
    layout,
    ledger,
    writable,
    objectKeys: keys,
    files,
    file: (path) => files.find(path),
    readObject(name) {
      const path = objectPath(name);
      if (ledger.completeSize(path) === undefined) return undefined;
      const bytes = readIfThere(files.find(path));
      return bytes && keys.decrypt(path, bytes);
    },
    async addObjects(objects) {
      for (const { name } of objects) clearWay(layout, objectPath(name));
      const written = objects.map(({ name, bytes }) => ({ path: files.newPlace(objectPath(name)), bytes }));
      await writeFilesDurable(written, layout.temporary);
      ledger.transaction(() => {
        for (const { name, bytes } of objects) ledger.addComplete(objectPath(name), bytes.length);
      });
      // What a broken disk did not give of them waited there.
      for (const [i, { name }] of objects.entries()) files.dropParts(objectPath(name), written[i]!.path);
      // They say whether their archives are whole.
      for (const { name } of objects) if (name.suffix === '.index') files.settle(objectPath({ ...name, suffix: '' }));
    },
    claims() {
      if (writable) claims ??= new Claims(sharedPlace(layout.claims, layout.temporary));
      return claims;
    },
    lock: () => lockStore(sharedPlace(layout.lock, layout.temporary)),
    close() {
      claims?.close();
      ledger.close();
      presence?.close();
    },
  };
}

function openLedger(layout: StoreLayout, writable: boolean, presence: Presence | undefined): Ledger {
  try {
    return new Ledger(layout.ledger, { readOnly: !writable, history: layout.history });
  } catch (error) {
    presence?.close();
    throw error;
  }
}

function canWrite(layout: StoreLayout): boolean {
  try {
    fs.accessSync(fs.existsSync(layout.ledger) ? layout.ledger : layout.root, fs.constants.W_OK);
    fs.accessSync(layout.root, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function readIfThere(file: string): Uint8Array | undefined {
  try {
    return readOwn(file);
  } catch (error) {
    if (isFileLost(error)) return undefined;
    throw storeError(error, file);
  }
}
