import type { ErrorCode } from './errors.ts';

/** An event of lasting work. */
export type Progress =
  /** The work on one of several builds begins. */
  | { type: 'build'; name: string; number: number; of: number }
  /** A step begins of which nobody knows how long it is, with the bytes that came for it so far. */
  | { type: 'step'; step: string; bytes: number }
  /** Bytes done of a phase, of how many (0: not known); and files or entries, where they are counted. */
  | { type: 'bytes'; phase: string; done: number; total: number; files?: { done: number; total: number } | undefined }
  /** Files or entries that are done, of work whose bytes nobody knows. */
  | { type: 'entry'; phase: string; done: number; total: number }
  /** The hosts that are asked, or trouble with one of them. */
  | { type: 'host'; hosts: readonly string[]; problem?: string | undefined }
  /** A remark for a person: without it something would be surprising. With a code what is done is not all, for something that it takes is damaged on this disk. */
  | { type: 'note'; text: string; code?: ErrorCode };

/** Called with events of lasting work. Must not throw. */
export type OnProgress = (event: Progress) => void;

/** Hears of remarks, and passes them on as notes. */
export function noting(onProgress: OnProgress | undefined): (text: string, code?: ErrorCode) => void {
  return (text, code) => onProgress?.({ type: 'note', text, ...(code !== undefined && { code }) });
}

/** Hears of steps whose bytes nobody counts, and passes them on. */
export function stepping(onProgress: OnProgress | undefined): (step: string | undefined) => void {
  return (step) => {
    if (step !== undefined) onProgress?.({ type: 'step', step, bytes: 0 });
  };
}

/** Hears of work, and keeps its notes in a list, each once. */
export function notesTo(list: string[]): OnProgress {
  return (event) => {
    if (event.type === 'note' && !list.includes(event.text)) list.push(event.text);
  };
}

/** What everything that lasts can be given. */
export interface WorkOptions {
  /** Ends the work with E_ABORTED, or with the signal's reason where that is an error of pakrat. */
  signal?: AbortSignal | undefined;
  /** Called at most ten times a second; notes come at once, each of them; what still waits at the end of the work comes then. */
  onProgress?: OnProgress | undefined;
}

const everyMs = 100;

/**
 * Passes events on, at most ten a second: of those of one type that come sooner the newest is passed on with the next. Notes come at once.
 * `flush` passes on what still waits, so that a listener hears of the end of work that was soon done.
 * @param now a monotonic clock in milliseconds
 */
export function throttled(
  onProgress: OnProgress | undefined,
  now: () => number = () => performance.now(),
): { tell: OnProgress; flush: () => void } {
  if (onProgress === undefined) return { tell: () => {}, flush: () => {} };
  const waiting = new Map<Progress['type'], Progress>();
  let passedAt = Number.NEGATIVE_INFINITY;
  const tell: OnProgress = (event) => {
    if (event.type === 'note') {
      onProgress(event);
      return;
    }
    // The newest goes behind those of other types that still wait.
    waiting.delete(event.type);
    waiting.set(event.type, event);
    const at = now();
    if (at - passedAt < everyMs) return;
    passedAt = at;
    const [[type, next] = []] = waiting;
    if (type === undefined || next === undefined) return;
    waiting.delete(type);
    onProgress(next);
  };
  const flush = (): void => {
    for (const event of waiting.values()) onProgress(event);
    waiting.clear();
  };
  return { tell, flush };
}
