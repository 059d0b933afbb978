import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Ctrl-C, the polite kill, and a terminal that was closed. */
export const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * True when the process was started so that it outlives its terminal (`nohup`, `trap '' HUP`). Node forgets at its start that it is to take
 * no notice of SIGHUP, so others are asked: the shell's `_`, the program that it started, and the parent, from whom this comes.
 */
export function outlivesTerminal(): boolean {
  if (basename(process.env._ ?? '') === 'nohup') return true;
  return [process.pid, process.ppid].some(ignoresHangup);
}

/** SIGHUP is signal 1, the lowest bit. */
function ignoresHangup(pid: number): boolean {
  try {
    const [, mask = '0'] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return (Number.parseInt(mask.slice(-1), 16) & 1) === 1;
  } catch {
    return false;
  }
}
