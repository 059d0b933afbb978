/** Encrypts or decrypts with ARC4 (RC4), from the start of its keystream: give pieces to the function in order. The key has 1 to 256 bytes. */
export function arc4Stream(key: Uint8Array): (piece: Uint8Array) => Uint8Array {
  const state = scheduled(key);
  let i = 0;
  let j = 0;
  return (piece) => {
    const out = new Uint8Array(piece.length);
    for (let at = 0; at < piece.length; at++) {
      i = (i + 1) & 0xff;
      const a = state[i]!;
      j = (j + a) & 0xff;
      const b = state[j]!;
      state[i] = b;
      state[j] = a;
      out[at] = piece[at]! ^ state[(a + b) & 0xff]!;
    }
    return out;
  };
}

function scheduled(key: Uint8Array): Uint8Array {
  const state = Uint8Array.from({ length: 256 }, (_, i) => i);
  let j = 0;
  for (let i = 0; i < 256; i++) {
    const a = state[i]!;
    j = (j + a + key[i % key.length]!) & 0xff;
    state[i] = state[j]!;
    state[j] = a;
  }
  return state;
}
