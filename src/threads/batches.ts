/** The most that tasks of one batch have together. */
export interface BatchLimits {
  bytes: number;
  tasks: number;
}

const usual: BatchLimits = { bytes: 4 << 20, tasks: 256 };

/** The largest tasks first, each alone, so that none is still under way when all else is done; the others together, in their order. */
export function* batchesOf<Task extends { readonly size: number }>(
  tasks: readonly Task[],
  limits: BatchLimits = usual,
): Generator<Task[]> {
  const large = tasks.filter(({ size }) => size >= limits.bytes).sort((a, b) => b.size - a.size);
  for (const task of large) yield [task];
  let waiting: Task[] = [];
  let bytes = 0;
  for (const task of tasks) {
    if (task.size >= limits.bytes) continue;
    if (bytes + task.size > limits.bytes || waiting.length === limits.tasks) {
      yield waiting;
      waiting = [];
      bytes = 0;
    }
    waiting.push(task);
    bytes += task.size;
  }
  if (waiting.length > 0) yield waiting;
}
