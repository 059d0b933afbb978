const vocabulary = ['orc ', 'elf ', 'gold ', 'mine ', 'the ', 'a ', 'of ', 'keep\n'].map((word) => Buffer.from(word));

/** Compressible text of some bytes, always the same. */
export function words(size: number): Uint8Array {
  const parts: Buffer[] = [];
  let state = 12345;
  for (let made = 0; made < size; made += parts.at(-1)!.length) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    parts.push(vocabulary[(state >>> 16) & 7]!);
  }
  return new Uint8Array(Buffer.concat(parts).subarray(0, size));
}
