const prefixes = 0x10000;

/** The first two bytes of a key, as a number. */
export function prefixAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

/**
 * The first record of each value of the first two bytes, as they are when sorted.
 * @param stride bytes of a record, at least 2
 * @returns 65,537 numbers of records: those of a prefix end where those of the next start
 */
export function prefixStarts(bytes: Uint8Array, stride: number, count: number): Uint32Array {
  const starts = new Uint32Array(prefixes + 1);
  for (let row = 0; row < count; row++) starts[prefixAt(bytes, row * stride) + 1]!++;
  for (let prefix = 0; prefix < prefixes; prefix++) starts[prefix + 1]! += starts[prefix]!;
  return starts;
}
