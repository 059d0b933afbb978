import { setTimeout as sleep } from 'node:timers/promises';
import { checkHeldBytes } from './held-bytes.ts';
import { randomSource } from './hostile.ts';
import { startPakrat } from './run-pakrat.ts';

/** What is to be killed, and how often. */
export interface KillPlan {
  /** Arguments of the program. */
  args: readonly string[];
  store: string;
  /** The folder that the server serves, for comparison. */
  www: string;
  kills: number;
  /** A kill comes between these times after the start, at random. */
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
  const random = randomSource(plan.seed);
  const [soonest, latest] = plan.betweenMs;
  const outcome: KillOutcome = { interrupted: 0, wrong: [] };
  for (let kill = 1; kill <= plan.kills; kill++) {
    const { child, ended } = startPakrat(plan.args);
    await Promise.race([ended, sleep(soonest + random() * (latest - soonest))]);
    if (child.exitCode === null && child.kill('SIGKILL')) outcome.interrupted += 1;
    await ended;
    outcome.wrong.push(...checkHeldBytes(plan.store, plan.www).wrong.map((line) => `after kill ${kill}: ${line}`));
  }
  return outcome;
}
