import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { jest, test } from '@jest/globals';
import { expectDisksSurvived } from '../support/disk-rounds.ts';
import { loseInode, mendImage, whyNoDisk } from '../support/mounted-image.ts';
import { scratchFolder } from '../support/scratch.ts';

/*
 * What the system knows of any files and folders of a store goes bad, so that it gives their names alone, then commands run in any order: none ends as a bug or
 * gives a wrong byte, and what none can do without is told with what mends it. After that (fsck), a repair and two syncs bring everything back.
 */

jest.setTimeout(3_600_000);
const rounds = Number(process.env.PAKRAT_ROUNDS ?? 60);
const seed = Number(process.env.PAKRAT_SEED ?? 1);
const scratch = scratchFolder();
const reason = whyNoDisk('ext4');
if (reason !== undefined) console.warn(`SKIPPED, ${reason}: work on a disk with lost inodes`);

(reason === undefined ? test : test.skip)(`${rounds} disks of which inodes are lost`, async () => {
  await expectDisksSurvived({
    disk: 'ext4',
    rounds,
    seed,
    scratch,
    spoil(image, { sound, name }, { pick }) {
      const all = readdirSync(sound, { recursive: true, encoding: 'utf8' }).sort();
      const names = all.filter((one) => !/^(ledger\.db|tmp)/.test(one));
      const spoilt = Array.from({ length: pick([1, 1, 2, 4]) }, () => pick(names));
      for (const one of spoilt) loseInode(image, `/${join(name, one)}`);
      return spoilt;
    },
    heal: mendImage,
  });
});
