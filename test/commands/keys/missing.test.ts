import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, jest, test } from '@jest/globals';
import type { MissingKey } from '../../../src/builds/keys/missing-key.ts';
import { extractExitCode } from '../../../src/cli/render/extract.ts';
import { conformancePath, describeConformance } from '../../support/conformance.ts';
import { pakratJson, runPakrat } from '../../support/run-pakrat.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { syntheticCdn } from '../../support/synthetic-cdn.ts';
import { type Expected, expectedFiles, readTruth, wrongFiles } from '../../support/truth.ts';
import { withPakrat } from '../../support/with-pakrat.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();

/** Files and bytes that each withheld key locks, by the generator's own table. */
function lockedByTruth(files: readonly Expected[]): Map<string, { files: number; bytes: number }> {
  const sums = new Map<string, { files: number; bytes: number }>();
  for (const { lockedBy, content } of files) {
    if (lockedBy === undefined) continue;
    const sum = sums.get(lockedBy.toLowerCase()) ?? { files: 0, bytes: 0 };
    sums.set(lockedBy.toLowerCase(), { files: sum.files + 1, bytes: sum.bytes + content().length });
  }
  return sums;
}

function sums(keys: readonly MissingKey[]): Map<string, { files: number | null; bytes: number | null }> {
  return new Map(keys.map(({ key, files, bytes }) => [key, { files, bytes }]));
}

describe('keys missing', () => {
  test.each(['wow', 'tvfs'])(
    'of a %s build: what the tables say; once imported, its files come out of what is held',
    async (layout) => {
      const size = ['--files', '150', '--total-bytes', '800K', '--localized', '0'];
      const make = [...size, '--keys', '6', '--withheld', '3', '--layout', layout];
      const cdn = await syntheticCdn({ make });
      const truth = expectedFiles(readTruth(cdn.root, 'b'), layout === 'wow' ? 'fdid' : 'name');
      const expected = lockedByTruth(truth);
      expect(expected.size).toBeGreaterThan(1);
      const store = ['--store', scratch(layout)];
      const session = { store: scratch(layout), patchUrl: cdn.url };
      const offline = { ...session, offline: true };
      const withheld = readFileSync(`${cdn.root}/truth/keys-withheld.txt`);
      try {
        await withPakrat(session, (pakrat) => pakrat.keys.import([`${cdn.root}/truth/keys.txt`]));

        // Nothing but the map is here yet, and no data is fetched for the answer.
        const before = await withPakrat(session, (pakrat) => pakrat.keys.missing('wow'));
        expect(before.reduce((sum, { files }) => sum + files!, 0)).toBe(
          [...expected.values()].reduce((sum, { files }) => sum + files, 0),
        );
        expect(
          cdn
            .requests()
            .filter(({ path, status }) => path.includes('/data/') && status === 206 && !path.endsWith('.index')).length,
        ).toBeLessThan(8);

        await withPakrat(session, (pakrat) => pakrat.sync('wow'));
      } finally {
        await cdn.close();
      }
      // The server is dead, and its tree is gone.
      const args = ['keys', 'missing', 'wow', ...store, '--offline'];
      const { status, value } = await pakratJson<MissingKey[]>(args);
      expect(status).toBe(0);
      expect(sums(value)).toEqual(expected);
      expect(value.every(({ names, files }) => names.length === Math.min(files!, 10))).toBe(true);

      const to = scratch(`${layout}-out`);
      const locked = await withPakrat(offline, (pakrat) => pakrat.extract('wow', { to }));
      const codes = new Set(locked.failed.map(({ code }) => code));
      expect(codes).toEqual(new Set(['E_KEY_MISSING']));
      expect(extractExitCode(locked)).toBe(7);
      expect(locked.failed).toHaveLength([...expected.values()].reduce((sum, { files }) => sum + files, 0));

      writeFileSync(scratch('withheld.txt'), withheld);
      await withPakrat(offline, (pakrat) => pakrat.keys.import([scratch('withheld.txt')]));
      const names = locked.failed.map(({ name }) => name);
      const opened = await withPakrat(offline, (pakrat) => pakrat.extract('wow', { names, to }));
      expect(opened).toMatchObject({ files: names.length, failed: [] });
      const unlocked = truth.map((file): Expected => ({ ...file, lockedBy: undefined }));
      expect(wrongFiles(unlocked, to, [])).toEqual([]);
      expect(await withPakrat(offline, (pakrat) => pakrat.keys.missing('wow'))).toEqual([]);
      expect(runPakrat(args).stdout).toBe('No key is missing.\n');
    },
  );
});

describeConformance('keys missing, on real PAKs', () => {
  const unreal = (name: string): string => conformancePath('pak', 'unreal', name);
  const main = '0'.repeat(32);
  const key = (): string => JSON.parse(readFileSync(unreal('repak/crypto.json'), 'utf8')).EncryptionKey.Key as string;

  test('the files that a key locks, by its GUID; none with the key', async () => {
    const pak = unreal('repak/pack_v11_encrypt.pak');
    const { status, value } = await pakratJson<MissingKey[]>(['keys', 'missing', pak]);
    expect(status).toBe(0);
    const ls = await withPakrat({}, async (pakrat) => {
      const files: { name: string; size: number }[] = [];
      for await (const { name, size } of (await pakrat.open(pak)).list()) files.push({ name, size: size ?? 0 });
      return files;
    });
    const bytes = ls.reduce((sum, { size }) => sum + size, 0);
    expect(value).toEqual([{ key: main, files: 4, bytes, names: ls.map(({ name }) => name) }]);
    expect((await pakratJson(['keys', 'missing', pak, '--key', key()])).value).toEqual([]);
    const shown = runPakrat(['keys', 'missing', pak, '--verbose']).stdout;
    expect(shown).toContain(`  ${ls[0]!.name}\n`);
  });

  test('a locked directory: all of it, in a folder too', async () => {
    const locked = 'pack_v11_encryptindex.pak';
    const alone = await pakratJson(['keys', 'missing', unreal(`repak/${locked}`)]);
    expect(alone).toEqual({ status: 0, value: [{ key: main, files: null, bytes: null, names: [] }] });
    const folder = await withPakrat({}, (pakrat) => pakrat.keys.missing(unreal('repak')));
    expect(folder.map(({ origin }) => origin)).toContain(locked);
    expect(await withPakrat({}, (pakrat) => pakrat.keys.missing(unreal('repak/pack_v11.pak')))).toEqual([]);
  });
});
