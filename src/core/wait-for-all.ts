/**
 * The results of work that goes on side by side, once all of it has ended. When one fails the others are waited for, so that nothing goes
 * on behind the back of whoever handles the error.
 * @throws the first error, in the order in which the work is given
 */
export async function waitForAll<Results extends unknown[]>(
  ...work: { [Place in keyof Results]: Promise<Results[Place]> }
): Promise<Results> {
  const ends = await Promise.allSettled(work);
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  }) as Results;
}
