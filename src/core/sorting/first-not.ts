/**
 * The first number of [from, end) of which something does not hold; `end` where it holds of all. It must hold of all before that one, and of none behind it.
 * For what mostly ends near by: steps double, and only the last is halved.
 */
export function firstNot(from: number, end: number, holds: (number: number) => boolean): number {
  let [low, high] = [from, from];
  for (let step = 1; high < end && holds(high); step *= 2) {
    low = high + 1;
    high += step;
  }
  high = Math.min(high, end);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
