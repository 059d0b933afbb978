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
 * Waits for a random moment of a run: every other time counted from its start, so that start-up is hit as well,
 * else from the first bytes that it adds to what is held. Ends when the run does.
 */
export async function randomMoment(
  { store, ended }: Victim,
  when: { betweenMs: readonly [number, number]; random: () => number; turn: number },
): Promise<void> {
  const [soonest, latest] = when.betweenMs;
  let running = true;
  void ended.then(() => {
    running = false;
  });
  if (when.turn % 2 === 0) {
    const before = claimedBytes(store);
    while (running && claimedBytes(store) === before) await sleep(20);
  }
  const from = when.turn % 2 === 0 ? 0 : soonest;
  await Promise.race([ended, sleep(from + when.random() * (latest - soonest))]);
}

function claimedBytes(store: string): number {
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
  /** See {@link randomMoment}. */
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
  const random = randomSource(Math.imul(plan.seed, 0x9e3779b1));
  const { store, betweenMs } = plan;
  const outcome: KillOutcome = { interrupted: 0, wrong: [] };
  for (let kill = 1; kill <= plan.kills; kill++) {
    const { child, ended } = startPakrat(plan.args);
    await randomMoment({ store, ended }, { betweenMs, random, turn: kill });
    if (child.exitCode === null && child.kill('SIGKILL')) outcome.interrupted += 1;
    await ended;
    outcome.wrong.push(...checkHeldBytes(store, plan.www).wrong.map((line) => `after kill ${kill}: ${line}`));
  }
  return outcome;
}
