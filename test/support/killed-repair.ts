import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyExitCode } from '../../src/cli/render/verify.ts';
import { checkHeldBytes } from './held-bytes.ts';
import { startPakrat } from './run-pakrat.ts';
import { flipBytes, type StoreCopy } from './synced-store.ts';

/** Changes bytes of every archive, index, config and loose object of a store. */
export function damageEverything(store: StoreCopy): void {
  const { archives, indices, configs, loose } = store.objects();
  const flip = (path: string, first: number, step?: number): void =>
    writeFileSync(store.file(path), flipBytes(readFileSync(store.file(path)), first, step));
  for (const path of archives) flip(path, 50, 5000);
  for (const path of [...indices, ...configs, ...loose]) flip(path, 10);
}

/** What came of a repair that was killed, and run again. */
export interface KilledRepair {
  /** The exit codes of the repair that was run again, and of a check after it. */
  exits: [repaired: number, checked: number];
  /** What that check went over. */
  checked: { entries: number; bytes: number };
  /** What is held and is not what the CDN has. */
  wrong: string[];
}

/** Kills `verify --repair` (-9) some time after its start, if it has not ended by then, and runs a repair to its end. */
export async function killRepair(
  store: StoreCopy,
  cdn: { url: string; root: string },
  ms: number,
): Promise<KilledRepair> {
  const { child, ended } = startPakrat(['verify', '--repair', '--store', store.root, '--patch-url', cdn.url]);
  await Promise.race([ended, sleep(ms)]);
  child.kill('SIGKILL');
  await ended;
  return store.with(async (pakrat) => {
    const repaired = await pakrat.repair();
    const after = await pakrat.verify();
    const { wrong } = checkHeldBytes(store.root, join(cdn.root, 'www'));
    return { exits: [verifyExitCode(repaired), verifyExitCode(after)], checked: after.checked, wrong };
  });
}
