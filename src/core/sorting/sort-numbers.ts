/** Of larger digits memory has too many places that are written to in turn. */
const digitBits = 8;
const digits = 1 << digitBits;

/**
 * Sorts numbers, where they are: by eight bits after eight, from the lowest on, so that millions take four passes and no comparison.
 * @param memory for three times as many numbers, the result among them
 * @returns where each of them was, equal ones in the order in which they were
 */
export function sortNumbers(
  numbers: Uint32Array,
  memory: Uint32Array = new Uint32Array(3 * numbers.length),
): Uint32Array {
  const count = numbers.length;
  const part = (i: number): Uint32Array => memory.subarray(i * count, (i + 1) * count);
  let from: Placed = { numbers, places: part(0) };
  let to: Placed = { numbers: part(1), places: part(2) };
  for (let i = 0; i < count; i++) from.places[i] = i;
  for (let shift = 0; shift < 32; shift += digitBits) {
    const starts = startsOf(numbers, shift);
    if (starts === undefined) continue;
    deal(from, to, { starts, shift });
    [from, to] = [to, from];
  }
  if (from.numbers !== numbers) numbers.set(from.numbers);
  return from.places;
}

interface Placed {
  numbers: Uint32Array;
  places: Uint32Array;
}

function deal(from: Placed, to: Placed, { starts, shift }: { starts: Uint32Array; shift: number }): void {
  const [numbers, places, toNumbers, toPlaces] = [from.numbers, from.places, to.numbers, to.places];
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!;
    const digit = (number >>> shift) & (digits - 1);
    const at = starts[digit]!;
    starts[digit] = at + 1;
    toNumbers[at] = number;
    toPlaces[at] = places[i]!;
  }
}

/** Where the numbers of each digit begin; undefined where all have the same. */
function startsOf(numbers: Uint32Array, shift: number): Uint32Array | undefined {
  const starts = new Uint32Array(digits);
  for (let i = 0; i < numbers.length; i++) starts[(numbers[i]! >>> shift) & (digits - 1)]! += 1;
  for (let digit = 0, sum = 0; digit < digits; digit++) {
    const count = starts[digit]!;
    if (count === numbers.length) return undefined;
    starts[digit] = sum;
    sum += count;
  }
  return starts;
}
