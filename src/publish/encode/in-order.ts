/** Work that has begun. */
export interface Started<Result> {
  /** Its share of what may be in work at once. */
  weight: number;
  result: Promise<Result>;
}

/** Gives results in the order in which their work began, which goes on meanwhile as long as no more than `limit` is in work. @throws as the first that fails */
export async function* inOrder<Result>(
  work: AsyncIterable<Started<Result>>,
  limit: number,
): AsyncGenerator<Result, void, undefined> {
  const waiting: Started<Result>[] = [];
  let weight = 0;
  for await (const started of work) {
    // It may fail before its turn has come.
    started.result.catch(() => {});
    waiting.push(started);
    weight += started.weight;
    while (weight > limit) {
      const first = waiting.shift();
      if (first === undefined) break;
      weight -= first.weight;
      yield await first.result;
    }
  }
  for (const { result } of waiting) yield await result;
}
