/** A block that holds the bytes as literals only: valid for every reader, and no smaller. */
export function lz4Literals(bytes: Uint8Array): Uint8Array {
  const extra = bytes.length < 15 ? 0 : Math.floor((bytes.length - 15) / 255) + 1;
  const block = new Uint8Array(1 + extra + bytes.length);
  block[0] = Math.min(bytes.length, 15) << 4;
  block.fill(255, 1, 1 + extra);
  if (extra > 0) block[extra] = (bytes.length - 15) % 255;
  block.set(bytes, 1 + extra);
  return block;
}
