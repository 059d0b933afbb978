import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Another process of a test. */
export interface Child {
  /** Resolves when the process prints this line. */
  says(line: string): Promise<void>;
  kill(): Promise<void>;
  process: ChildProcess;
}

/** Runs JavaScript (a module) in a process of its own, for half a minute at most. It imports from the root of the project. */
export function runInChild(source: string): Child {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '--eval', `setTimeout(() => process.exit(1), 30000).unref();\n${source}`],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let printed = '';
  let complaints = '';
  child.stderr.on('data', (piece) => {
    complaints += String(piece);
  });
  child.stdout.on('data', (piece) => {
    printed += String(piece);
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return {
    process: child,
    says: (line) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (printed.split('\n').includes(line)) resolve();
        };
        child.stdout.on('data', look);
        child.on('close', () => reject(new Error(`the other process ended without ${line}: ${complaints}`)));
        look();
      }),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The most memory that a process had so far, in MiB. Throws where it has ended, or the system does not tell. */
export function peakMiB(pid: number | undefined): number {
  const [, kib] = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kib === undefined) throw new Error(`process ${pid} has no memory any more`);
  return Number(kib) / 1024;
}
