import { spawn } from 'node:child_process';
import { messageOf } from '../core/errors.ts';
import { toJson } from './terminal/json.ts';

/** A command that is still at work after this time is ended. */
const limitMs = 10 * 60_000;

/**
 * Runs a command of the user through the shell, with an event as JSON on its standard input. Nothing of the event is part of the command line. What it
 * prints goes to the standard error of this process.
 * @returns how it failed; undefined when it did not
 */
export function runHook(command: string, event: unknown, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['pipe', 2, 2], signal, timeout: limitMs });
    child.on('error', (error) => resolve(signal.aborted ? undefined : `the hook cannot be run: ${messageOf(error)}`));
    child.on('close', (status, ended) => {
      if (status === 0 || signal.aborted) resolve(undefined);
      else resolve(`the hook ended with ${status ?? ended}`);
    });
    // It need not read it.
    child.stdin?.on('error', () => {});
    child.stdin?.end(`${toJson(event, 0)}\n`);
  });
}
