/**
 * What several pieces of work give that go on side by side. When one fails the others are waited for, so that nothing goes on behind the
 * back of whoever handles the error.
 * @throws what the first of them threw, in the order in which they are given
 */
export async function together<Values extends unknown[]>(
  ...work: { [Place in keyof Values]: Promise<Values[Place]> }
): Promise<Values> {
  const ends = await Promise.allSettled(work);
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  }) as Values;
}
