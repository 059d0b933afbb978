import type { Progress } from './render/progress.ts';

/** Shows work on files whose number and bytes are known when it begins. */
export interface FileProgress {
  /** Says how many files there are, and their bytes. */
  onPlan(files: number, bytes: number): void;
  /** Says that a file is done, and its bytes. */
  onFile(bytes: number): void;
}

/** Files done of all, on a progress line. */
export function fileProgress(progress: Progress, phase: string): FileProgress {
  const state = { phase, done: 0, total: 0, files: { done: 0, total: 0 } };
  return {
    onPlan(files, bytes) {
      state.total = bytes;
      state.files.total = files;
      progress.update(state);
    },
    onFile(bytes) {
      state.done += bytes;
      state.files.done += 1;
      progress.update(state);
    },
  };
}
