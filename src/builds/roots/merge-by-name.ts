import { compareNames } from '../../core/names/name-order.ts';

/**
 * Two lists that are sorted by name as one. What has no name comes after all that has, first that of the first list.
 * @param nameOf undefined for what has no name
 */
export function* mergeByName<Row>(
  first: Iterable<Row>,
  second: Iterable<Row>,
  nameOf: (row: Row) => string | undefined,
): Generator<Row> {
  const others = second[Symbol.iterator]();
  let other = others.next();
  for (const row of first) {
    const name = other.done === true ? undefined : nameOf(row);
    for (; other.done !== true; other = others.next()) {
      const otherName = nameOf(other.value);
      if (otherName === undefined || (name !== undefined && compareNames(name, otherName) <= 0)) break;
      yield other.value;
    }
    yield row;
  }
  for (; other.done !== true; other = others.next()) yield other.value;
}
