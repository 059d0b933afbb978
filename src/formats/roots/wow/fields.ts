import { ContentFlags } from '../locale.ts';
import type { WowRootHeader } from './layout.ts';

/** The format in messages. */
export const wowRootWhat = 'WoW root';
/** Bytes of a ckey. */
export const ckeySize = 16;
/** Bytes of a name hash. */
export const hashSize = 8;

/** Whether a block with these flags has name hashes. */
export function hasHashes(header: WowRootHeader, contentFlags: number): boolean {
  if (header.form === 'headerless' || (contentFlags & ContentFlags.noNameHash) === 0) return true;
  return header.form === 'tsfm0' && header.total === header.named;
}

/** content = c1 | c2 | c3 << 17, unsigned. */
export function joinContentFlags([c1, c2, c3]: readonly [number, number, number]): number {
  return (c1 | c2 | (c3 << 17)) >>> 0;
}
