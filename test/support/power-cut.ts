import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from '@jest/globals';
import { checkHeldBytes, lostClaims, readClaims } from './held-bytes.ts';
import { randomMoments } from './interrupt.ts';
import { makeImage, mountImage, unmountImage, whyNoDisk } from './mounted-image.ts';
import { startPakrat } from './run-pakrat.ts';

/*
 * A power cut without one: the store lies on a small disk of its own, an ext4 image that is mounted through a loop device and commits
 * by itself only every five minutes. The image is copied while the program stands still. What the program wrote but did not flush
 * is in the page cache of the mounted disk and not in the image, so it is not in the copy either: the copy is the disk after the cut.
 */

/** Power cuts to be made. */
export interface CutPlan {
  /** Arguments of the program, given the folder of the store. */
  args: (store: string) => string[];
  /** The folder that the server serves, for comparison. */
  www: string;
  cuts: number;
  /** See {@link randomMoments}. */
  betweenMs: readonly [number, number];
  seed: number;
  diskMegabytes: number;
  /** Environment of the program. */
  env?: Record<string, string>;
}

/** What came of them. */
export interface CutOutcome {
  /** Runs that were still at work when the cut came. */
  interrupted: number;
  /** What was called held after a cut, and is wrong. */
  wrong: string[];
  /** What was called held before a cut, and not after it. */
  lost: string[];
  /** Bytes called held after each cut. */
  heldBytes: number[];
}

/** `describe` that needs a disk of its own. Where none can be mounted it says so. */
export function describePowerCut(name: string, body: () => void): void {
  const reason = whyNoDisk('ext4');
  if (reason === undefined) {
    describe(name, body);
  } else {
    console.warn(`SKIPPED, ${reason}: ${name}`);
    describe.skip(name, body);
  }
}

let serial = 0;

/** A mounted image. */
class Disk {
  readonly folder: string;
  readonly #home: string;
  readonly #image: string;

  constructor(home: string, image: string) {
    serial += 1;
    this.#home = home;
    this.#image = image;
    this.folder = join(home, `mounted-${serial}`);
    mountImage(image, this.folder, 'commit=300');
  }

  /** Stops a process dead and gives back the disk as the power cut leaves it; this one is gone. */
  async cutPower(child: ChildProcess, ended: Promise<unknown>): Promise<Disk> {
    child.kill('SIGSTOP');
    // A flush that the system had begun for it comes to its end, as in a disk that has the bytes already.
    await sleep(30);
    const copy = join(this.#home, `${serial}.img`);
    execFileSync('cp', ['--sparse=always', this.#image, copy]);
    child.kill('SIGKILL');
    await ended;
    await this.remove();
    return new Disk(this.#home, copy);
  }

  remove(): Promise<void> {
    return unmountImage(this.#image, this.folder);
  }
}

/**
 * Runs the program on a disk of its own and cuts its power at random moments, going on with what each cut left.
 * @param atTheEnd is given the store on the last disk, which is gone afterwards
 */
export async function cutPowerAgainAndAgain(
  plan: CutPlan,
  atTheEnd: (store: string) => Promise<void> = async () => {},
): Promise<CutOutcome> {
  const moment = randomMoments(plan.betweenMs, plan.seed);
  const outcome: CutOutcome = { interrupted: 0, wrong: [], lost: [], heldBytes: [] };
  const home = mkdtempSync(join(tmpdir(), 'pakrat-disk-'));
  makeImage(join(home, '0.img'), 'ext4', plan.diskMegabytes);
  let disk = new Disk(home, join(home, '0.img'));
  try {
    for (let cut = 1; cut <= plan.cuts; cut++) {
      const store = join(disk.folder, 'store');
      const { child, ended } = startPakrat(plan.args(store), plan.env ? { env: plan.env } : {});
      await moment({ store, ended });
      if (child.exitCode === null) outcome.interrupted += 1;
      // Whoever reads a WAL ledger sees only commits that were flushed.
      const before = readClaims(store);
      disk = await disk.cutPower(child, ended);
      const left = join(disk.folder, 'store');
      const after = readClaims(left);
      const said = (line: string): string => `after cut ${cut}: ${line}`;
      outcome.lost.push(...lostClaims(before, after).map(said));
      if (after.size === 0) continue;
      const { bytes, wrong } = checkHeldBytes(left, plan.www);
      outcome.wrong.push(...wrong.map(said));
      outcome.heldBytes.push(bytes);
    }
    await atTheEnd(join(disk.folder, 'store'));
    return outcome;
  } finally {
    await disk.remove();
    rmSync(home, { recursive: true });
  }
}
