/**
 * An iterable whose items are made anew each time it is gone through, so that a large table need not become objects to be listed.
 * @param start gives a fresh iterator: a generator function
 */
export function repeatable<Item>(start: () => Iterator<Item>): Iterable<Item> {
  return { [Symbol.iterator]: start };
}
