/** True when bytes start with these letters. */
export function startsWith(bytes: Uint8Array, letters: string): boolean {
  return [...letters].every((letter, i) => bytes[i] === letter.charCodeAt(0));
}
