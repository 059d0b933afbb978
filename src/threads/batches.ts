/** The most that tasks of one batch have together. */
export interface BatchLimits {
  bytes: number;
  tasks: number;
}

/** Batches of tasks that each write a file. */
export const usualLimits: BatchLimits = { bytes: 4 << 20, tasks: 256 };

/**
 * The largest tasks first, each alone, so that none is still under way when all else is done; the others together, in their order.
 * @param tasks are gone through twice
 */
export function* batchesOf<Task extends { readonly size: number }>(
  tasks: Iterable<Task>,
  limits: BatchLimits = usualLimits,
): Generator<Task[]> {
  const large: Task[] = [];
  for (const task of tasks) if (task.size >= limits.bytes) large.push(task);
  for (const task of large.sort((a, b) => b.size - a.size)) yield [task];
  yield* batchesInOrder(smallOnes(tasks, limits.bytes), limits);
}

function* smallOnes<Task extends { readonly size: number }>(tasks: Iterable<Task>, bytes: number): Generator<Task> {
  for (const task of tasks) if (task.size < bytes) yield task;
}

/** Tasks together, in their order; one that is larger than a batch may be is alone. */
export function* batchesInOrder<Task extends { readonly size: number }>(
  tasks: Iterable<Task>,
  limits: BatchLimits,
): Generator<Task[]> {
  let waiting: Task[] = [];
  let bytes = 0;
  for (const task of tasks) {
    if (waiting.length === limits.tasks || (waiting.length > 0 && bytes + task.size > limits.bytes)) {
      yield waiting;
      waiting = [];
      bytes = 0;
    }
    waiting.push(task);
    bytes += task.size;
  }
  if (waiting.length > 0) yield waiting;
}
