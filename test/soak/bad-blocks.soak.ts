import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { randomSource } from '../support/hostile.ts';
import { diskBlock, makeImage, mountImage, spoilBlocks, unmountImage, whyNoDisk } from '../support/mounted-image.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { syntheticCdn } from '../support/synthetic-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/*
 * Blocks of any files of a store go bad, then commands run in any order: none ends as a bug or gives a wrong byte, and a repair and two syncs bring everything
 * back. But for the ledger: of that a person is told what to do.
 */

jest.setTimeout(3_600_000);
const rounds = Number(process.env.PAKRAT_ROUNDS ?? 60);
const seed = Number(process.env.PAKRAT_SEED ?? 1);
const scratch = scratchFolder();
const reason = whyNoDisk('btrfs');
if (reason !== undefined) console.warn(`SKIPPED, ${reason}: work on a disk with bad blocks`);

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();

(reason === undefined ? test : test.skip)(`${rounds} disks of which blocks go bad`, async () => {
  const make = ['--files', '60', '--total-bytes', '2M', '--archives', '3', '--loose-meta', '1'];
  const cdn = await syntheticCdn({ make });
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
  makeImage(`${image}.sound`, 'btrfs');
  // Small files would lie among what is known of the files.
  mountImage(`${image}.sound`, disk, 'max_inline=0');
  cpSync(sound, disk, { recursive: true });
  await unmountImage(`${image}.sound`, disk, 'keep');

  const random = randomSource(Math.imul(seed, 0x9e3779b1));
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;
  for (let round = 0; round < rounds; round++) {
    const kind = pick(Object.keys(stores));
    const files = filesBelow(join(sound, kind)).filter((name) => !/^(ledger\.db|reserve|tmp|lock)/.test(name));
    const spoilt: string[] = [];
    const contents = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
      const file = pick(files);
      const bytes = readFileSync(join(sound, kind, file));
      const block = Math.floor((random() * bytes.length) / diskBlock);
      spoilt.push(`${file} ${block}`);
      return bytes.subarray(block * diskBlock, (block + 1) * diskBlock);
    }).filter((content) => content.some((byte) => byte !== 0));
    copyFileSync(`${image}.sound`, image);
    spoilBlocks(image, contents);
    mountImage(image, disk, 'max_inline=0');
    const store = join(disk, kind);
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
      ...(kind === 'two' ? [['forget', 'wow_old@11.2.0.60000']] : []),
    ];
    const said: string[] = [];
    const run = async (command: readonly string[]): Promise<number | null> => {
      const { status, stdout, stderr } = await startPakrat([...command, '--store', store]).ended;
      said.push(`${command.join(' ')}: ${status}\n${stdout.slice(-500)}${stderr.slice(-1000)}`);
      return status;
    };
    const about = (): string => `seed ${seed} round ${round} ${kind}, ${spoilt.join(', ')}\n${said.join('\n')}`;
    try {
      for (let i = 0; i < 4; i++) {
        const command = pick(commands);
        const status = await run(command);
        // A build that was forgotten is not there to be forgotten again.
        const isRight = [0, 3, 7, 9].includes(status!) || (command[0] === 'forget' && status === 4);
        // Without a network what lacks is told in as many ways.
        if (!isRight && !(command.includes('--offline') && [1, 3, 4, 5].includes(status!)))
          expect(about()).toBe('a command that ends well');
      }
      for (const name of filesBelow(output))
        if (!readFileSync(join(output, name)).equals(readFileSync(join(right, name))))
          expect(about()).toBe(`right bytes in ${name}`);
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
  await cdn.close();
});
