/*
 * Hashes of names, to find rows of an index without making a string for each: FNV-1a of 32 bits over the UTF-16 units of the
 * folded name (names.ts). Most names are ASCII, and their bytes are these units.
 */

/** The hash of nothing, to begin with. */
export const hashStart = 0x811c9dc5;
/** In place of a hash: the bytes are no name whose hash they tell, and the text has to be looked at. */
export const noHash = -1;
const prime = 0x01000193;

/**
 * Goes on with the hash of a name by bytes of it.
 * @param state {@link hashStart}, or what came of the bytes before
 * @returns the next state; {@link noHash} for bytes that are not ASCII, or that cleaning a name might change
 */
export function hashAscii(bytes: Uint8Array, start: number, end: number, state: number): number {
  let hash = state | 0;
  let last = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x80 || byte === 0x5c) return noHash;
    if (byte === 0x2f && (at === start || last === 0x2e)) return noHash;
    last = byte;
    hash = Math.imul(hash ^ (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte), prime);
  }
  return hash >>> 0;
}

/** The hash of a folded name. */
export function hashText(folded: string): number {
  let hash = hashStart | 0;
  for (let i = 0; i < folded.length; i++) hash = Math.imul(hash ^ folded.charCodeAt(i), prime);
  return hash >>> 0;
}
