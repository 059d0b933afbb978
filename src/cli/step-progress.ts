import type { Progress } from './render/progress.ts';

/** Shows steps of which nobody knows how long they are: their names, and the bytes that came for each so far. */
export interface StepProgress {
  onStep(name: string): void;
  /** Says where bytes are counted. */
  watch(received: () => number): void;
  /** Shows no more steps; the line is free for something else. */
  end(): void;
}

const everyMs = 200;

/** Steps on a progress line. Needs `end`. */
export function stepProgress(progress: Progress): StepProgress {
  let step: { name: string; from: number } | undefined;
  let received = (): number => 0;
  const show = (): void => {
    if (step !== undefined) progress.update({ phase: step.name, done: received() - step.from, total: 0 });
  };
  const timer = setInterval(show, everyMs).unref();
  return {
    onStep(name) {
      step = { name, from: received() };
      show();
    },
    watch(count) {
      received = count;
    },
    end() {
      clearInterval(timer);
      step = undefined;
    },
  };
}
