import { cpSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { md5Hex } from '../../src/core/hash.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { makeImage, mountImage, unmountImage, whyNoDisk } from '../support/mounted-image.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* A file system on which two files can share their bytes. */

jest.setTimeout(120_000);
const scratch = scratchFolder();
const reason = whyNoDisk('xfs');
if (reason !== undefined) console.warn(`SKIPPED, ${reason}: import where files can share their bytes`);

(reason === undefined ? describe : describe.skip)('import where files can share their bytes', () => {
  const image = scratch('image');
  const disk = scratch('disk');
  const [root, store] = [join(disk, 'mirror'), join(disk, 'store')];
  let cdn: SyntheticCdn;

  beforeAll(async () => {
    cdn = await syntheticCdn({ make: ['--files', '120', '--total-bytes', '40M', '--archives', '6', '--loose', '.1'] });
    makeImage(image, 'xfs');
    mountImage(image, disk);
    cpSync(join(cdn.root, 'www', 'tpr'), join(root, 'tpr'), { recursive: true });
  });
  afterAll(async () => {
    await cdn.close();
    await unmountImage(image, disk);
  });

  const filesBelow = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => statSync(file).isFile());
  const hashes = (): string[] => filesBelow(root).map((file) => `${file} ${md5Hex(readFileSync(file))}`);
  const freeBytes = (): number => {
    const { bfree, bsize } = statfsSync(disk);
    return bfree * bsize;
  };

  test('takes next to no space, and what the store forgets afterwards the folder keeps', async () => {
    const before = hashes();
    const bytes = filesBelow(root).reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeGreaterThan(20_000_000);
    const free = freeBytes();
    await withPakrat({ store, offline: true }, (pakrat) => pakrat.import(root));
    expect(free - freeBytes()).toBeLessThan(bytes / 5);
    expect(checkHeldBytes(store, join(cdn.root, 'www'))).toMatchObject({ wrong: [], bytes: expect.any(Number) });
    await withPakrat({ store, patchUrl: cdn.url }, async (pakrat) => {
      const asked = cdn.requests().length;
      for (const name of ['wow', 'wow_old']) await pakrat.sync(name);
      expect(
        cdn
          .requests()
          .slice(asked)
          .filter(({ path }) => path.includes('/data/')),
      ).toEqual([]);
      // The folder does not say whose build it is: the import may have taken it for one of the other product.
      const { builds } = await pakrat.status();
      const old = builds.find(({ product }) => product === 'wow_old')?.buildConfig;
      const names = builds
        .filter(({ buildConfig }) => buildConfig === old)
        .map(({ product, name }) => `${product}@${name}`);
      const { objects } = await pakrat.forget(names);
      expect(objects).toBeGreaterThan(0);
      expect((await pakrat.verify()).bad).toEqual([]);
    });
    expect(hashes()).toEqual(before);
  });
});
