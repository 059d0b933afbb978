import * as fs from 'node:fs';
import {
  codeOf,
  type ErrorCode,
  isDamage,
  isDiskBroken,
  isNotFound,
  isNowhere,
  isPakratError,
  isUnavailable,
  messageOf,
  PakratError,
  resultUnless,
  valueUnless,
} from '../core/errors.ts';
import { ReusedBytes } from '../core/tables/large-bytes.ts';
import { isSpoilt } from '../files/durable.ts';
import { openPlain, readAt, readInto, readingObject } from '../files/read-at.ts';
import type { KeyRing } from '../formats/blte/keys.ts';
import type { ReadRange } from '../formats/blte/read.ts';
import type { CdnConfig } from '../formats/configs/cdn-config.ts';
import type { LookupFolders, ObjectName } from '../store/layout.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';
import type { ThreadUse } from '../threads/thread-pool.ts';

/** The place of an encoded entry: in an archive, or as a loose object of its own. */
export interface EntryPlace {
  /** Hex, 16 bytes. */
  ekey: string;
  /** The object that holds it: an archive, or the loose object itself. */
  object: ObjectName;
  loose: boolean;
  offset: number;
  /** Encoded size. */
  size: number;
}

/**
 * The objects of a build. Opening and reading a build knows no network: whoever opens it hands this in,
 * with or without a CDN behind it.
 */
export interface Objects {
  /** A small object whose name is the MD5 of its bytes (configs). */
  config(name: ObjectName): Promise<Uint8Array>;
  /**
   * Sees to it that an index lies in the store, checked.
   * @param size what a config promises it to have, in bytes
   * @returns its file, to be read as `decrypt` says
   */
  index(name: ObjectName, size?: number): Promise<string>;
  /** Sees to it that every byte of these entries is held. @param signal ends the fetching */
  entries(places: readonly EntryPlace[], signal?: AbortSignal): Promise<void>;
  /** The file and offset where a held entry lies; the file may have moved before it is opened. @throws E_OFFLINE or E_NOT_FOUND when it is not held */
  open(place: EntryPlace): { file: string; offset: number };
  /**
   * As `open` for many entries, for whoever reads and proves their bytes elsewhere: undefined for one that is not held, that cannot be opened, or
   * whose object is encrypted as a whole. Absent where `open` is as cheap, and nothing is encrypted.
   */
  openMany?(places: readonly EntryPlace[]): ({ file: string; offset: number } | undefined)[];
  /**
   * Demands that an entry is still held. Whoever read some of it asks that afterwards: bytes leave the ledger before they leave the disk, so what is
   * held still was there when it was read. Absent where nothing is ever given back.
   * @throws E_OFFLINE or E_NOT_FOUND when it is not
   */
  demandHeld?(place: EntryPlace): void;
  /**
   * Takes an entry that is called held, and that proves to be wrong on disk or not there, for one that is not. Absent where nobody ever brings it again.
   * @returns false where it is right, or nobody may be asked for it: then it is held as before
   */
  lose?(place: EntryPlace): Promise<boolean>;
  /**
   * Decrypts bytes that were read from the file of an object. Absent where no object is encrypted as a whole.
   * @param offset where the bytes lie in the object
   */
  decrypt?(name: ObjectName, bytes: Uint8Array, offset: number): Uint8Array;
  /** Learns that the objects of a CDN path are encrypted as a whole, with a key of this name. Absent where none can be. */
  learnObjectKey?(cdnPath: string, keyName: string): void;
  /**
   * The place of an entry, for objects that know it themselves, as an installation does: asked before the archive group.
   * @param ekey hex; 32 digits, or the first 18 of them
   * @param size encoded size, where it is known
   */
  locate?(ekey: string, size: number | undefined): EntryPlace | undefined;
}

/** As much of objects as it takes to read what is held. */
export type HeldObjects = Pick<Objects, 'open' | 'demandHeld' | 'decrypt'>;

/** Opens the file where a held entry lies, also when it has just moved. @throws as `Objects.open`, E_NOT_FOUND, E_STORE, E_INTEGRITY where a broken disk does not give it */
export function openHeld(objects: Pick<Objects, 'open'>, place: EntryPlace): { fd: number; offset: number } {
  const { file, offset } = objects.open(place);
  try {
    return { fd: readingObject(file, () => openPlain(file).fd), offset };
  } catch (error) {
    if (isSpoilt(error)) throw unreadEntry(place, error.cause);
    if (!isNotFound(error) || objects.open(place).file === file) throw error;
    return openHeld(objects, place);
  }
}

/**
 * Reads ranges of a held entry, decrypted where its object is encrypted as a whole. Needs `close`.
 * @param isReused each range is read into the same memory: it is there until the next
 * @throws as {@link openHeld}
 */
export function openRanges(
  objects: HeldObjects,
  place: EntryPlace,
  isReused = false,
): { read: ReadRange; close: () => void } {
  const { fd, offset } = openHeld(objects, place);
  const what = `entry ${place.ekey}`;
  const memory = isReused ? new ReusedBytes() : undefined;
  const readBytes = (at: number, size: number): Uint8Array => {
    if (memory === undefined) return readAt(fd, at, size, what);
    const bytes = memory.take(size);
    readInto(fd, bytes, { offset: at, what });
    return bytes;
  };
  /** A file that ends early may have been cut meanwhile: that the entry is not held any more is what is wrong then. */
  const readHeld = (at: number, size: number): Uint8Array => {
    try {
      return readBytes(at, size);
    } catch (error) {
      throw isDiskBroken(error) ? unreadEntry(place, error) : error;
    } finally {
      objects.demandHeld?.(place);
    }
  };
  return {
    read: async (at, size) => {
      const bytes = readHeld(offset + at, size);
      return objects.decrypt?.(place.object, bytes, offset + at) ?? bytes;
    },
    close: () => fs.closeSync(fd),
  };
}

/** The error of an entry that a broken disk does not give: whoever has it elsewhere takes it from there. */
function unreadEntry({ ekey }: EntryPlace, cause: unknown): PakratError {
  return new PakratError('E_INTEGRITY', `entry ${ekey} cannot be read: ${messageOf(cause)}`, {
    hint: 'The disk does not give it; fetch it again.',
    cause,
  });
}

/** Where entries lie, for whoever reads and proves them elsewhere; undefined for those of which only `Objects.open` tells what is the matter. */
export function heldFiles(
  objects: Objects,
  places: readonly EntryPlace[],
): ({ file: string; offset: number } | undefined)[] {
  if (objects.openMany !== undefined) return objects.openMany(places);
  // Whoever reads one that cannot be opened tells what is wrong with it.
  return places.map((place) => resultUnless(isPakratError, () => objects.open(place)));
}

/**
 * The outcome of work on an object, undefined when no host has it, or has it right: real builds name such objects, and are used without.
 * @param options.orOffline true: and when nobody may be asked
 * @param options.onNote told of one that this disk has damaged
 */
export function optional<Value>(
  work: Promise<Value>,
  { orOffline = false, onNote }: { orOffline?: boolean } & Pick<BuildPlace, 'onNote'> = {},
): Promise<Value | undefined> {
  return valueUnless((error) => {
    if (orOffline && codeOf(error) === 'E_OFFLINE') return true;
    if (!isNowhere(error)) return false;
    const code = codeOnDisk(error);
    if (code !== undefined) onNote?.(`${error.message}. ${error.hint ?? ''}`.trimEnd(), code);
    return true;
  }, work);
}

/** A build to be opened: which one, where its objects come from, and where derived files go. */
export interface BuildPlace {
  identity: BuildIdentity;
  objects: Objects;
  /** Decoded manifests, the archive group and sorted names are looked for here, and made where they lack. */
  folders: LookupFolders;
  /** Keys of the user; those of the build's own key ring come behind them. */
  keys: KeyRing;
  /** Used in place of the CDN config that the identity names: the archives that a folder has. */
  cdnConfig?: CdnConfig | undefined;
  /** Its download manifest will be asked for. */
  wantsDownload?: boolean | undefined;
  /** Where its encoding file cannot be had it is opened all the same, for what its indices list. */
  mayLackEncoding?: boolean | undefined;
  /** The threads that may be used while it is opened. */
  threads?: ThreadUse | undefined;
  /** Called with what happens, in words: `1000 archive indices`, `encoding`; with undefined when it is over, and nothing follows. */
  onStep?: ((step: string | undefined) => void) | undefined;
  /** Called with remarks for a person: parts of the build that it is read without; with a code where it is this disk that has one damaged. */
  onNote?: ((text: string, code?: ErrorCode) => void) | undefined;
}

/**
 * The outcome of work on a part that a build can be read without; where it cannot be had, is malformed, or of a form that nobody here can read, that is noted.
 * @param isSpared tells for which failures to have it that is so
 */
export async function unlessLacking<Value>(
  { onNote }: Pick<BuildPlace, 'onNote'>,
  what: string,
  work: Promise<Value>,
  isSpared: (error: unknown) => boolean = isUnavailable,
): Promise<Value | undefined> {
  return valueUnless((error) => {
    const isUnread = isDamage(error) || ['E_UNSUPPORTED', 'E_KEY_MISSING'].includes(codeOf(error) ?? '');
    if (!isUnread && !isSpared(error)) return false;
    onNote?.(`${what} cannot be had, the build is read without: ${messageOf(error)}`, codeOnDisk(error));
    return true;
  }, work);
}

/** The code of what is wrong with a part that this disk has damaged. */
function codeOnDisk(error: unknown): ErrorCode | undefined {
  return isPakratError(error) && error.data.onDisk === true ? error.code : undefined;
}

/** Tells each remark once, however often it is made. */
export function once(onNote: BuildPlace['onNote']): NonNullable<BuildPlace['onNote']> {
  const told = new Set<string>();
  return (text, code) => {
    if (!told.has(text)) onNote?.(text, code);
    told.add(text);
  };
}
