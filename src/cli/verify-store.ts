import * as fs from 'node:fs';
import { join } from 'node:path';
import { codeOf, isPakratError, PakratError } from '../core/errors.ts';
import { partialFile } from '../fetch/store-objects.ts';
import { belongsTo, type KnownObject, knownObjects } from '../keep/known-objects.ts';
import {
  type ArchiveEntry,
  archiveEntries,
  checkHeldEntries,
  checkNamedFile,
  type DamagedEntry,
} from '../keep/store-checks.ts';
import type { VerifyProblem, VerifyResult } from '../sources/paks/verify-pak.ts';
import type { BuildRow } from '../store/ledger/ledger.ts';
import { lockStore } from '../store/ledger/lock.ts';
import { openStore, type Store } from '../store/store.ts';
import { checkObject } from '../verify/check-object.ts';
import type { SessionHooks } from './compose.ts';
import type { GlobalOptions } from './global-options.ts';
import { knownBuild } from './known-build.ts';
import { recountBuilds } from './recount-builds.ts';
import type { Progress } from './render/progress.ts';
import { type Damage, repairDamage } from './repair-store.ts';

type VerifyHooks = SessionHooks & { progress: Progress };

/**
 * Hashes again what a store holds, all of it or that of one build. What is damaged is no longer counted as held, and with `repair`
 * is fetched again. A store that cannot be written is only checked.
 * @throws E_NOT_FOUND when there is no such store or build, E_STORE_LOCKED during a sync, E_ABORTED
 */
export async function verifyStore(
  options: GlobalOptions,
  { spec, repair }: { spec: string | undefined; repair: boolean },
  hooks: VerifyHooks,
): Promise<VerifyResult> {
  if (repair && options.offline) {
    throw new PakratError('E_USAGE', '--repair fetches, and --offline forbids that', {
      hint: 'Leave one of them away.',
    });
  }
  const store = openStore(options.store, { create: false });
  const canWrite = isWritable(store);
  const unlock = canWrite ? lockStore(store.layout.lock) : undefined;
  try {
    const build = spec === undefined ? undefined : await knownBuild(options, store, spec);
    const check = new StoreCheck(store, { canWrite, hooks });
    await check.run(build);
    if (repair && check.damages.length > 0) {
      hooks.progress.update({ phase: 'repair', done: 0, total: 0 });
      check.result.repaired = await repairDamage(options, check.damages, { build, hooks });
      // An archive whose index had to be fetched first could not be checked before.
      if (check.unread.length > 0) check.readAgain();
    }
    if (canWrite && check.damages.length > 0) await recountBuilds(options, check.damages, hooks);
    if (canWrite && check.damages.length > check.result.repaired) {
      hooks.note('Note: what is damaged is not held any more; sync again to fetch it.');
    }
    return check.result;
  } finally {
    unlock?.();
    store.close();
  }
}

function isWritable({ layout }: Store): boolean {
  try {
    fs.accessSync(layout.ledger, fs.constants.W_OK);
    fs.accessSync(layout.root, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** One run over a store: what was checked, what is bad, and what of it can be brought again. */
class StoreCheck {
  readonly result: VerifyResult = { checked: { entries: 0, bytes: 0 }, bad: [], repaired: 0 };
  readonly damages: Damage[] = [];
  /** Archives whose index is not there or not right. */
  readonly unread: KnownObject[] = [];
  readonly #store: Store;
  readonly #canWrite: boolean;
  readonly #hooks: VerifyHooks;
  /** CDN paths whose objects are encrypted, and whose key is missing. */
  readonly #locked = new Set<string>();
  #total = 0;

  constructor(store: Store, { canWrite, hooks }: { canWrite: boolean; hooks: VerifyHooks }) {
    this.#store = store;
    this.#canWrite = canWrite;
    this.#hooks = hooks;
  }

  async run(build: BuildRow | undefined): Promise<void> {
    const belongs = build === undefined ? () => true : belongsTo(this.#store, build);
    const objects = knownObjects(this.#store).filter(belongs);
    this.#total = objects.reduce((sum, object) => sum + this.#heldBytes(object), 0);
    for (const object of objects) {
      this.#check(object);
      // Hashing waits for nothing: without this nobody would hear an interruption.
      await new Promise(setImmediate);
    }
    if (build === undefined) this.#checkManifests();
  }

  /** Checks the archives that could not be checked the first time. */
  readAgain(): void {
    for (const object of this.unread.splice(0)) this.#check(object);
  }

  #heldBytes({ path, complete, size }: KnownObject): number {
    return complete ? size : this.#store.ledger.spans(path).reduce((sum, { start, end }) => sum + end - start, 0);
  }

  #count(bytes: number): void {
    this.#hooks.signal?.throwIfAborted();
    const { checked } = this.result;
    checked.entries += 1;
    checked.bytes += bytes;
    this.#hooks.progress.update({ phase: 'verify', done: checked.bytes, total: this.#total });
  }

  #check(object: KnownObject): void {
    if (this.#isLocked(object)) return;
    if (object.form === 'archive') this.#checkArchive(object);
    else if (object.form === 'loose') this.#checkLoose(object);
    else if (object.complete) this.#checkWhole(object);
  }

  /** Without the key of its objects nothing of a CDN path can be checked, and nothing is known to be damaged. */
  #isLocked({ path, name }: KnownObject): boolean {
    try {
      this.#store.objectKeys.keyOf(path);
      return false;
    } catch (error) {
      if (!isPakratError(error) || error.code !== 'E_KEY_MISSING') throw error;
      const { code, message } = error;
      if (!this.#locked.has(name.cdnPath)) this.result.bad.push({ name: name.cdnPath, code, message });
      this.#locked.add(name.cdnPath);
      return true;
    }
  }

  #checkWhole(object: KnownObject): void {
    const { path, name, size } = object;
    const file = this.#store.file(path);
    this.#guard(object, () => {
      checkObject(name, this.#store.objectKeys.decrypt(path, new Uint8Array(fs.readFileSync(file))));
    });
    this.#count(size);
  }

  /** Runs a check of a whole object; when it fails the object is forgotten. */
  #guard(object: KnownObject, check: () => void): void {
    try {
      check();
    } catch (error) {
      const code = codeOf(error);
      if (!isPakratError(error) && code !== 'ENOENT') throw error;
      const gone = { code: 'E_INTEGRITY', message: 'its file is gone' };
      this.#forget(object, isPakratError(error) ? error : gone);
    }
  }

  #forget(object: KnownObject, { code, message }: { code: string; message: string }): void {
    this.#report({ name: object.path, code, message }, { kind: 'object', object });
    if (!this.#canWrite) return;
    this.#store.ledger.removeObject(object.path);
    fs.rmSync(this.#store.file(object.path), { force: true });
  }

  #report(problem: VerifyProblem, damage: Damage): void {
    this.result.bad.push(problem);
    this.damages.push(damage);
  }

  /** A loose object is one entry. One that is not whole yet says itself how long it will be; what is wrong with it the next sync sees. */
  #checkLoose(object: KnownObject): void {
    const { path, name, complete, size } = object;
    if (!complete) {
      this.#checkPartial(object);
      return;
    }
    const entry: ArchiveEntry = { ekey: name.hash, offset: 0, size, raw: false };
    const spans = [{ start: 0, end: size }];
    const onEntry = (bytes: number): void => this.#count(bytes);
    this.#guard(object, () => {
      const file = this.#store.file(path);
      if (fs.statSync(file).size !== size) throw new PakratError('E_INTEGRITY', `it has not ${size} bytes any more`);
      const [damage] = checkHeldEntries(file, [entry], { spans, onEntry, decrypt: this.#decrypt(path) });
      if (damage !== undefined) throw new PakratError('E_INTEGRITY', damage.message);
    });
  }

  #decrypt(path: string): (bytes: Uint8Array, offset: number) => Uint8Array {
    return (bytes, offset) => this.#store.objectKeys.decrypt(path, bytes, offset);
  }

  #checkPartial({ path, name }: KnownObject): void {
    if (!this.#canWrite || fs.existsSync(partialFile(this.#store, name.hash))) return;
    this.#store.ledger.removeObject(path);
  }

  #checkArchive(object: KnownObject): void {
    const { path, name } = object;
    const bytes = this.#store.readObject({ ...name, suffix: '.index' });
    if (bytes === undefined) {
      this.unread.push(object);
      return;
    }
    const spans = this.#store.ledger.spans(path);
    const onEntry = (size: number): void => this.#count(size);
    const decrypt = this.#decrypt(path);
    const damaged = checkHeldEntries(this.#store.file(path), archiveEntries(bytes, name), { spans, onEntry, decrypt });
    this.#forgetEntries(object, damaged);
  }

  #forgetEntries(object: KnownObject, damaged: readonly DamagedEntry[]): void {
    for (const entry of damaged) {
      const { ekey, code } = entry;
      // It is named in front already.
      const message = entry.message.replace(new RegExp(`^entry ${ekey}:? `), '');
      this.#report({ name: `${object.path} ${ekey}`, code, message }, { kind: 'entry', object, entry });
    }
    if (!this.#canWrite || damaged.length === 0) return;
    const { ledger } = this.#store;
    ledger.transaction(() => {
      for (const { start, end } of damaged) ledger.removeSpan(object.path, start, end);
    });
  }

  /** Decoded manifests are made again when they are needed. */
  #checkManifests(): void {
    const { manifests } = this.#store.layout;
    if (!fs.existsSync(manifests)) return;
    for (const hash of fs.readdirSync(manifests)) {
      const file = join(manifests, hash);
      try {
        checkNamedFile(file);
      } catch (error) {
        if (!isPakratError(error)) throw error;
        this.#report({ name: `manifests/${hash}`, code: error.code, message: error.message }, { kind: 'derived' });
        if (this.#canWrite) fs.rmSync(file);
      }
      this.#count(0);
    }
  }
}
