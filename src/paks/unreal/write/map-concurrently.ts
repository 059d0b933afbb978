/**
 * The results of a function for some items, in the items' order. It works on the next items while one is waited for.
 * @param concurrency items that are worked on at once
 */
export async function* mapConcurrently<Item, Made>(
  items: AsyncIterable<Item> | Iterable<Item>,
  make: (item: Item) => Promise<Made>,
  concurrency: number,
): AsyncGenerator<Made> {
  const pending: Promise<Made>[] = [];
  for await (const item of items) {
    const made = make(item);
    // It is waited for later; until then its failure must not count as unhandled.
    made.catch(() => {});
    pending.push(made);
    const first = pending.length < concurrency ? undefined : pending.shift();
    if (first !== undefined) yield await first;
  }
  for (const made of pending) yield await made;
}
