import { cpSync, existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { diskBlock, makeImage, mountImage, spoilBlocks, unmountImage, whyNoDisk } from '../support/mounted-image.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { type Run, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { someOf } from '../support/some-of.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* A disk of which blocks went bad: a file system that has a checksum of each block gives back none that does not fit. */

jest.setTimeout(120_000);
const scratch = scratchFolder();
const reason = whyNoDisk('btrfs');
if (reason !== undefined) console.warn(`SKIPPED, ${reason}: work on a disk with bad blocks`);

(reason === undefined ? describe : describe.skip)('on a disk with bad blocks', () => {
  const [image, disk] = [scratch('image'), scratch('disk')];
  const store = join(disk, 'store');
  /** The same on a disk that is sound: a store, files that were extracted from it, and a list of names. */
  const sound = scratch('sound');
  const [soundStore, extracted] = [join(sound, 'store'), join(sound, 'files')];
  let cdn: SyntheticCdn;
  let pathOf: (manifest: string) => string;

  beforeAll(async () => {
    cdn = await syntheticCdn({
      make: ['--files', '30', '--total-bytes', '200K', '--archives', '2', '--loose-meta', '1'],
    });
    await withPakrat({ store: soundStore, patchUrl: cdn.url }, (pakrat) => pakrat.sync('wow', { all: true }));
    const flags = ['--to', extracted, '--offline', '--store', soundStore];
    expect((await startPakrat(['extract', 'wow', ...flags]).ended).stdout).toContain('extracted');
    const lines = Array.from({ length: 1000 }, (_, i) => `${i};interface/icons/icon_${i}.blp\n`);
    writeFileSync(join(sound, 'list.csv'), lines.join(''));
    const { configs } = JSON.parse(readFileSync(join(cdn.root, 'truth/summary.json'), 'utf8'));
    const objectPath = (kind: string, hash: string): string =>
      join('tpr/wow', kind, hash.slice(0, 2), hash.slice(2, 4), hash);
    const build = readFileSync(join(soundStore, objectPath('config', configs.build.b)), 'utf8');
    const list = readFileSync(join(soundStore, objectPath('config', configs.cdn.b)), 'utf8');
    const archive = objectPath('data', /^archives = (\w+)/m.exec(list)![1]!);
    pathOf = (name) =>
      ({ archive, index: `${archive}.index` })[name] ??
      objectPath('data', new RegExp(`^${name} = \\w+ (\\w+)$`, 'm').exec(build)![1]!);
  });
  afterAll(() => cdn?.close());
  afterEach(() => unmountImage(image, disk));

  /** Copies all of it to a new disk, of which one block of a file goes bad then. */
  async function spoil(path: string, block: number): Promise<void> {
    makeImage(image, 'btrfs');
    // Small files would lie among what is known of the files.
    mountImage(image, disk, 'max_inline=0');
    cpSync(sound, disk, { recursive: true });
    await unmountImage(image, disk, 'keep');
    const start = block * diskBlock;
    const wanted = readFileSync(join(sound, path)).subarray(start, start + diskBlock);
    expect(spoilBlocks(image, [wanted])).toBe(1);
    mountImage(image, disk, 'max_inline=0');
    expect(() => readFileSync(join(disk, path))).toThrow('EIO');
  }

  const run = (...args: string[]): Promise<Run> => startPakrat([...args, '--store', store]).ended;
  const online = (...args: string[]): Promise<Run> => run(...args, '--patch-url', cdn.url);

  const cases: [string, number][] = [
    ['archive', 0],
    ['archive', 10],
    ['index', 0],
    ['encoding', 0],
    ['encoding', 1],
  ];
  const chosen = someOf(cases, (_, i) => i === 1 || i === 4);
  test.each(chosen)('of the %s block %i: what lies there is told, and brought again', async (name, block) => {
    const path = pathOf(name);
    await spoil(join('store', path), block);
    const told = await run('verify', '--offline');
    expect(told).toMatchObject({ status: 3, stdout: expect.stringContaining('cannot be read: EIO') });
    expect(await online('verify', '--repair')).toMatchObject({ status: 0 });
    expect(readFileSync(join(store, path)).equals(readFileSync(join(cdn.root, 'www', path)))).toBe(true);
    expect(existsSync(join(store, 'partial', path))).toBe(false);
    expect(await run('verify', '--offline')).toMatchObject({ status: 0 });
  });

  test('of the archive: a sync goes on with it, when what lies there is known to be lost', async () => {
    await spoil(join('store', pathOf('archive')), 10);
    expect(await run('verify', '--offline')).toMatchObject({ status: 3 });
    expect(await online('sync', 'wow', '--all')).toMatchObject({ status: 0 });
    expect(await run('verify', '--offline')).toMatchObject({ status: 0 });
  });

  test('of what a store knows of running fetches: it is made anew', async () => {
    await spoil('store/claims.db', 0);
    expect(await run('gc')).toMatchObject({ status: 0 });
    expect(() => readFileSync(join(store, 'claims.db'))).not.toThrow();
  });

  test('of the ledger: it is told what to do, and that does it', async () => {
    await spoil('store/ledger.db', 0);
    const said = await run('status');
    expect(said).toMatchObject({ status: 1, stderr: expect.stringContaining('Move ledger.db away and sync again') });
    renameSync(join(store, 'ledger.db'), join(store, 'away'));
    const { status, stdout } = await online('sync', 'wow', '--all', '--json');
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { fetched: { bytes: 0 } }]);
    expect(await run('verify', '--offline')).toMatchObject({ status: 0 });
  });

  test('of a file that was extracted: the next extract writes it anew', async () => {
    const file = largestOf(extracted);
    const right = readFileSync(join(extracted, file));
    await spoil(join('files', file), 1);
    const { stdout } = await run('extract', 'wow', '--offline', '--to', join(disk, 'files'));
    expect(stdout).toContain('1 file ');
    expect(readFileSync(join(disk, 'files', file)).equals(right)).toBe(true);
  });

  test('of a list of names: that is told, and is no bug', async () => {
    await spoil('list.csv', 1);
    const said = await run('listfile', 'import', join(disk, 'list.csv'));
    expect(said).toMatchObject({ status: 1, stderr: expect.stringContaining('list.csv: EIO') });
  });
});

/** The path in a folder of the largest file of which a block can go bad. */
function largestOf(folder: string): string {
  const sizeOf = (name: string): number => statSync(join(folder, name)).size;
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => statSync(join(folder, name)).isFile())
    .reduce((most, name) => (sizeOf(name) > sizeOf(most) ? name : most));
}
