import { setTimeout as sleep } from 'node:timers/promises';
import { checkHeldBytes, readClaims } from './held-bytes.ts';
import { randomSource } from './hostile.ts';
import { startPakrat } from './run-pakrat.ts';

/** A run of the program that is to be interrupted. */
export interface Victim {
  store: string;
  ended: Promise<unknown>;
}

/**
 * Waits for random moments of runs: every other time counted from the start, so that start-up is hit as well, else from the first bytes that
 * a run adds to what is held. Ends when the run does; the next is given half the time then, for it came too late.
 */
export function randomMoments(
  [soonest, latest]: readonly [number, number],
  seed: number,
): (victim: Victim) => Promise<void> {
  const random = randomSource(Math.imul(seed, 0x9e3779b1));
  let turn = 0;
  let scale = 1;
  return async ({ store, ended }) => {
    turn += 1;
    let running = true;
    void ended.then(() => {
      running = false;
    });
    if (turn % 2 === 0) {
      const before = claimedBytes(store);
      while (running && claimedBytes(store) === before) await sleep(20);
    }
    const from = turn % 2 === 0 ? 0 : soonest;
    await Promise.race([ended, sleep(scale * (from + random() * (latest - soonest)))]);
    if (!running) scale /= 2;
  };
}

/** Bytes that a store's ledger calls held. */
export function claimedBytes(store: string): number {
  return [...readClaims(store).values()].flat().reduce((sum, { start, end }) => sum + end - start, 0);
}

/** What is to be killed, and how often. */
export interface KillPlan {
  /** Arguments of the program. */
  args: readonly string[];
  store: string;
  /** The folder that the server serves, for comparison. */
  www: string;
  kills: number;
  /** See {@link randomMoments}. */
  betweenMs: readonly [number, number];
  seed: number;
}

/** What came of it. */
export interface KillOutcome {
  /** Runs that were still at work when the kill came. */
  interrupted: number;
  /** What was held and wrong after any of the kills. */
  wrong: string[];
}

/** Runs the program and kills it (-9) at random moments, again and again; after each the whole of what the ledger calls held is compared. */
export async function killAgainAndAgain(plan: KillPlan): Promise<KillOutcome> {
  const { store } = plan;
  const moment = randomMoments(plan.betweenMs, plan.seed);
  const outcome: KillOutcome = { interrupted: 0, wrong: [] };
  for (let kill = 1; kill <= plan.kills; kill++) {
    const { child, ended } = startPakrat(plan.args);
    await moment({ store, ended });
    if (child.exitCode === null && child.kill('SIGKILL')) outcome.interrupted += 1;
    await ended;
    outcome.wrong.push(...checkHeldBytes(store, plan.www).wrong.map((line) => `after kill ${kill}: ${line}`));
  }
  return outcome;
}
