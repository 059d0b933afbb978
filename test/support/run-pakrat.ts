import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The program under test: PAKRAT_BIN, else the one of this folder. Built, as a person has it. */
const bin = resolve(process.env.PAKRAT_BIN ?? 'bin/run.js');
const commands = join(dirname(bin), '../dist/program/commands');

/** What a run of the built program left behind. */
export interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** How to run it. */
export interface RunOptions {
  /** Added to the environment; the tests' own PAKRAT_ variables, and their proxies, are not passed on. */
  env?: Record<string, string>;
  input?: string;
  cwd?: string;
  timeoutMs?: number;
}

/** The environment of a run, with more added. */
export function environment(added: Record<string, string> = {}): NodeJS.ProcessEnv {
  if (!existsSync(commands)) throw new Error('the program is not built: npm run build');
  const inherited = Object.entries(process.env).filter(([name]) => !/^(PAKRAT_.*|(https?|no)_proxy)$/i.test(name));
  // A settings file of whoever runs the tests says nothing here.
  const XDG_CONFIG_HOME = join(tmpdir(), 'pakrat-no-settings');
  return { ...Object.fromEntries(inherited), NODE_ENV: 'production', XDG_CONFIG_HOME, ...added };
}

/** For a shell: `pakrat` is the program under test. */
export const programLine = `pakrat() { "${process.execPath}" "${bin}" "$@"; }`;

/** Runs `pakrat ARGS` as a person would, and waits for its end. */
export function runPakrat(args: readonly string[], options: RunOptions = {}): Run {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    env: environment(options.env),
    input: options.input ?? '',
    cwd: options.cwd,
    timeout: options.timeoutMs ?? 60_000,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  return { status, stdout, stderr };
}

/** Starts `pakrat ARGS` and gives back the process, with a promise of how it ended. */
export function startPakrat(
  args: readonly string[],
  options: RunOptions = {},
): { child: ChildProcess; ended: Promise<Run> } {
  const child = spawn(process.execPath, [bin, ...args], {
    env: environment(options.env),
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (piece) => {
    stdout += String(piece);
  });
  child.stderr.on('data', (piece) => {
    stderr += String(piece);
  });
  const ended = new Promise<Run>((done) => child.on('close', (status) => done({ status, stdout, stderr })));
  return { child, ended };
}

/** Runs a line of shell in which `pakrat` is the built program. */
export function runShell(line: string, options: RunOptions = {}): Run {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', `${programLine}\n${line}`], {
    env: environment(options.env),
    cwd: options.cwd,
    timeout: options.timeoutMs ?? 60_000,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

/** Runs `pakrat ARGS --json` beside other work and gives back what it printed and how it ended. */
export async function pakratJson<Value>(
  args: readonly string[],
  options: RunOptions = {},
): Promise<{ status: number | null; value: Value }> {
  const { status, stdout, stderr } = await startPakrat([...args, '--json', '--quiet'], options).ended;
  try {
    return { status, value: JSON.parse(stdout) as Value };
  } catch {
    throw new Error(`pakrat ${args.join(' ')}: exit ${status}, no JSON but ${stdout.slice(0, 500)}\n${stderr}`);
  }
}
