/** A name in lower case, as tries and look-ups compare it: ASCII alone. */
export function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
