import { type ChildProcess, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomSource } from '../support/hostile.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { quakePak } from '../support/quake-pak.ts';
import { type Run, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes; the machine may be busy.
jest.setTimeout(240_000);
const scratch = scratchFolder();
/** Moments at which each command is stopped: one, or as many as a soak wants. */
const moments = Number(process.env.PAKRAT_MOMENTS ?? 1);
/** The later the moments, the more there must be to do. */
const amount = moments > 1 ? 4 : 1;
const [files, store, listfile] = [scratch('files'), scratch('store'), scratch('names.csv')];
const [plain, packed, many] = [scratch('plain.pak'), scratch('packed.pak'), scratch('many.pak')];
const inStore = ['--store', store, '--offline'];
let cdn: SyntheticCdn;

/** Words that compress, so that packing takes long and unpacking is quick. */
function words(bytes: number): Buffer {
  const random = randomSource(3);
  const some = Array.from({ length: 900 }, () =>
    random()
      .toString(36)
      .slice(2, 3 + random() * 9),
  );
  const text = Array.from({ length: 200_000 }, () => some[Math.floor(random() ** 2 * 900)]).join(' ');
  return Buffer.alloc(bytes, text);
}

beforeAll(async () => {
  fs.mkdirSync(join(files, 'small'), { recursive: true });
  fs.writeFileSync(join(files, 'large.txt'), words(amount * (32 << 20)));
  for (let i = 0; i < amount * 600; i++) fs.writeFileSync(join(files, 'small', `${i}.txt`), `${i} `.repeat(500));
  fs.writeFileSync(
    listfile,
    Array.from({ length: amount * 150_000 }, (_, i) => `${i + 1};world/maps/${i % 97}/${i}.blp\n`).join(''),
  );
  // Of what a pipe holds many times.
  const names = Array.from({ length: 8000 }, (_, i) => `maps/of/a/listing/${i}.txt`);
  fs.writeFileSync(many, quakePak(names.map((name) => ({ name, content: '' }))));
  cdn = await syntheticCdn({ make: ['--files', String(amount * 800), '--total-bytes', `${amount * 6}M`] });
  await withPakrat({ store, patchUrl: cdn.url }, async (pakrat) => {
    await pakrat.pack.quake(plain, files);
    await pakrat.pack.unreal(packed, files, { compress: 'zlib' });
    await pakrat.sync('wow');
  });
}, 240_000);
afterAll(() => cdn?.close());

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Set for a run: where it writes. */
const out = scratch('out');

/** Each command with what tells that it is at work: else it is when it hears signals. */
const commands: [name: string, args: readonly string[], isAtWork?: () => boolean][] = [
  ['extract of a build', ['extract', 'wow', '--to', out, ...inStore], () => fs.existsSync(join(out))],
  [
    'extract of a build in threads',
    ['extract', 'wow', '--to', out, '--jobs', '2', ...inStore],
    () => fs.existsSync(out),
  ],
  ['extract of a CDN folder', ['extract', 'cdn:', '--to', out, '--store', scratch('other')], () => fs.existsSync(out)],
  ['extract of a PAK', ['extract', packed, '--to', out, '--jobs', '1'], () => fs.existsSync(out)],
  ['extract of a PAK in threads', ['extract', packed, '--to', out, '--jobs', '2'], () => fs.existsSync(out)],
  ['extract of a tar', ['extract', plain, '--to', '-']],
  ['pack quake', ['pack', 'quake', join(out, 'a.pak'), files], () => fs.existsSync(out)],
  [
    'pack unreal',
    ['pack', 'unreal', join(out, 'a.pak'), files, '--compress', 'zlib', '--exact', '--block-size', '16M'],
    () => fs.existsSync(out),
  ],
  [
    'pack nadeo',
    ['pack', 'nadeo', join(out, 'a.pak'), files, '--key', '00112233445566778899aabbccddeeff'],
    () => fs.existsSync(out),
  ],
  ['verify of a store', ['verify', '--store', store]],
  ['verify of a PAK', ['verify', packed]],
  ['listfile import', ['listfile', 'import', listfile, '--store', out], () => fs.existsSync(join(out, 'tmp'))],
  ['diff', ['diff', packed, files]],
  ['cat', ['cat', packed, 'large.txt']],
];

/** The build configs of the tree. */
function builds(): Record<'a' | 'b', string> {
  return (cdn.summary.configs as { build: Record<'a' | 'b', string> }).build;
}

function temporaries(): string[] {
  const found = fs.readdirSync(scratch(), { recursive: true }) as string[];
  return found.filter((name) => name.endsWith('.tmp'));
}

/** Waits until a process listens to SIGHUP, where the system tells: of the signals that stop a command Node has no use of its own for this one. */
async function untilHears(child: ChildProcess): Promise<void> {
  if (!fs.existsSync('/proc/self/status')) await sleep(1000);
  for (let tries = 0; tries < 1000 && child.exitCode === null; tries++) {
    const [, caught = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(textOf(`/proc/${child.pid}/status`)) ?? [];
    if ((Number.parseInt(caught.slice(-1), 16) & 1) === 1) return;
    await sleep(5);
  }
}

function textOf(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Milliseconds of processor time that a process took; 0 when it is gone or the system does not tell. */
function processorMs(child: ChildProcess): number {
  const stat = textOf(`/proc/${child.pid}/stat`).split(') ')[1]?.split(' ') ?? [];
  return (Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) * 10;
}

/** Waits until a process takes no processor time any more, or has ended. */
async function untilIdle(child: ChildProcess): Promise<void> {
  if (!fs.existsSync('/proc/self/stat')) await sleep(1500);
  let [last, calm] = [0, 0];
  while (calm < 10 && child.exitCode === null) {
    await sleep(50);
    const now = processorMs(child);
    calm = now > last || now === 0 ? 0 : calm + 1;
    last = now;
  }
}

interface Stopped extends Run {
  /** False when the run ended before the signal came. */
  wasRunning: boolean;
  /** Processor time that it took after the signal. */
  afterMs: number;
}

async function stopped(
  run: { child: ChildProcess; ended: Promise<Run> },
  signal: NodeJS.Signals,
  later: number,
  isAtWork?: () => boolean,
): Promise<Stopped> {
  const { child, ended } = run;
  await untilHears(child);
  while (isAtWork?.() === false && child.exitCode === null) await sleep(2);
  await Promise.race([ended, sleep(later)]);
  const wasRunning = child.exitCode === null;
  const before = processorMs(child);
  let last = before;
  const watch = setInterval(() => {
    last = Math.max(last, processorMs(child));
  }, 20);
  const guard = setTimeout(() => child.kill('SIGKILL'), 60_000);
  child.kill(signal);
  const result = await ended;
  clearInterval(watch);
  clearTimeout(guard);
  return { ...result, wasRunning, afterMs: last - before };
}

/**
 * Whether a command that died by its signal had said what it did, which is the last that it does: in its last moment the runtime has let go of
 * signals. What writes contents, or line after line, does not count.
 */
function saysAll(args: readonly string[], stdout: string): boolean {
  return !['cat', 'diff'].includes(args[0] ?? '') && !args.includes('-') && stdout.endsWith('\n');
}

describe.each(commands.map(([name, args, isAtWork], number) => ({ name, args, isAtWork, number })))(
  '$name',
  (command) => {
    const { args, isAtWork, number } = command;
    let stops = 0;
    test.each(
      Array.from(
        { length: moments },
        (_, i) => [signals[(number + i) % 3] ?? 'SIGINT', (i * 60 + number * 8) % 1000] as const,
      ),
    )('ends with 130 within two seconds of %s after %i ms, and leaves nothing half-done', async (signal, later) => {
      const all = args.map((arg) => (arg === 'cdn:' ? `cdn:${cdn.root}/www/tpr/wow@${builds().b}` : arg));
      const stopAfter = (wait: number): Promise<Stopped> => {
        fs.rmSync(out, { recursive: true, force: true });
        return stopped(startPakrat(all), signal, wait, isAtWork);
      };
      // A run may end before it is stopped, or be at its very end: where the machine is so quick, it is stopped sooner.
      const isOver = ({ wasRunning, status, afterMs, stdout }: Stopped): boolean =>
        !wasRunning || (status === 0 && afterMs < 300) || (status === null && saysAll(args, stdout));
      let wait = later;
      let run = await stopAfter(wait);
      while (isOver(run) && stops === 0 && wait > 0) {
        wait >>= 1;
        run = await stopAfter(wait);
      }
      if (isOver(run)) return;
      stops += 1;
      expect(run).toMatchObject({ status: 130, stderr: expect.stringContaining('E_ABORTED') });
      // Only an extraction into a folder finds again what it wrote.
      expect(run.stderr.includes('to go on where it stopped')).toBe(args[0] === 'extract' && !args.includes('-'));
      expect(run.afterMs).toBeLessThan(2000);
      expect(temporaries()).toEqual([]);
    });

    test('was stopped indeed', () => {
      expect(stops).toBeGreaterThan(0);
    });
  },
);

test('what was stopped is gone on with', async () => {
  fs.rmSync(out, { recursive: true, force: true });
  const args = ['extract', 'wow', '--to', out, ...inStore];
  await stopped(startPakrat(args), 'SIGINT', 300, () => fs.existsSync(out));
  const before = fs.readdirSync(out, { recursive: true }).length;
  // Files whose keys are not known are left out.
  const { status, stdout } = await startPakrat([...args, '--json']).ended;
  expect([0, 7]).toContain(status);
  const { files, skipped } = JSON.parse(stdout) as { files: number; skipped: number };
  expect(files + skipped).toBeGreaterThan(amount * 600);
  if (before > 100) expect(skipped).toBeGreaterThan(0);
});

/** A listing that nobody reads: its pipe is full, and it waits. */
function unreadListing(): { child: ChildProcess; ended: Promise<Run> } {
  const bin = process.env.PAKRAT_BIN ?? 'bin/run.js';
  const child = spawn(process.execPath, [bin, 'ls', many, '-R', '--json'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new Promise<Run>((done) => {
    child.on('exit', (status) => done({ status, stdout: '', stderr: '' }));
  });
  return { child, ended };
}

describe('ls that waits for its reader', () => {
  test.each(signals)('ends with 130 after %s', async (signal) => {
    const run = unreadListing();
    await untilIdle(run.child);
    expect(await stopped(run, signal, 0)).toMatchObject({ wasRunning: true, status: 130 });
  });

  test('a second Ctrl-C ends it at once', async () => {
    const run = unreadListing();
    await untilIdle(run.child);
    run.child.kill('SIGINT');
    await sleep(200);
    expect(run.child.exitCode).toBeNull();
    const started = performance.now();
    run.child.kill('SIGINT');
    expect(await run.ended).toMatchObject({ status: 130 });
    // Without the second it has more than a second left.
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

test('under nohup a closed terminal does not stop it', async () => {
  fs.rmSync(out, { recursive: true, force: true });
  const run = startPakrat(['extract', 'wow', '--to', out, ...inStore], { env: { _: '/usr/bin/nohup' } });
  const { wasRunning, status } = await stopped(run, 'SIGHUP', 100, () => fs.existsSync(out));
  expect([0, 7]).toContain(status);
  expect(wasRunning).toBe(true);
});

test("as a child of a shell with trap '' HUP it outlives the terminal, too", async () => {
  if (!fs.existsSync('/proc/self/status')) return;
  fs.rmSync(out, { recursive: true, force: true });
  const bin = process.env.PAKRAT_BIN ?? 'bin/run.js';
  const line = `trap '' HUP; "${process.execPath}" "${bin}" extract "${packed}" --to "${out}" --jobs 1 --quiet; echo "ended $?"`;
  const shell = spawn('sh', ['-c', line], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  let said = '';
  shell.stdout.on('data', (piece) => {
    said += String(piece);
  });
  const ended = new Promise((done) => shell.on('close', done));
  while (!fs.existsSync(out) && shell.exitCode === null) await sleep(5);
  process.kill(-(shell.pid ?? 0), 'SIGHUP');
  await ended;
  expect(said).toContain('ended 0');
});

test('what a killed run left in the folder is gone after the next', async () => {
  fs.rmSync(out, { recursive: true, force: true });
  let left: string[] = [];
  for (let tries = 0; tries < 20 && left.length === 0; tries++) {
    const { child, ended } = startPakrat(['extract', packed, 'large.txt', '--to', out, '--jobs', '1']);
    while (temporaries().length === 0 && child.exitCode === null) await sleep(2);
    child.kill('SIGKILL');
    await ended;
    left = temporaries();
  }
  expect(left).toHaveLength(1);
  // This process lives, and has the same name but for the number.
  const own = left[0]!.replace(/-\d+-[0-9a-z]+-/, `-${process.pid}-0-`);
  fs.writeFileSync(scratch(own), '');
  expect((await startPakrat(['extract', packed, 'small/1*', '--to', out]).ended).status).toBe(0);
  expect(temporaries()).toEqual([own]);
  fs.rmSync(scratch(own));
});
