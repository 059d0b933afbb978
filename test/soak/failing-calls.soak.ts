import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { filesBelow } from '../support/files-below.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { randomSource } from '../support/hostile.ts';
import { type Run, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { syntheticCdn } from '../support/synthetic-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/*
 * Some call of the system about the files of a command fails, once, a few times or from then on, as a disk, a network drive or a quota has it fail: the command
 * ends, not as a bug, and gives no wrong byte; afterwards a repair and a sync bring everything back.
 */

jest.setTimeout(3_600_000);
const rounds = Number(process.env.PAKRAT_ROUNDS ?? 150);
const seed = Number(process.env.PAKRAT_SEED ?? 1);
const scratch = scratchFolder();
const library = scratch('failing-calls.so');
const source = new URL('failing-calls.c', import.meta.url).pathname;
const isBuilt =
  process.platform === 'linux' && spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']).status === 0;
if (!isBuilt) console.warn('SKIPPED, it takes Linux and a C compiler: calls of the system that fail');

/** A command that waits longer than that for nothing waits for ever. */
const mostMs = 120_000;
const errors: Readonly<Record<string, readonly (keyof typeof constants.errno)[]>> = {
  open: ['EIO', 'EACCES', 'EMFILE', 'ESTALE'],
  read: ['EIO', 'ESTALE'],
  write: ['EIO', 'ENOSPC', 'EDQUOT'],
  fsync: ['EIO', 'ENOSPC', 'EDQUOT'],
  ftruncate: ['EIO', 'ENOSPC'],
  rename: ['EIO', 'ENOSPC', 'EDQUOT', 'EACCES', 'ESTALE'],
  mkdir: ['EIO', 'ENOSPC', 'EDQUOT', 'EACCES'],
  unlink: ['EIO', 'EBUSY', 'EACCES'],
  list: ['EIO', 'EACCES'],
};

(isBuilt ? test : test.skip)(`${rounds} commands of which a call of the system fails`, async () => {
  const make = ['--files', '60', '--total-bytes', '1M', '--archives', '3', '--loose-meta', '1', '--loose', '0.1'];
  const cdn = await syntheticCdn({ make });
  const online = ['--patch-url', cdn.url];
  const [stores, at, right] = [scratch('stores'), scratch('at'), scratch('right')];
  for (const name of ['empty', 'old', 'whole'])
    await withPakrat({ store: join(stores, name), patchUrl: cdn.url }, async (pakrat) => {
      await pakrat.listfile.import(join(cdn.root, 'listfile.csv'));
      if (name === 'old') await pakrat.sync('wow_old');
      if (name === 'whole') await pakrat.sync('wow', { all: true });
    });
  const [store, output] = [join(at, 'store'), join(at, 'output')];
  await startPakrat(['extract', 'wow', '--store', join(stores, 'whole'), '--offline', '--to', right]).ended;
  const commands: Record<string, { from: string; args: string[] }> = {
    sync: { from: 'empty', args: ['sync', 'wow', ...online] },
    update: { from: 'old', args: ['sync', 'wow', ...online] },
    again: { from: 'whole', args: ['sync', 'wow', ...online] },
    repair: { from: 'whole', args: ['verify', '--repair', ...online] },
    extract: { from: 'whole', args: ['extract', 'wow', '--to', output, ...online] },
    fetch: { from: 'empty', args: ['extract', 'wow', '--to', output, ...online] },
    tar: { from: 'whole', args: ['extract', 'wow', '--to', '-', ...online] },
    list: { from: 'whole', args: ['ls', 'wow', '-R', ...online] },
    names: { from: 'old', args: ['listfile', 'import', join(cdn.root, 'listfile.csv')] },
    import: { from: 'empty', args: ['import', join(cdn.root, 'www')] },
    gc: { from: 'old', args: ['gc', '--max-size', '200K'] },
  };

  const random = randomSource(Math.imul(seed, 0x9e3779b1));
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;
  const prepare = (from: string): void => {
    rmSync(at, { recursive: true, force: true });
    cpSync(join(stores, from), store, { recursive: true });
  };
  /** Every so often a file of the CDN that the store holds is damaged, so that a repair has work. */
  const spoil = (): void => {
    const held = filesBelow(join(store, 'tpr'));
    for (let i = 0; i < 3; i++) spawnSync('truncate', ['-s', '-3', join(store, 'tpr', pick(held))]);
  };
  const run = async (args: readonly string[], env: Record<string, string> = {}): Promise<Run> => {
    const { child, ended } = startPakrat([...args, '--store', store, '--quiet'], { env });
    const ending = new AbortController();
    void sleep(mostMs, undefined, { signal: ending.signal }).then(
      () => child.kill('SIGKILL'),
      () => {},
    );
    return ended.finally(() => ending.abort());
  };

  const told = scratch('told');
  for (let round = 0; round < rounds; round++) {
    const name = pick(Object.keys(commands));
    const { from, args } = commands[name]!;
    const ready = (): void => {
      prepare(from);
      if (name === 'repair') spoil();
    };
    ready();
    const env = { LD_PRELOAD: library, FAIL_BELOW: at };
    const sound = await run(args, { ...env, FAIL_TOLD: told });
    const counts = readFileSync(told, 'utf8').trim().split('\n');
    const [call = '', count = '0'] = pick(counts.filter((line) => !line.endsWith(' 0'))).split(' ');
    const error = pick(errors[call]!);
    const first = 1 + Math.floor(random() * Number(count));
    const times = pick([1, 1, 2, 5, 1_000_000]);
    ready();
    const failing = { FAIL_CALL: call, FAIL_FROM: String(first), FAIL_TIMES: String(times) };
    const { status, stdout, stderr } = await run(args, {
      ...env,
      ...failing,
      FAIL_WITH: String(constants.errno[error]),
    });
    const about = `seed ${seed} round ${round} ${name}: ${call} ${first} of ${count} fails ${times} times with ${error}\nends with ${status}\n${stdout.slice(-500)}${stderr.slice(-2000)}`;
    if (status === null || ![0, 1, 3, 4, 5, 7, 9].includes(status)) expect(about).toBe('a command that ends well');
    if (status !== 0 && status !== 7 && stdout.length + stderr.length === 0) expect(about).toBe('something is said');
    if (status === sound.status && ['tar', 'list'].includes(name) && stdout !== sound.stdout)
      expect(about).toBe('the right output');
    const isTemporary = (file: string): boolean => file.includes('.pakrat-');
    const files = filesBelow(output).filter((file) => !isTemporary(file));
    for (const file of files)
      if (!readFileSync(join(output, file)).equals(readFileSync(join(right, file))))
        expect(about).toBe(`right bytes in ${file}`);
    if (status === sound.status && ['extract', 'fetch'].includes(name) && files.length < filesBelow(right).length)
      expect(about).toBe('all files');
    const { wrong } = checkHeldBytes(store, join(cdn.root, 'www'));
    // Before a repair was done, what it is to repair may be wrong.
    if (name !== 'repair' && wrong.length > 0) expect(`${wrong.join('\n')}\n${about}`).toBe('nothing wrong is held');
    if (existsSync(join(store, 'ledger.db'))) await run(['verify', '--repair', ...online]);
    const ends = [await run(['sync', 'wow', ...online]), await run(['verify', '--offline'])];
    // Of what else an import took, and could not all take, not everything can be checked.
    const isWhole = ends[0]!.status === 0 && [0, ...(name === 'import' ? [9] : [])].includes(ends[1]!.status ?? -1);
    if (!isWhole) expect(`${about}\n${ends.map(({ stdout, stderr }) => stdout + stderr)}`).toBe('whole again');
    const after = checkHeldBytes(store, join(cdn.root, 'www'));
    if (after.wrong.length > 0) expect(`${after.wrong.join('\n')}\n${about}`).toBe('nothing wrong');
  }
  await cdn.close();
});
