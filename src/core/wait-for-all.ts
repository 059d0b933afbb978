/**
 * Waits for several pieces of work that go on side by side, and gives back their results. When one fails the others are waited for all the
 * same, so that nothing goes on behind the back of whoever handles the error.
 * @throws the first failure, in the order in which the work is given
 */
export async function waitForAll<Values extends unknown[]>(
  ...work: { [Place in keyof Values]: Promise<Values[Place]> }
): Promise<Values> {
  const ends = await Promise.allSettled(work);
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  }) as Values;
}
