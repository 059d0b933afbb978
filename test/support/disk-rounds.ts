import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { filesBelow } from './files-below.ts';
import { checkHeldBytes } from './held-bytes.ts';
import { randomSource } from './hostile.ts';
import { type DiskKind, makeImage, mountImage, unmountImage } from './mounted-image.ts';
import { startPakrat } from './run-pakrat.ts';
import type { SyntheticCdn } from './served-cdn.ts';
import { syntheticCdn } from './synthetic-cdn.ts';
import { withPakrat } from './with-pakrat.ts';

/** Room for all stores, and for what is made anew. */
const megabytes = 128;

/** What stores on a disk go through. */
export interface DiskRounds {
  disk: DiskKind;
  mountOptions?: string;
  rounds: number;
  seed: number;
  /** A folder for all of it. */
  scratch: (name: string) => string;
  /** Spoils an image that is not mounted. @param sound the same store on a disk that is sound @returns what was spoilt, in words */
  spoil: (image: string, store: { sound: string; name: string }, chance: Chance) => string[];
  /** What a person does to the image before the store is repaired. */
  heal?: (image: string) => void;
}

/** The same for the same seed. */
export interface Chance {
  /** From 0 to 1, without it. */
  random: () => number;
  pick: <Value>(values: readonly Value[]) => Value;
}

/**
 * Spoils disks with stores, has commands run in any order, repairs the store, and expects that no command ended as a bug or gave a wrong byte, and that all is
 * there again.
 */
export async function expectDisksSurvived(test: DiskRounds): Promise<void> {
  const make = ['--files', '60', '--total-bytes', '2M', '--archives', '3', '--loose-meta', '1'];
  const cdn = await syntheticCdn({ make });
  try {
    await goThroughRounds(cdn, test);
  } finally {
    await cdn.close();
  }
}

async function goThroughRounds(cdn: SyntheticCdn, { scratch, ...test }: DiskRounds): Promise<void> {
  const [sound, image, disk] = [scratch('sound'), scratch('image'), scratch('disk')];
  const stores = { whole: { all: true }, part: { tags: ['Windows', 'enUS'] }, two: {} };
  for (const [name, selection] of Object.entries(stores))
    await withPakrat({ store: join(sound, name), patchUrl: cdn.url }, async (pakrat) => {
      if (name === 'two') await pakrat.sync('wow_old');
      await pakrat.sync('wow', selection);
    });
  const right = scratch('right');
  const flags = ['--store', join(sound, 'whole'), '--offline', '--to', right];
  expect([0, 7]).toContain((await startPakrat(['extract', 'wow', ...flags]).ended).status);
  makeImage(`${image}.sound`, test.disk, megabytes);
  mountImage(`${image}.sound`, disk, test.mountOptions);
  cpSync(sound, disk, { recursive: true });
  await unmountImage(`${image}.sound`, disk, 'keep');

  const random = randomSource(Math.imul(test.seed, 0x9e3779b1));
  const pick: Chance['pick'] = (values) => values[Math.floor(random() * values.length)]!;
  for (let round = 0; round < test.rounds; round++) {
    const name = pick(Object.keys(stores));
    copyFileSync(`${image}.sound`, image);
    const spoilt = test.spoil(image, { sound: join(sound, name), name }, { random, pick });
    mountImage(image, disk, test.mountOptions);
    const store = join(disk, name);
    const output = scratch(`output ${round}`);
    mkdirSync(output);
    const online = ['--patch-url', cdn.url];
    const commands: string[][] = [
      ['status'],
      ['ls', 'wow', '-R', '--offline'],
      ['ls', 'wow', '-R', ...online],
      ['verify', '--offline'],
      ['verify', '--repair', ...online],
      ['sync', 'wow', ...online],
      ['sync', 'wow', '--all', ...online],
      ['extract', 'wow', '--to', output, '--offline'],
      ['extract', 'wow', '--to', output, ...online],
      ['gc'],
      ...(name === 'two' ? [['forget', 'wow_old@11.2.0.60000']] : []),
    ];
    const said: string[] = [];
    const run = async (command: readonly string[]): Promise<number | null> => {
      const { status, stdout, stderr } = await startPakrat([...command, '--store', store]).ended;
      said.push(`${command.join(' ')}: ${status}\n${stdout.slice(-500)}${stderr.slice(-1000)}`);
      return status;
    };
    const about = (): string => `seed ${test.seed} round ${round} ${name}, ${spoilt.join(', ')}\n${said.join('\n')}`;
    try {
      for (let i = 0; i < 4; i++) {
        const command = pick(commands);
        const status = await run(command);
        // A build that was forgotten is not there to be forgotten again.
        const isRight = [0, 3, 7, 9].includes(status!) || (command[0] === 'forget' && status === 4);
        // Without a network what lacks is told in as many ways.
        const isTold = command.includes('--offline') && [1, 3, 4, 5].includes(status!);
        // What only a person can mend is told.
        const isForPerson = test.heal !== undefined && isForSystem(said.at(-1)!);
        if (!isRight && !isTold && !isForPerson) expect(about()).toBe('a command that ends well');
      }
      for (const file of filesBelow(output))
        if (!readFileSync(join(output, file)).equals(readFileSync(join(right, file))))
          expect(about()).toBe(`right bytes in ${file}`);
      if (test.heal !== undefined) {
        await unmountImage(image, disk, 'keep');
        test.heal(image);
        mountImage(image, disk, test.mountOptions);
      }
      await run(['verify', '--repair', ...online]);
      for (let i = 0; i < 2; i++) await run(['sync', 'wow', '--all', ...online]);
      await run(['verify', '--repair', ...online]);
      const ends = [await run(['sync', 'wow', '--all', ...online]), await run(['verify', '--offline'])];
      if (ends.some((status) => status !== 0)) expect(about()).toBe('whole again');
      const { wrong } = checkHeldBytes(store, join(cdn.root, 'www'));
      if (wrong.length > 0) expect(`${wrong.join('\n')}\n${about()}`).toBe('nothing wrong');
    } finally {
      await unmountImage(image, disk);
      rmSync(output, { recursive: true });
    }
  }
}

/** True for an error that says what the system found: no command can do without the folders of a store. */
function isForSystem(said: string): boolean {
  return /^Code: E_STORE$/m.test(said) && /\b(?:EIO|EUCLEAN|EBADMSG)\b|fsck/.test(said);
}
