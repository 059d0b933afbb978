const prefixes = 0x10000;

/** The first two bytes of a key, as a number. */
export function prefixAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

/**
 * The first record of each value of the first two bytes, as they are when sorted.
 * @param bytes whole records, @param stride bytes of a record, at least 2
 * @returns 65,537 numbers of records: those of a prefix end where those of the next start
 */
export function prefixStarts(bytes: Uint8Array, stride: number): Uint32Array {
  return startsOf((count) => {
    for (let at = 0; at < bytes.length; at += stride) count(prefixAt(bytes, at));
  });
}

/** As {@link prefixStarts}, of records of which somebody says, one by one, what their first two bytes are. */
export function startsOf(countAll: (count: (prefix: number) => void) => void): Uint32Array {
  const starts = new Uint32Array(prefixes + 1);
  countAll((prefix) => {
    starts[prefix + 1]! += 1;
  });
  for (let prefix = 0; prefix < prefixes; prefix++) starts[prefix + 1]! += starts[prefix]!;
  return starts;
}
