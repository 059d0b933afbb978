import type { ObjectName } from '../store/layout.ts';

/** Where an encoded entry lies: in an archive, or as a loose object of its own. */
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
 * Where a build gets its objects. Opening and reading a build knows no network: whoever opens it hands this in,
 * with or without a CDN behind it.
 */
export interface Objects {
  /** A small object whose name is the MD5 of its bytes (configs). */
  config(name: ObjectName): Promise<Uint8Array>;
  /** Sees to it that these indices lie in the store, checked. @returns their files */
  indices(names: readonly ObjectName[]): Promise<string[]>;
  /** Sees to it that every byte of these entries is held. */
  entries(places: readonly EntryPlace[]): Promise<void>;
  /** The file and offset where a held entry lies. @throws E_OFFLINE or E_NOT_FOUND when it is not held */
  open(place: EntryPlace): { file: string; offset: number };
}
