import * as fs from 'node:fs';
import { join } from 'node:path';
import { isPakratError, PakratError, resultUnless } from '../core/errors.ts';
import { ownFile, type Replacing, renewFile } from '../files/copies/own-file.ts';
import { inStore, moveFilesDurable, removeDurable, truncateDurable } from '../files/durable.ts';
import { isNameAlone, readOwn, sizeOfFile } from '../files/read-at.ts';
import { decodeArchiveIndex } from '../formats/indices/archive-index.ts';
import { clearWay } from './clear-way.ts';
import { objectHash, type StoreLayout } from './layout.ts';
import type { Ledger } from './ledger/ledger.ts';
import { displaced } from './ledger/schema.ts';
import type { ObjectKeys } from './object-keys.ts';
import { findFile, moveIfThere, type PartialFile } from './partial-file.ts';

/*
 * The places of an object:
 *
 *   <path>               whole, byte for byte as on the CDN: what any web server may serve
 *   partial/<path>       not whole: the only place where bytes are written; whole where a broken disk lets nothing take its place
 *   tmp/<hash>.partial   a loose object that is not whole, in a store of 0.1.0, whose archives lie in the first place, whole or not
 *
 * Files move inside a transaction of the ledger, so that one process moves at a time. In: when the spans of the whole are committed; then the
 * ledger says that the object is complete. Out: before a span is withdrawn. A kill between two of these steps leaves the file in the other
 * place than the ledger tells, which is why every look-up looks there, too.
 */

const indexSuffix = '.index';
const everything = { start: 0, end: Number.MAX_SAFE_INTEGER };

/** Where the objects of a store lie, and their way from one place to the other. */
export class ObjectFiles {
  readonly #layout: StoreLayout;
  readonly #ledger: Ledger;
  readonly #keys: ObjectKeys;
  /** Ends of the last entries of archives, by path: an index that was read says the same for ever. */
  readonly #ends = new Map<string, number>();

  constructor(layout: StoreLayout, ledger: Ledger, keys: ObjectKeys) {
    this.#layout = layout;
    this.#ledger = ledger;
    this.#keys = keys;
  }

  /** The place of an object that is whole. */
  inPlace(path: string): string {
    return join(this.#layout.root, path);
  }

  #old(path: string): string {
    return join(this.#layout.temporary, `${objectHash(path)}.partial`);
  }

  /** The file of an object, whether it is there or not. It may move before it is opened: then it is found here again. */
  find(path: string): string {
    const { file, elsewhere = [] } = this.partial(path);
    const isComplete = this.#ledger.completeSize(path) !== undefined;
    return findFile(isComplete ? [this.inPlace(path), file] : [file, ...elsewhere]);
  }

  /**
   * The place for an object that is whole: its own, or that for its parts where a broken disk gives of a file there the name alone, which can be
   * neither moved nor replaced. Once the file system was mended the object gets its own, as after a kill.
   */
  newPlace(path: string): string {
    const own = this.inPlace(path);
    if (!isNameAlone(own)) return own;
    this.#ledger.setSetting(displaced, '1');
    return this.partial(path).file;
  }

  /** True for an object that is whole and does not lie in its place: a kill came between, or {@link newPlace} had no other. */
  isDisplaced(path: string): boolean {
    return this.#ledger.completeSize(path) !== undefined && this.#hasPart(path);
  }

  #hasPart(path: string): boolean {
    return fs.existsSync(this.partial(path).file);
  }

  /**
   * Bytes of the file of an object; undefined where it has none.
   * @param place where it lies most likely, which is looked at first: thousands are asked for at once
   */
  sizeOf(path: string, place: 'whole' | 'partial'): number | undefined {
    const likely = place === 'whole' ? this.inPlace(path) : join(this.#layout.partial, path);
    return sizeOfFile(likely) ?? sizeOfFile(this.find(path));
  }

  /** The file that bytes of an object are written to. */
  partial(path: string): PartialFile {
    return { file: join(this.#layout.partial, path), elsewhere: [this.#old(path), this.inPlace(path)] };
  }

  /**
   * Sees to it that bytes of an object can be written: what stands in the way of its file is set aside, and a file of it that has a name outside
   * of the store is replaced by a copy.
   * @throws E_STORE_FULL, E_STORE
   */
  prepare(path: string): void {
    clearWay(this.#layout, path);
    const parts = [this.partial(path).file, this.#old(path)];
    for (const part of parts) ownFile(part, this.#replacing(path));
    if (!isNameAlone(this.inPlace(path))) ownFile(this.inPlace(path), this.#replacing(path));
    // A new file will be made, and what is called held would be looked for there.
    else if (!parts.some((part) => fs.existsSync(part)))
      this.withdraw([path], () => this.#ledger.removeSpans(path, [everything]));
  }

  /**
   * Replaces the file of an object into which a broken disk lets nobody write by a copy. What that disk does not give of it is not held any more.
   * Nobody may write to the object meanwhile.
   * @throws E_STORE_FULL, E_STORE
   */
  renew(path: string): void {
    renewFile(this.find(path), this.#replacing(path));
  }

  #replacing(path: string): Replacing {
    return {
      temporary: this.#layout.temporary,
      alone: (work) => this.#ledger.transaction(work),
      onLost: (lost) => this.withdraw([path], () => this.#ledger.removeSpans(path, lost)),
    };
  }

  /**
   * Moves objects, of which all bytes are verified and on disk, to their places, and says in the ledger that they are held whole.
   * @throws E_STORE when the file of one is shorter or not there
   */
  complete(objects: readonly { path: string; size: number }[]): void {
    this.#ledger.transaction(() => {
      const files = objects.map(({ path, size }) => {
        const file = this.#wholeFile(path, size);
        if (file !== undefined) return { from: file, to: this.newPlace(path) };
        throw new PakratError('E_STORE', `the file of ${path} is not whole`, { data: { path } });
      });
      moveFilesDurable(files.filter(({ from, to }) => from !== to));
      for (const { path, size } of objects) this.#ledger.addComplete(path, size);
    });
  }

  /**
   * Gives files that are whole objects, verified and on disk, the places of these, and says in the ledger that they are held. What was there of
   * an object in part goes. A file that is in its place already, under two names, keeps both.
   * @throws E_STORE…
   */
  place(objects: readonly { path: string; size: number; from: string }[]): void {
    this.#ledger.transaction(() => {
      for (const { path } of objects) clearWay(this.#layout, path);
      const placed = objects.map((object) => ({ ...object, to: this.newPlace(object.path) }));
      moveFilesDurable(placed);
      for (const { path, size, to } of placed) {
        this.dropParts(path, to);
        this.#ledger.addComplete(path, size);
      }
    });
  }

  /** Removes what there is of an object outside of the place where it lies whole, which {@link newPlace} gave. @throws E_STORE… */
  dropParts(path: string, whole: string): void {
    for (const part of [this.partial(path).file, this.#old(path)]) {
      if (part !== whole) inStore(part, () => removeDurable(part));
    }
  }

  /**
   * Moves an object to its place when all of it is held; does nothing otherwise. One of which something was to be withdrawn when a kill came is held whole as
   * before, also where its file is cut, or gone: whoever looks at it tells that.
   * @throws E_STORE…
   */
  settle(path: string): void {
    if (this.#wholeSize(path) === undefined || this.#isSettled(path)) return;
    this.#ledger.transaction(() => {
      const size = this.#wholeSize(path);
      if (size === undefined) return;
      if (this.#wholeFile(path, size) !== undefined) this.complete([{ path, size }]);
      else if (typeof this.#ledger.onlySpan(path)?.size === 'number') this.#ledger.addComplete(path, size);
    });
  }

  #isSettled(path: string): boolean {
    return this.#ledger.completeSize(path) !== undefined && !this.#hasPart(path);
  }

  /** Sorts in an object of a store of 0.1.0 that the ledger does not call whole. @throws E_STORE… */
  bring(path: string): void {
    this.settle(path);
    this.#ledger.transaction(() => {
      const { file, elsewhere = [] } = this.partial(path);
      if (this.#ledger.completeSize(path) !== undefined || fs.existsSync(file)) return;
      elsewhere.some((other) => moveIfThere(other, file));
    });
  }

  /**
   * Moves objects out of their places, then lets `forget` say in the ledger that something of them is not held. An archive goes with its index,
   * without which nothing says that it is whole.
   * @throws E_STORE…
   */
  withdraw(paths: Iterable<string>, forget: () => void): void {
    const all = new Set<string>();
    for (const path of paths) {
      all.add(path);
      if (path.endsWith(indexSuffix)) all.add(path.slice(0, -indexSuffix.length));
    }
    const whole = this.#ledger.transaction(() => [...all].filter((path) => this.#ledger.setIncomplete(path)));
    this.#ledger.transaction(() => {
      for (const path of all) moveIfThere(this.inPlace(path), this.partial(path).file);
      // Until now its size says that it is whole, whatever comes between.
      for (const path of whole) this.#ledger.removeSpans(path, []);
      forget();
    });
  }

  /** The size of an object of which every byte is held; undefined for others. Of archives their indices tell, of others the ledger alone, once they were whole. */
  #wholeSize(path: string): number | undefined {
    const complete = this.#ledger.completeSize(path);
    if (complete !== undefined) return complete;
    const only = this.#ledger.onlySpan(path);
    if (only?.start !== 0) return undefined;
    const size = only.size ?? this.archiveEnd(path);
    return size !== undefined && only.end >= size ? size : undefined;
  }

  /** The end of an archive's last entry; undefined for what is no archive, and when its index is not held, or damaged. */
  archiveEnd(path: string): number | undefined {
    const index = `${path}${indexSuffix}`;
    if (this.#ledger.completeSize(index) === undefined) return undefined;
    const known = this.#ends.get(path);
    if (known !== undefined) return known;
    return resultUnless(isPakratError, () => {
      const bytes = inStore(index, () => readOwn(this.find(index)));
      const end = decodeArchiveIndex(this.#keys.decrypt(index, bytes), objectHash(path)).dataEnd;
      this.#ends.set(path, end);
      return end;
    });
  }

  /** The file of an object that has all of its bytes; undefined when it is shorter or not there. Bytes behind the end were never verified, and go. */
  #wholeFile(path: string, size: number): string | undefined {
    const { file, elsewhere = [] } = this.partial(path);
    const found = findFile([file, ...elsewhere]);
    return inStore(found, () => {
      const stat = fs.statSync(found, { throwIfNoEntry: false });
      if (stat === undefined || stat.size < size) return undefined;
      if (stat.size > size) {
        // Of what is called whole now nothing may get lost on the way.
        const { temporary, alone } = this.#replacing(path);
        ownFile(found, { temporary, alone });
        truncateDurable(found, size);
      }
      return found;
    });
  }
}
