/** The source of the keys of encrypted chunks. */
export interface KeyRing {
  /**
   * The 16-byte key of this name, or undefined when it is not known.
   * @param keyName 16 lower-case hex digits as key lists print them: the 8 bytes of a chunk, reversed
   */
  find(keyName: string): Uint8Array | undefined;
}

/** Knows no key. */
export const emptyKeyRing: KeyRing = { find: () => undefined };
