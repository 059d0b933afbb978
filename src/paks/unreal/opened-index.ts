import type { ByteSource } from '../../core/byte-source.ts';
import type { PakratError } from '../../core/errors.ts';
import type { PakProblem } from '../pak.ts';
import type { Footer } from './footer.ts';
import type { EncodedFormat } from './index/encoded-entry.ts';
import type { DecodedIndex } from './index/index-rows.ts';
import type { SharedRows } from './index/rows/shared-rows.ts';
import type { UnrealOptions } from './options.ts';

/** An index that could be read. */
export interface OpenedIndex extends DecodedIndex {
  /** Of the path hashes; 0 below version 10. */
  seed: bigint;
  /** Number of the row with this path below the mount point; only where paths are not listed. */
  findRow: ((path: string) => number | undefined) | undefined;
  /** The key that opened it, when it is encrypted. */
  key: Uint8Array | undefined;
  /** Hashes that did not match. */
  problems: readonly PakProblem[];
  /** Reads the parts that opening did not need, to check their hashes. Throws as opening does. */
  readRest: () => Promise<void>;
}

/** An index that was opened, as plain data for threads: what is wrong with it was told when it was opened. */
export interface SharedIndex extends Pick<OpenedIndex, 'mountPoint' | 'seed' | 'key'> {
  rows: SharedRows;
}

/** The parts of an open PAK. */
export interface UnrealParts {
  source: ByteSource;
  footer: Footer;
  format: EncodedFormat;
  /** The index, or why it cannot be read. */
  index: OpenedIndex | PakratError;
  options: UnrealOptions;
}
