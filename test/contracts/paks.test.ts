import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../src/core/byte-source.ts';
import { findPakFamily, isCalledPak, openPak, pakFamilies } from '../../src/paks/index.ts';
import { describeConformance } from '../support/conformance.ts';
import { everyPakFile, fixtureKeys, type PakFixture, pakFixtures } from '../support/pak-fixtures.ts';
import { exercisePak, flips, prefixSizes, silentDamage } from '../support/pak-hostile.ts';
import { contentHash, countingSource, gather, packed, packFile } from '../support/pak-sources.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

/** What may be read of a PAK to list it, beside its directory: both ends for the probe, header or footer. */
const overhead = 2 * 4096 + 600;

const bytesOf = ({ path }: { path: string }): Uint8Array => new Uint8Array(readFileSync(path));

const claimants = (bytes: Uint8Array): string[] =>
  pakFamilies.filter(({ matches }) => matches(bytes.subarray(0, 4096), bytes.subarray(-4096))).map(({ name }) => name);

test('families have names of their own', () => {
  const names = pakFamilies.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(['unreal', 'quake']));
});

describeConformance('who claims a file', () => {
  test.each(everyPakFile().map(({ family, path }) => [path.split('/').at(-1)!, family, path]))(
    '%s: %s',
    (_name, family, path) => {
      expect(claimants(bytesOf({ path }))).toEqual(pakFamilies.some(({ name }) => name === family) ? [family] : []);
    },
  );
});

describeConformance('every family on its real files', () => {
  describe.each(pakFixtures().map((fixture) => [fixture.label, fixture] as const))('%s', (_label, fixture) => {
    test('lists, reads and verifies as expected', async () => {
      const pak = await openPak(fixture.path, { keys: fixtureKeys() });
      expect([pak.family, pak.version]).toEqual([fixture.family, fixture.version]);
      expect(pak.facts).toMatchObject(fixture.facts);
      expect(listing(pak.entries)).toEqual(listing(fixture.files));
      expect(pak.entries.map(({ index }) => index)).toEqual(pak.entries.map((_, index) => index));
      for (const { name, sha256 } of fixture.files) {
        const entry = pak.find(name)!;
        if (sha256 !== undefined) expect([name, await contentHash(pak, entry)]).toEqual([name, sha256]);
        expect(await pak.verify(entry)).toBeUndefined();
      }
      expect(await pak.verifyDirectory()).toBeUndefined();
      await pak.close();
    });

    test('listing reads the directory only', async () => {
      const bytes = bytesOf(fixture);
      const source = countingSource(bytes);
      const pak = await openPak(source, { keys: fixtureKeys() });
      const data = pak.entries.reduce((sum, { storedSize }) => sum + storedSize, 0);
      expect(source.bytes).toBeLessThanOrEqual(overhead + bytes.length - data);
    });

    test('a part of an entry reads little more than that part', async () => {
      const source = countingSource(bytesOf(fixture));
      const pak = await openPak(source, { keys: fixtureKeys() });
      const readable = pak.entries.filter(({ method }) => method !== 'oodle');
      const entry = readable.reduce((a, b) => (a.size > b.size ? a : b));
      const whole = await gather(pak.read(entry));
      for (const [offset, size] of [
        [0, 0],
        [0, 1],
        [entry.size - 1, 1],
        [entry.size >> 1, Math.min(100, entry.size >> 2)],
      ] as const) {
        source.reset();
        expect(await gather(pak.readRange!(entry, offset, size))).toEqual(whole.slice(offset, offset + size));
        const isWhole = entry.method !== 'none';
        expect(source.bytes).toBeLessThanOrEqual(isWhole ? Math.min(entry.storedSize + 16, 70_000) : size + 32);
      }
      for (const [offset, size] of [
        [-1, 1],
        [0, entry.size + 1],
        [entry.size, 1],
      ] as const) {
        await expect(gather(pak.readRange!(entry, offset, size))).rejects.toMatchObject({ code: 'E_FORMAT_RANGE' });
      }
    });
  });
});

function listing(
  files: readonly { name: string; size: number; storedSize: number; method: string; encrypted: boolean }[],
) {
  const rows = files.map(({ name, size, storedSize, method, encrypted }) => ({
    name,
    size,
    storedSize,
    method,
    encrypted,
  }));
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
}

describe.each(pakFamilies.flatMap((family) => (family.pack === undefined ? [] : [[family.name, family] as const])))(
  'what %s packs',
  (name, family) => {
    const files = [
      packFile('a/empty.txt', ''),
      packFile('a/hello.txt', 'hello hello hello hello'),
      packFile(
        'b.bin',
        Uint8Array.from({ length: 70_000 }, (_, i) => (i * i) >>> 5),
      ),
    ];
    const pack = (): Promise<Uint8Array> => packed(async (sink) => family.pack?.(files, sink));

    test('is its own, lists and reads as it was, whole and in parts', async () => {
      const bytes = await pack();
      expect(claimants(bytes)).toEqual([name]);
      const pak = await openPak(bytesSource(bytes, 'packed.pak'));
      expect(pak.family).toBe(name);
      const sizes = new Map(pak.entries.map((entry) => [entry.name, entry.size]));
      expect(sizes).toEqual(new Map(files.map((file) => [file.name, file.size])));
      for (const file of files) {
        const entry = pak.find(file.name)!;
        const content = await gather(file.open());
        expect(Buffer.compare(await gather(pak.read(entry)), content)).toBe(0);
        const half = file.size >> 1;
        if (pak.readRange !== undefined) {
          expect(await gather(pak.readRange(entry, half >> 1, half))).toEqual(
            content.slice(half >> 1, (half >> 1) + half),
          );
        }
        expect(await pak.verify(entry)).toBeUndefined();
      }
      expect(pak.find('a/none.txt')).toBeUndefined();
      expect(await pak.verifyDirectory()).toBeUndefined();
      await pak.close();
    });

    test('damaged or cut short is an error with a code, or other bytes, and nothing worse', async () => {
      const bytes = await pack();
      for (const size of prefixSizes(bytes.length, 40)) await exercisePak(bytes.slice(0, size), `prefix of ${size}`);
      for (const { offset, changed } of flips(bytes, 60)) await exercisePak(changed, `byte ${offset}`);
    });
  },
);

/** One fixture of each kind that is worth breaking, small enough to be broken often. */
const breakable = (fixture: PakFixture): boolean => !/quakespasm|Uncompressed|PatchBase_0/.test(fixture.label);

describeConformance('damage', () => {
  const fixtures = pakFixtures().filter(breakable);

  test.each(fixtures.map((fixture) => [fixture.label, fixture] as const))('%s cut short', async (_label, fixture) => {
    const bytes = bytesOf(fixture);
    for (const size of prefixSizes(bytes.length, 60)) {
      const { opened, codes } = await exercisePak(bytes.slice(0, size), `prefix of ${size}`, { keys: fixtureKeys() });
      // A Quake PAK may have its directory in the middle, and anything behind it.
      const mayOpen = fixture.family === 'quake' && size >= (fixture.facts.directoryOffset as number) + 64;
      if (!mayOpen) expect([size, opened ?? codes[0]]).toEqual([size, expect.stringMatching(/^E_/)]);
    }
  });

  test.each(fixtures.map((fixture) => [fixture.label, fixture] as const))(
    '%s with a byte changed',
    async (_label, fixture) => {
      const bytes = bytesOf(fixture);
      const keys = fixtureKeys();
      const right = await exercisePak(bytes, 'whole', { keys });
      for (const { offset, changed } of flips(bytes, 60)) {
        const outcome = await exercisePak(changed, `byte ${offset}`, { keys });
        // A Quake PAK has no hashes; anywhere else damage is told, or does not matter.
        if (fixture.family !== 'quake') expect([offset, silentDamage(outcome, right)]).toEqual([offset, []]);
      }
    },
  );

  test('random bytes behind a real head or before a real end', async () => {
    for (const fixture of fixtures) {
      const bytes = bytesOf(fixture);
      const noise = bytes.map((byte, i) => (byte * 31 + i * 17) & 0xff);
      noise.set(bytes.subarray(0, 12));
      noise.set(bytes.subarray(-262), noise.length - 262);
      const { opened, codes } = await exercisePak(noise, fixture.label, { keys: fixtureKeys() });
      expect(opened ?? codes[0] ?? 'none').toMatch(fixture.family === 'quake' ? /./ : /^E_/);
    }
  });
});

test('a family is found by bytes, whatever the name', async () => {
  const bytes = new Uint8Array(12);
  bytes.set(new TextEncoder().encode('PACK'));
  bytes[4] = 12;
  expect((await findPakFamily(bytesSource(bytes, 'image.png')))?.name).toBe('quake');
  expect((await openPak(bytesSource(bytes, 'image.png'))).entries).toEqual([]);
  expect(await findPakFamily(bytesSource(new Uint8Array(100), 'pak0.pak'))).toBeUndefined();
});

test('a path with no PAK there is an error with a code', async () => {
  await expect(openPak('/nowhere/at/all.pak')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  await expect(openPak('/dev/null')).rejects.toMatchObject({ code: 'E_STORE' });
  await expect(openPak(scratch())).rejects.toMatchObject({
    code: 'E_FORMAT_MAGIC',
    hint: expect.stringMatching(/Quake.*Unreal/),
  });
});

test('a path is called as PAKs are, whatever the case', () => {
  const called = ['a/pak0.pak', 'X.PAK', 'My.Title.Pack.Gbx', 'a.gbx', 'wow', 'pak'].filter(isCalledPak);
  expect(called).toEqual(['a/pak0.pak', 'X.PAK', 'My.Title.Pack.Gbx']);
});
