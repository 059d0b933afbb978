import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { familyFiles, publishFamily } from '../support/family.ts';
import { freePort } from '../support/loopback.ts';
import { makeImage, mountImage, unmountImage, whyNoDisk } from '../support/mounted-image.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { type Run, runPakrat, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { someOf } from '../support/some-of.ts';
import { describeTmpfs, fillDisk, withTmpfs } from '../support/tmpfs.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// The built program, as a person would run it; dozens of processes one after the other, on a machine that may be busy.
jest.setTimeout(180_000);

const scratch = scratchFolder();
const noQuota = whyNoDisk('btrfs');
if (noQuota !== undefined) console.warn(`SKIPPED, ${noQuota}: work with a quota that is used up`);

describeTmpfs('a store on a small disk', () => {
  describe('of a real size', () => {
    let cdn: SyntheticCdn;
    beforeAll(async () => {
      cdn = await syntheticCdn({ make: ['--files', '200', '--total-bytes', '8M'] });
    });
    afterAll(() => cdn.close());

    const sync = (store: string, ...more: string[]): Run =>
      runPakrat(['sync', 'wow', '--store', store, '--patch-url', cdn.url, '--json', ...more]);

    /** What it came to, for a message that says more than a number. */
    const outcome = ({ status, stdout, stderr }: Run): unknown => {
      const value = JSON.parse(stdout) as { error?: { code: string; hint: string }; missing?: unknown };
      return { status, code: value.error?.code, hint: value.error?.hint, missing: value.missing, stderr };
    };
    const full = {
      status: 1,
      code: 'E_STORE_FULL',
      hint: expect.stringContaining('Free some space'),
      missing: undefined,
      stderr: '',
    };
    const whole = { status: 0, code: undefined, hint: undefined, missing: { entries: 0, bytes: 0 }, stderr: '' };

    /** Syncs, and asks what is held then, in this process. */
    const syncHere = (store: string) =>
      withPakrat({ store, patchUrl: cdn.url }, async (pakrat) => {
        const { missing } = await pakrat.sync('wow');
        return { missing, builds: (await pakrat.status()).builds };
      });

    // Full while the first objects come, among the indices, and in the middle of the data; with threads and without.
    const sizes: [size: string, flags: string[]][] = [
      ['100k', []],
      ['500k', []],
      ['3m', []],
      ['5m', ['--limit-rate', '900M']],
    ];
    const chosen = someOf(sizes, (_, i) => i % 2 === 1);
    test.each(chosen)('of %s: ends with E_STORE_FULL, and goes on when there is room', async (size, flags) => {
      await withTmpfs(size, async (folder, resize) => {
        const store = `${folder}/store`;
        expect(outcome(sync(store, '--quiet', ...flags))).toEqual(full);
        // No room at all is left for a second try.
        await expect(syncHere(store)).rejects.toMatchObject({ code: full.code, hint: full.hint });
        resize('64m');
        const { missing, builds } = await syncHere(store);
        expect({ missing, builds }).toMatchObject({ missing: whole.missing, builds: [{ product: 'wow' }] });
      });
    });

    // The encoding file comes early and is large, as a rule the largest thing until then.
    test.each([
      ['sync', ['sync', 'wow']],
      ['ls', ['ls', 'wow']],
      ['extract', ['extract', 'wow', '--to', scratch('out')]],
    ])('full while the encoding file comes: %s says so', async (_, args) => {
      await withTmpfs('4k', async (folder) => {
        const store = scratch(`no-encoding-${args[0]}`);
        mkdirSync(store);
        symlinkSync(folder, `${store}/partial`);
        const flags = ['--store', store, '--patch-url', cdn.url, '--json', '--quiet'];
        expect(outcome(runPakrat([...args, ...flags]))).toEqual(full);
      });
    });

    test('that may only be read: what is held can be listed and extracted; a sync says why not', async () => {
      await withTmpfs('64m', async (folder, _, remount) => {
        const store = `${folder}/store`;
        expect(outcome(sync(store, '--quiet'))).toEqual(whole);
        remount('ro');
        const reading = ['--store', store, '--offline', '--quiet'];
        expect(runPakrat(['status', ...reading])).toMatchObject({ status: 0, stderr: '' });
        expect(runPakrat(['ls', 'wow', '*.exe', ...reading])).toMatchObject({
          status: 0,
          stdout: expect.stringContaining('Wow.exe'),
          stderr: '',
        });
        const cat = runPakrat(['cat', 'wow', 'Wow.exe', ...reading]);
        expect([cat.status, cat.stdout.length > 10_000]).toEqual([0, true]);
        expect(outcome(sync(store, '--quiet'))).toMatchObject({ status: 1, code: 'E_STORE' });
      });
    });
  });

  describe('that holds many builds', () => {
    const filesOf = (version: number) => familyFiles(version, { count: 40, changed: 20, bytes: 80_000 });
    let server: StaticServer;
    let port: number;

    beforeAll(async () => {
      port = await freePort();
      await publishFamily(0, { out: scratch('cdn'), port, files: filesOf(0) });
      server = await serveFolder(scratch('cdn'), { port });
    });
    afterAll(() => server.close());

    const run = async (args: readonly string[], store: string): Promise<Run> =>
      startPakrat([...args, '--store', store, '--quiet', '--json']).ended;

    test('forget gives back what a build took, however little room is left for it to begin', async () => {
      for (const version of [0, 1]) {
        await publishFamily(version, { out: scratch('cdn'), port, files: filesOf(version) });
        expect((await run(['sync', 'game', '--patch-url', server.url], scratch('two'))).status).toBe(0);
      }
      const rooms = Array.from({ length: 9 }, (_, i) => i * 40);
      for (const freeKb of someOf(rooms, (kb) => kb % 160 === 0)) {
        await withTmpfs('24m', async (folder) => {
          const store = `${folder}/store`;
          cpSync(scratch('two'), store, { recursive: true });
          writeFileSync(`${folder}/room`, Buffer.alloc(freeKb * 1024));
          fillDisk(folder);
          rmSync(`${folder}/room`);
          const { status, stdout } = await run(['forget', 'game@1.0'], store);
          const report = JSON.parse(stdout) as { builds: unknown[]; bytes: number };
          expect([freeKb, status, report]).toMatchObject([freeKb, 0, { builds: [{ name: '1.0' }] }]);
          expect(report.bytes).toBeGreaterThan(500_000);
          rmSync(`${folder}/filler`);
          expect(JSON.parse((await run(['gc'], store)).stdout)).toMatchObject({ objects: 0, bytes: 0 });
        });
      }
    });

    test('is full to the last byte: every command says so, nothing is lost, and gc --max-size is the way out', async () => {
      await withTmpfs('11m', async (folder) => {
        const store = `${folder}/store`;
        let newest = 0;
        for (let status: number | null = 0; status === 0; newest += 1) {
          if (newest > 0) await publishFamily(newest, { out: scratch('cdn'), port, files: filesOf(newest) });
          ({ status } = await run(['sync', 'game', '--patch-url', server.url], store));
          expect([0, 1]).toContain(status);
        }
        fillDisk(folder);
        for (const args of [
          ['sync', 'game', '--patch-url', server.url],
          ['extract', 'game', '--patch-url', server.url, '--to', `${folder}/out`],
        ]) {
          const { status, stdout } = await run(args, store);
          expect([args[0], status, JSON.parse(stdout)]).toMatchObject([
            args[0],
            1,
            { error: { code: 'E_STORE_FULL' } },
          ]);
        }
        const { status, stdout } = await run(['gc', '--max-size', '6M'], store);
        expect([status, JSON.parse(stdout)]).toMatchObject([0, { spared: [], inUse: [] }]);
        expect(JSON.parse(stdout).builds.length).toBeGreaterThan(0);
        expect((await run(['verify'], store)).status).toBe(0);
        expect((await run(['sync', 'game', '--patch-url', server.url], store)).status).toBe(0);
        await withPakrat({ store, offline: true }, async (pakrat) => {
          await using build = await pakrat.open('game');
          for (const { name, bytes } of filesOf(newest - 1)) expect(bytes.equals(await build.bytes(name))).toBe(true);
        });
      });
    });
  });
});

// Node has no name for the error of the system.
(noQuota === undefined ? describe : describe.skip)('a quota that is used up', () => {
  const [image, disk] = [scratch('image'), scratch('disk')];
  /** Files that the quota has no room for, and a PAK of them. */
  const [files, pak] = [scratch('files'), scratch('files.pak')];
  beforeAll(async () => {
    mkdirSync(files);
    writeFileSync(`${files}/large`, randomBytes(6_000_000));
    for (let i = 0; i < 300; i++) writeFileSync(`${files}/small${i}`, randomBytes(10_000));
    expect((await startPakrat(['pack', 'quake', pak, files]).ended).status).toBe(0);
    makeImage(image, 'btrfs');
    mountImage(image, disk);
    execFileSync('btrfs', ['quota', 'enable', disk]);
    execFileSync('btrfs', ['qgroup', 'limit', '1M', disk]);
  });
  afterAll(() => unmountImage(image, disk));

  test.each([
    ['pack quake', ['pack', 'quake', `${disk}/out.pak`, files]],
    ['pack unreal', ['pack', 'unreal', `${disk}/out.pak`, files]],
    ['publish', ['publish', files, '--product', 'game', '--to', `${disk}/out`]],
    ['extract', ['extract', pak, '--to', `${disk}/out`]],
    ['extract, of small files alone', ['extract', pak, 'small*', '--to', `${disk}/out`]],
  ])('%s says so, and leaves nothing that is not whole', async (_, args) => {
    const { status, stdout } = await startPakrat([...args, '--quiet', '--json']).ended;
    expect([status, JSON.parse(stdout)]).toMatchObject([
      1,
      { error: { code: 'E_STORE_FULL', message: expect.stringContaining('quota is used up') } },
    ]);
    const left = readdirSync(disk, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { name, parentPath } of left) {
      if (/^large$|^small/.test(name))
        expect(readFileSync(`${parentPath}/${name}`).equals(readFileSync(`${files}/${name}`))).toBe(true);
      else expect(name).not.toMatch(/\.pak$|\.tmp$/);
    }
    for (const name of readdirSync(disk)) rmSync(`${disk}/${name}`, { recursive: true });
    execFileSync('btrfs', ['filesystem', 'sync', disk]);
  });
});
