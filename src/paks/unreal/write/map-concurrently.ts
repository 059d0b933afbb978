/**
 * What a function makes of each item, in the items' order, with some items worked on ahead of the one that is waited for.
 * @param ahead how many are under way at once
 */
export async function* mapAhead<Item, Made>(
  items: AsyncIterable<Item> | Iterable<Item>,
  make: (item: Item) => Promise<Made>,
  ahead: number,
): AsyncGenerator<Made> {
  const underWay: Promise<Made>[] = [];
  for await (const item of items) {
    const made = make(item);
    // It is waited for later; until then its failure must not count as unhandled.
    made.catch(() => {});
    underWay.push(made);
    if (underWay.length >= ahead) yield await underWay.shift()!;
  }
  for (const made of underWay) yield await made;
}
