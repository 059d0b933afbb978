import { createHash } from 'node:crypto';
import type { Hasher } from '../../../core/hash.ts';

/** SHA-256 over pieces that arrive one after the other. */
export function sha256Hasher(): Hasher {
  return createHash('sha256');
}
