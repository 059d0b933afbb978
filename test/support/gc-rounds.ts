import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FamilyFile, familyFiles } from './family.ts';
import { checkHeldBytes, readClaims } from './held-bytes.ts';
import { randomSource } from './hostile.ts';
import { startPakrat } from './run-pakrat.ts';
import { withPakrat } from './with-pakrat.ts';

/** A store on which processes of every kind work at once, and the builds that its server has. */
export interface GcRounds {
  store: string;
  /** The folder that the server serves. */
  www: string;
  url: string;
  /** Versions of the family that are published, the newest last. */
  versions: readonly number[];
  scratch: string;
  rounds: number;
  seed: number;
}

const familyOptions = { count: 60, changed: 12, bytes: 20_000 };

/** The files of a version of the family of these rounds. */
export function roundFiles(version: number): FamilyFile[] {
  return familyFiles(version, familyOptions);
}

/**
 * Each round: gc beside syncs and readers, one of them killed (-9) at a random moment; then gc and sync run to their ends.
 * @returns what should not have happened
 */
export async function gcRounds(place: GcRounds): Promise<{ wrong: string[]; kills: number; readWhole: number }> {
  const random = randomSource(Math.imul(place.seed, 0x9e3779b1));
  const outcome = { wrong: [] as string[], kills: 0, readWhole: 0 };
  for (let round = 0; round < place.rounds && outcome.wrong.length === 0; round++) {
    const wrong = await oneRound(place, random, outcome);
    outcome.wrong.push(...wrong.map((line) => `seed ${place.seed} round ${round}: ${line}`));
  }
  return outcome;
}

async function oneRound(
  { store, www, url, versions, scratch }: GcRounds,
  random: () => number,
  outcome: { kills: number; readWhole: number },
): Promise<string[]> {
  const at = ['--store', store, '--patch-url', url, '--quiet'];
  const pick = (): number => versions[Math.floor(random() * versions.length)] ?? 0;
  const newest = versions.at(-1) ?? 0;
  const readers = Array.from({ length: 5 }, (_, i) => ({ version: pick(), out: join(scratch, `out${i}`) }));
  const runs = [
    startPakrat(['gc', '--keep', '2', '--store', store, '--quiet']),
    startPakrat(['sync', `game@1.${pick()}`, ...at]),
    ...readers.map(({ version, out }) => startPakrat(['extract', `game@1.${version}`, '--to', out, ...at])),
  ];
  const victim = runs[Math.floor(random() * runs.length)];
  await sleep(100 + random() * 1500);
  if (victim?.child.exitCode === null && victim.child.kill('SIGKILL')) outcome.kills += 1;
  const ended = await Promise.all(runs.map((run) => run.ended));
  const wrong = checkHeldBytes(store, www).wrong.map((line) => `held and wrong: ${line}`);
  ended.forEach(({ status, stderr }, i) => {
    // What was killed says nothing; a bug of ours or damage is never right.
    if (status !== null && ![0, 1, 4, 9].includes(status)) wrong.push(`run ${i} ended with ${status}: ${stderr}`);
  });
  for (const [i, { version, out }] of readers.entries()) {
    const isWhole = ended[i + 2]?.status === 0;
    if (isWhole) outcome.readWhole += 1;
    wrong.push(...wrongOutput(out, version, isWhole));
    rmSync(out, { recursive: true, force: true });
  }
  for (const args of [
    ['sync', `game@1.${newest}`, ...at],
    ['gc', '--keep', '2', '--store', store, '--quiet'],
  ]) {
    const { status, stderr } = await startPakrat(args).ended;
    if (status !== 0) wrong.push(`${args[0]} ended with ${status}: ${stderr}`);
  }
  wrong.push(...checkHeldBytes(store, www).wrong.map((line) => `held and wrong at the end: ${line}`));
  wrong.push(...(await wrongInStore(store, newest)));
  return wrong;
}

/** Files that a reader wrote and that are wrong, or that it should have written. */
function wrongOutput(out: string, version: number, isWhole: boolean): string[] {
  return roundFiles(version).flatMap(({ name, bytes }) => {
    const file = join(out, name);
    if (!existsSync(file)) return isWhole ? [`${version}: ${name} was not written`] : [];
    return readFileSync(file).equals(bytes) ? [] : [`${version}: ${name} was written wrong`];
  });
}

/** What a store that is at rest says wrongly: a build that is kept is not whole, damage, books that do not agree with the disk. */
async function wrongInStore(store: string, newest: number): Promise<string[]> {
  return withPakrat({ store, offline: true }, async (pakrat) => {
    const wrong: string[] = [];
    for (const { name, wanted, held } of (await pakrat.status()).builds) {
      if (held.entries < wanted.entries) continue;
      await using build = await pakrat.open(`game@${name}`);
      for (const { name: file, bytes } of roundFiles(Number(name.slice(2)))) {
        const read = await build.bytes(file).catch((error: Error) => Buffer.from(error.message));
        if (!bytes.equals(read)) wrong.push(`${name}: ${file} is ${Buffer.from(read).toString('latin1', 0, 80)}`);
      }
    }
    const names = (await pakrat.status()).builds.map(({ name }) => name);
    if (!names.includes(`1.${newest}`)) wrong.push(`the newest build is gone: ${names.join(' ')}`);
    const { bad, unchecked } = await pakrat.verify();
    wrong.push(...bad.map(({ name, message }) => `verify: ${name}: ${message}`));
    wrong.push(...(unchecked ?? []).map(({ name, message }) => `verify: ${name}: ${message}`));
    wrong.push(...wrongBooks(store));
    const again = await pakrat.gc();
    if (again.objects > 0 || again.inUse.length > 0) wrong.push(`a second gc found ${again.objects} objects`);
    return wrong;
  });
}

const block = 4096;

/** Bytes on the disk that the ledger does not know of, or the other way round, by more than one in a hundred. */
export function wrongBooks(store: string): string[] {
  let booked = 0;
  for (const spans of readClaims(store).values())
    for (const { start, end } of spans) booked += Math.ceil(end / block) * block - Math.floor(start / block) * block;
  let found = 0;
  for (const folder of ['tpr', 'partial']) {
    for (const entry of readdirSync(join(store, folder), { recursive: true, withFileTypes: true }))
      if (entry.isFile()) found += statSync(join(entry.parentPath, entry.name)).blocks * 512;
  }
  const isRight = Math.abs(found - booked) <= booked * 0.01 + 64 * block;
  return isRight ? [] : [`the disk has ${found} bytes, the ledger ${booked}`];
}
