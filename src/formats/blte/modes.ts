/** The first byte of a chunk: how the rest is encoded. */
export const chunkModes = {
  /** 'N': as it is. */
  plain: 0x4e,
  /** 'Z': a zlib stream. */
  zlib: 0x5a,
  /** 'E': encrypted, a chunk again below. */
  encrypted: 0x45,
  /** 'F': a whole BLTE object. */
  nested: 0x46,
  /** '4': LZ4. */
  lz4: 0x34,
} as const;

/** The zlib level of a spec that names none. */
export const defaultLevel = 9;
