import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jest, test } from '@jest/globals';
import { expectDisksSurvived } from '../support/disk-rounds.ts';
import { filesBelow } from '../support/files-below.ts';
import { diskBlock, spoilBlocks, whyNoDisk } from '../support/mounted-image.ts';
import { scratchFolder } from '../support/scratch.ts';

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

(reason === undefined ? test : test.skip)(`${rounds} disks of which blocks go bad`, async () => {
  await expectDisksSurvived({
    disk: 'btrfs',
    // Small files would lie among what is known of the files.
    mountOptions: 'max_inline=0',
    rounds,
    seed,
    scratch,
    spoil(image, { sound }, { random, pick }) {
      const files = filesBelow(sound).filter((name) => !/^(ledger\.db|reserve|tmp|lock)/.test(name));
      const spoilt = Array.from({ length: pick([1, 2, 3, 4]) }, () => {
        const file = pick(files);
        const bytes = readFileSync(join(sound, file));
        const block = Math.floor((random() * bytes.length) / diskBlock);
        return { text: `${file} ${block}`, content: bytes.subarray(block * diskBlock, (block + 1) * diskBlock) };
      });
      const contents = spoilt.map(({ content }) => content).filter((content) => content.some((byte) => byte !== 0));
      spoilBlocks(image, contents);
      return spoilt.map(({ text }) => text);
    },
  });
});
