/*
 * The names of compression methods. Below version 8 the record has bits, from then on the number of a name in the footer.
 */
import type { Footer } from '../footer.ts';

const bitZlib = 1;
const bitGzip = 2;
const bitCustom = 4;
const nameBasedVersion = 8;

/** Name of a method, in lower case: `none`, `zlib`, `oodle` …; `custom` where only the game knew. */
export function methodName(method: number, { version, methodNames }: Pick<Footer, 'version' | 'methodNames'>): string {
  if (method === 0) return 'none';
  if (version >= nameBasedVersion) return methodNames[method - 1]?.toLowerCase() || `unknown-${method}`;
  if ((method & bitZlib) !== 0) return 'zlib';
  if ((method & bitGzip) !== 0) return 'gzip';
  return (method & bitCustom) !== 0 ? 'custom' : `unknown-${method}`;
}

/** True when damage of a block shows while it is decoded, because it carries a checksum of its own. */
export function hasOwnChecksum(method: string): boolean {
  return method === 'zlib' || method === 'gzip';
}
