import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { throwIfAborted, valueUnless } from './errors.ts';

/** Work that waits for nothing lets the event loop turn this often: a signal is heard only then, and a bar drawn. */
const turnEveryMs = 50;

let dueAt = 0;
let turn: Promise<void> | undefined;

/** Lets the event loop turn where it is time to. For loops that wait for nothing. @throws as throwIfAborted */
export async function breathe(signal?: AbortSignal): Promise<void> {
  // Whoever else is at work in this thread waits, too: the loop turns only when nobody goes on.
  while (turn !== undefined || performance.now() >= dueAt) {
    turn ??= takeTurn();
    await turn;
  }
  throwIfAborted(signal);
}

/** Does all steps of some work, breathing between them. Work that is not finished is ended. @throws as throwIfAborted, and as the work does */
export async function breatheBetween<Result>(steps: Generator<void, Result>, signal?: AbortSignal): Promise<Result> {
  try {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await breathe(signal);
    }
  } catch (error) {
    steps.return(undefined as Result);
    throw error;
  }
}

async function takeTurn(): Promise<void> {
  // The first may come before the loop has looked for what happened meanwhile.
  await nextTurn();
  await nextTurn();
  dueAt = performance.now() + turnEveryMs;
  turn = undefined;
}

/** Waits. @throws as throwIfAborted, as soon as the signal is aborted */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await valueUnless(() => signal?.aborted === true, sleep(ms, undefined, { signal }));
  throwIfAborted(signal);
}

/** A signal that is aborted as soon as one of two is, of which one need not be there. */
export function eitherSignal(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? one : AbortSignal.any([one, other]);
}

/**
 * Waits for work that others may wait for as well: a signal ends the waiting, and the work goes on.
 * @throws as throwIfAborted, as soon as the signal is aborted; as the work does
 */
export async function waitUnlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return work;
  let onAbort = (): void => {};
  const ended = new Promise<void>((resolve) => {
    onAbort = resolve;
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    // An error of work that nobody waits for any more is nobody's.
    await Promise.race([work, ended]);
    throwIfAborted(signal);
    return await work;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
