const firstSurrogate = 0xd800;
const behindSurrogates = 0xe000;

/**
 * Compares names as their bytes in UTF-8 compare, which is the order of `LC_ALL=C sort`: in each folder `a-b`, `a.b`, then what is below `a/`.
 * Strings compare by their UTF-16 units otherwise, which is another order for characters beyond U+FFFF alone.
 */
export function compareNames(a: string, b: string): number {
  const size = Math.min(a.length, b.length);
  for (let i = 0; i < size; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** A UTF-16 unit where its character stands in UTF-8: surrogates are parts of what comes last. */
function rank(unit: number): number {
  if (unit < firstSurrogate) return unit;
  return unit < behindSurrogates ? unit + 0x10000 : unit;
}
