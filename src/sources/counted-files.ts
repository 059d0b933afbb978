import type { OnProgress } from '../core/progress.ts';

interface CountedFiles {
  /** Called with how many files there are, and their bytes. */
  onPlan(files: number, bytes: number): void;
  /** Called with the bytes of each file that is done. */
  onFile(bytes: number): void;
  /** Called with the bytes that came of what is being fetched for the next files, and how many there will be. */
  onFetched(bytes: number, ofBytes: number): void;
}

/** Files done of all, as progress. */
export function countedFiles(phase: string, onProgress: OnProgress | undefined): CountedFiles {
  const files = { done: 0, total: 0 };
  let done = 0;
  let total = 0;
  const tell = (): void =>
    onProgress?.({ type: 'bytes', phase, done, total, files: { done: files.done, total: files.total } });
  return {
    onPlan(count, bytes) {
      total = bytes;
      files.total = count;
      tell();
    },
    onFile(bytes) {
      done += bytes;
      files.done += 1;
      tell();
    },
    onFetched(bytes, ofBytes) {
      // What lies between entries is fetched with them.
      const done = Math.min(bytes, ofBytes);
      if (bytes > 0) onProgress?.({ type: 'bytes', phase: 'fetch', done, total: ofBytes, files: { ...files } });
    },
  };
}
