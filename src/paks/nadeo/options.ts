import type { SharedOptions } from '../pak.ts';
import type { NamedKey } from './keys/keys.ts';

/** The options of NadeoPaks. Keys have 16 bytes. */
export interface NadeoOptions extends SharedOptions {
  /** Base keys with the names of their packs, from packlist.dat or a key file: this pack's are tried first. */
  namedKeys?: readonly NamedKey[];
  /** Name of the pack in such lists; the file's name by default. */
  packName?: string;
  /** The LZ4 dictionary of the game, for version 18. */
  lz4Dictionary?: Uint8Array;
  /** Real names of hashed files: paths, from any folder on. */
  hashedNames?: readonly string[];
  /** Look for more of them in the pack's own files; reads much of it. */
  resolveNames?: boolean;
}
