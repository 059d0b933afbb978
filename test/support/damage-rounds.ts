import { join } from 'node:path';
import { verifyExitCode } from '../../src/cli/render/verify.ts';
import { codeOf } from '../../src/core/errors.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { checkHeldBytes } from './held-bytes.ts';
import { randomSource } from './hostile.ts';
import { damageStore } from './random-damage.ts';
import type { StoreCopy } from './synced-store.ts';

/** Everything that a store answers about a build without a network: what is listed and held, and the content of every file. */
export type Answers = Record<string, string>;

/** Reads all answers of a store. A refusal is an answer, too: its code. */
export function readAnswers(store: StoreCopy): Promise<Answers> {
  const answers: Answers = {};
  const answer = async (name: string, work: () => Promise<string>): Promise<void> => {
    answers[name] = await work().catch((error: unknown) => `refused: ${codeOf(error) ?? String(error)}`);
  };
  return store.with(
    async (pakrat) => {
      await answer('status', async () => JSON.stringify((await pakrat.status()).builds));
      await answer('list', async () => {
        const source = await pakrat.open('wow');
        const names: string[] = [];
        for await (const { name, size, facts } of source.list()) {
          names.push(`${name} ${size} ${facts.ckey}`);
          await answer(name, async () => md5Hex(await source.bytes(name)));
        }
        await source.close();
        return names.join('\n');
      });
      return answers;
    },
    { offline: true },
  );
}

/** Runs rounds of damage, check and repair on one store, which is whole before and after each. @returns what should not have happened */
export async function damageRounds(
  store: StoreCopy,
  { rounds, seed, www, truth }: { rounds: number; seed: number; www: string; truth: Answers },
): Promise<{ wrong: string[]; damages: number; found: number }> {
  const random = randomSource(Math.imul(seed, 0x9e3779b1));
  const outcome = { wrong: [] as string[], damages: 0, found: 0 };
  for (let round = 0; round < rounds; round++) {
    const count = 1 + Math.floor(random() * 4);
    const done = Array.from({ length: count }, () => damageStore(store.root, random)).filter(
      (line) => line !== undefined,
    );
    outcome.damages += done.length;
    const wrong = await tryRound(store, { www, truth }, () => {
      outcome.found += 1;
    }).catch((error: unknown) => [`ended with ${codeOf(error)}: ${(error as Error).stack}`]);
    outcome.wrong.push(...wrong.map((line) => `seed ${seed} round ${round}: ${line}, after ${done.join('; ')}`));
    if (wrong.length > 0) break;
  }
  return outcome;
}

async function tryRound(
  store: StoreCopy,
  { www, truth }: { www: string; truth: Answers },
  onFound: () => void,
): Promise<string[]> {
  const wrong: string[] = [];
  const damaged = await readAnswers(store);
  wrong.push(...wrongContents(damaged, truth));
  const found = await store.with((pakrat) => pakrat.verify());
  const code = verifyExitCode(found);
  if (code === 0 && difference(damaged, truth) !== undefined)
    wrong.push(`verify found nothing, but ${difference(damaged, truth)}`);
  if (code !== 0) onFound();
  const mended = await store.with((pakrat) => pakrat.repair());
  if (verifyExitCode(mended) !== 0) wrong.push(`--repair: ${JSON.stringify(mended)}`);
  const after = await store.with((pakrat) => pakrat.verify());
  if (verifyExitCode(after) !== 0) wrong.push(`verify after --repair: ${JSON.stringify(after)}`);
  wrong.push(...checkHeldBytes(store.root, www).wrong);
  const answers = await readAnswers(store);
  const left = difference(answers, truth);
  if (left !== undefined) wrong.push(`after --repair ${left}`);
  return wrong;
}

/** Contents that were given and are not those of the build. */
function wrongContents(answers: Answers, truth: Answers): string[] {
  return Object.entries(answers).flatMap(([name, answer]) =>
    name === 'status' || name === 'list' || answer.startsWith('refused') || answer === truth[name]
      ? []
      : [`${name} was given with wrong bytes`],
  );
}

/** The first answer that is another. */
function difference(answers: Answers, truth: Answers): string | undefined {
  const name = Object.keys(truth).find((key) => answers[key] !== truth[key]);
  return name === undefined
    ? undefined
    : `${name} is ${answers[name]?.slice(0, 300)} and was ${truth[name]?.slice(0, 300)}`;
}

/** The folder that a tree's server serves. */
export function servedFolder(root: string): string {
  return join(root, 'www');
}
