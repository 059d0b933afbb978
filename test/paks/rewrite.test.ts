import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../src/core/byte-source.ts';
import { openPak, type PakOptions } from '../../src/paks/index.ts';
import type { NadeoEntry } from '../../src/paks/nadeo/directory/entry-list.ts';
import type { PackFile, RewriteRow } from '../../src/paks/packing.ts';
import type { Pak, PakEntry } from '../../src/paks/pak.ts';
import { writeUnrealPak } from '../../src/paks/unreal/write/write.ts';
import { planRewrite } from '../../src/sources/paks/make/plan-rewrite.ts';
import { describeConformance } from '../support/conformance.ts';
import { everyPakFile, fixtureKeys } from '../support/pak-fixtures.ts';
import { quakePak } from '../support/pak-quake.ts';
import { gather, packed, packFile } from '../support/pak-sources.ts';
import { frozenPak, type UnrealRow, unrealPak } from '../support/pak-unreal.ts';
import { baseKey, gbxFile, packFile as nadeoFile, packBytes } from './nadeo/synthetic.ts';

const unrealKey = new Uint8Array(32).map((_, i) => i * 5 + 3);
const options: PakOptions = { keys: [unrealKey, baseKey] };
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const long = 'all work and no play makes jack a dull boy. '.repeat(200);

interface Sample {
  label: string;
  bytes: () => Promise<Uint8Array>;
  options: PakOptions;
}

/** All that must not change of an entry that is taken over; the offset may. */
function facts(entry: PakEntry) {
  const { name, size, storedSize, method, encrypted, mtime, sha1, hidden } = entry;
  const { storedPath, classId, flags, isHashed } = entry as Partial<NadeoEntry>;
  return { name, size, storedSize, method, encrypted, mtime, sha1, hidden, storedPath, classId, flags, isHashed };
}

/** What must not change of the whole. */
function wholeFacts({ family, version, facts: all }: Pak) {
  const { mountPoint, keyGuid, encryptedIndex, pathHashSeed, names, game, headerFlags, author, title, folders } = all;
  return {
    family,
    version,
    mountPoint,
    keyGuid,
    encryptedIndex,
    pathHashSeed,
    names,
    game,
    headerFlags,
    author,
    title,
    folders,
  };
}

const raw = (bytes: Uint8Array, { offset = 0, storedSize }: PakEntry): string =>
  text(bytes.subarray(offset, offset + storedSize));

async function rewritten(
  pak: Pak,
  rows: readonly RewriteRow[],
  how: PakOptions,
): Promise<{ made: Pak; bytes: Uint8Array }> {
  const bytes = await packed((sink) => pak.rewrite!(rows, sink));
  return { bytes, made: await openPak(bytesSource(bytes, 'new.pak'), how) };
}

async function expectVerified(pak: Pak, except: ReadonlySet<number> = new Set()): Promise<void> {
  expect(await pak.verifyDirectory()).toBeUndefined();
  for (const entry of pak.entries) {
    if (!except.has(entry.index)) expect([entry.name, await pak.verify(entry)]).toEqual([entry.name, undefined]);
  }
}

const keep = (pak: Pak): RewriteRow[] => pak.entries.map((_, old) => ({ old }));

/** Rows that the fixture itself has wrong: what is wrong there stays wrong. */
async function wrongRows(pak: Pak): Promise<Set<number>> {
  const wrong = new Set<number>();
  for (const entry of pak.entries) if ((await pak.verify(entry)) !== undefined) wrong.add(entry.index);
  return wrong;
}

/** Takes everything over; replaces one entry of each kind; leaves one out and adds one. */
async function expectKept({ bytes: make, options: how }: Sample): Promise<void> {
  const bytes = await make();
  const pak = await openPak(bytesSource(bytes, 'old.pak'), how);
  const wrong = await wrongRows(pak);
  const whole = await rewritten(pak, keep(pak), how);
  expect(wholeFacts(whole.made)).toEqual(wholeFacts(pak));
  expect(whole.made.entries.map(facts)).toEqual(pak.entries.map(facts));
  expect(whole.made.entries.map((entry) => raw(whole.bytes, entry))).toEqual(
    pak.entries.map((entry) => raw(bytes, entry)),
  );
  await expectVerified(whole.made, wrong);

  const kinds = new Map(
    pak.entries.map((entry) => [`${entry.method} ${entry.encrypted} ${entry.hidden}`, entry.index]),
  );
  for (const index of kinds.values()) {
    const old = pak.entries[index]!;
    if (old.hidden === 'delete-record') continue;
    const content = `new content ${long.slice(0, 600)}`;
    const rows = keep(pak).map((row) => (row.old === index ? { ...row, file: packFile(old.name, content) } : row));
    const { made, bytes: after } = await rewritten(pak, rows, how);
    for (const entry of made.entries) {
      const before = pak.entries[entry.index]!;
      if (entry.index !== index) {
        expect(facts(entry)).toEqual(facts(before));
        expect(raw(after, entry)).toBe(raw(bytes, before));
        continue;
      }
      const { name, encrypted, hidden, classId, storedPath } = facts(before);
      expect(facts(entry)).toMatchObject({ name, size: content.length, encrypted });
      expect(facts(entry)).toEqual(expect.objectContaining({ hidden, classId, storedPath }));
      expect(text(await gather(made.read(entry)))).toBe(content);
    }
    expect(wholeFacts(made)).toEqual(wholeFacts(pak));
    await expectVerified(made, wrong);
  }
  await expectEdited(pak, bytes, how, wrong);
}

/** An extraction that was edited: one file is other, one is gone, one is new. */
async function expectEdited(pak: Pak, bytes: Uint8Array, how: PakOptions, wrong: ReadonlySet<number>): Promise<void> {
  const files: PackFile[] = [];
  for (const entry of pak.entries) {
    if (entry.hidden !== undefined || wrong.has(entry.index)) continue;
    const content = await gather(pak.read(entry)).catch(() => undefined);
    if (content !== undefined) files.push(packFile(entry.name, content));
  }
  if (files.length < 3) return;
  const [first, gone] = [files[0]!, files.at(-1)!];
  const edited = [packFile(first.name, 'edited'), ...files.slice(1, -1), packFile('added/new file.txt', long)];
  const plan = await planRewrite(pak, { files: edited, replaced: new Map() });
  const { made, bytes: after } = await rewritten(pak, plan.rows, how);
  expect(edited.filter(({ name }) => made.find(name) === undefined)).toEqual([]);
  expect(made.find(gone.name)).toBeUndefined();
  const isHidden = ({ hidden }: PakEntry): boolean => hidden !== undefined;
  expect(made.entries).toHaveLength(edited.length + pak.entries.filter(isHidden).length);
  expect(plan.notes.join()).toContain(gone.name);
  for (const { name } of edited.slice(1, -1)) {
    const [before, entry] = [pak.find(name)!, made.find(name)!];
    expect(facts(entry)).toEqual(facts(before));
    expect(raw(after, entry)).toBe(raw(bytes, before));
  }
  expect(text(await gather(made.read(made.find(first.name)!)))).toBe('edited');
  expect(text(await gather(made.read(made.find('added/new file.txt')!)))).toBe(long);
  await expectVerified(
    made,
    new Set(made.entries.filter(({ name }) => !edited.some((one) => one.name === name)).map(({ index }) => index)),
  );
}

const plainFiles = [
  packFile('Maps/big.umap', long, { mtime: new Date('2020-02-03T04:05:06Z') }),
  packFile('Maps/Deep/small.umap', 'small'),
  packFile('empty.bin', ''),
  packFile(
    'noise.bin',
    Uint8Array.from({ length: 3000 }, (_, i) => (i * i * 7) >>> 3),
  ),
];

const unreal: Sample[] = ['1', '2', '3', '4', '5', '6', '7', '8A', '8B', '9', '10', '11', '12'].flatMap((version) => {
  const number = Number.parseInt(version, 10);
  const forms = [
    { label: 'plain', form: {} },
    ...(number < 3
      ? []
      : [{ label: 'compressed', form: { compress: 'zlib', blockSize: 2048, mountPoint: '../../../Game/' } as const }]),
    ...(number < 4
      ? []
      : [
          {
            label: 'encrypted',
            form: {
              compress: 'zlib',
              key: unrealKey,
              encryptIndex: true,
              keyGuid: '12'.repeat(16),
              pathHashSeed: 77n,
            } as const,
          },
        ]),
  ];
  return forms.map(({ label, form }) => ({
    label: `unreal ${version}, ${label}`,
    options,
    bytes: () => packed((sink) => writeUnrealPak(plainFiles, sink, { version, ...form })),
  }));
});

const rows: UnrealRow[] = ['Maps/a.umap', 'Maps/b.umap', 'c.txt'].map((name) => ({ name, content: Buffer.from(name) }));
const odd: Sample[] = [
  ['names that are only hashed', { version: 11, hasDirectory: false, seed: 99n, pruned: ['c.txt'] }, rows],
  ['no path hashes', { version: 11, hasPathHashes: false }, rows],
  [
    'plain records and delete records',
    { version: 11 },
    [...rows.map((row) => ({ ...row, isPlain: true })), { name: 'gone', content: Buffer.alloc(0), isDeleted: true }],
  ],
].map(([label, shape, content]) => ({
  label: `unreal with ${label as string}`,
  options,
  bytes: async () => unrealPak(content as UnrealRow[], shape as Parameters<typeof unrealPak>[1]),
}));

const quake: Sample[] = [
  { label: 'quake with duplicates and garbage behind names', shape: {} },
  { label: 'SiN', shape: { magic: 'SPAK', nameSize: 120 } },
  { label: 'Daikatana', shape: { isDaikatana: true } },
  { label: 'quake with a gap', shape: { gap: 100 } },
].map(({ label, shape }) => ({
  label,
  options,
  bytes: async () =>
    quakePak(
      [
        { name: 'maps/z.bsp', content: 'Z', garbage: 0x77 },
        { name: 'b.txt', content: 'first' },
        { name: 'b.txt', content: 'second' },
        { name: './c.txt', content: 'third' },
        { name: 'same as b', offset: 12 + ('gap' in shape ? 100 : 0) + 1, size: 5 },
        // A byte that stands for itself in the compression of Daikatana.
        ...('isDaikatana' in shape
          ? [{ name: 'packed', content: Uint8Array.of(0, 65, 255), size: 1, storedSize: 3, isCompressed: 1 }]
          : []),
      ],
      shape,
    ),
}));

const gbx = gbxFile({ classId: 0x24003000, inline: [0x24005000], userData: new Uint8Array(40).fill(3) });
const nadeoFiles = [
  nadeoFile('Media/Texture/Image.dds', long),
  nadeoFile('Media/Map.Gbx', gbx),
  nadeoFile('Scripts/a.Script.txt', '#Include "x"', { classId: 0x09054000 }),
  nadeoFile('Secret/Deep/name.txt', 'hidden by its name', { hashedBelow: 'Secret' }),
  nadeoFile('public.txt', 'open to all', { isPublic: true }),
  nadeoFile('z empty.txt', ''),
];
const nadeo: Sample[] = [1, 3, 5, 6, 8, 10, 12, 14, 15, 17, 18].flatMap((version) => {
  const author = { version: 1, login: 'me', nick: 'n', zone: 'z', extra: 'e' };
  const info = version < 6 ? {} : { author, ...(version >= 12 && { titleId: 'My@me' }) };
  return [baseKey, ...(version < 6 ? [] : [undefined])].map((key) => ({
    label: `nadeo ${version}${key === undefined ? ' without a key' : ''}`,
    options,
    bytes: () => packBytes(nadeoFiles, { version, key, info }),
  }));
});

const own = [...unreal, ...odd, ...quake, ...nadeo];

describe('a PAK made out of an older one keeps what is not replaced', () => {
  test.each(own.map((sample) => [sample.label, sample] as const))('%s', (_label, sample) => expectKept(sample));
});

describeConformance('real PAKs keep what is not replaced', () => {
  const fixtures = everyPakFile().map(({ path }) => [path.split('/').slice(-2).join('/'), path] as const);
  test.each(fixtures)('%s', async (_label, path) => {
    const keys = [...fixtureKeys(), baseKey];
    await expectKept({ label: path, options: { keys }, bytes: async () => new Uint8Array(readFileSync(path)) });
  });

  test.each(fixtures.filter(([, path]) => path.includes('/unreal/')))(
    '%s is the same to the byte when nothing changes',
    async (_label, path) => {
      const pak = await openPak(path, { keys: fixtureKeys() });
      expect(Buffer.compare(await packed((sink) => pak.rewrite!(keep(pak), sink)), readFileSync(path))).toBe(0);
    },
  );
});

describe('what cannot be made out of an older PAK is refused', () => {
  test('a frozen index is written as a plain one, with a note', async () => {
    const pak = await openPak(bytesSource(frozenPak(rows, '../../../Game/')), options);
    let notes: string[] = [];
    const bytes = await packed(async (sink) => {
      notes = (await pak.rewrite!(keep(pak), sink)).notes;
    });
    expect(notes.join()).toContain('frozen');
    const made = await openPak(bytesSource(bytes), options);
    expect(made.entries.map(({ name }) => name)).toEqual(pak.entries.map(({ name }) => name));
    for (const entry of made.entries) expect(text(await gather(made.read(entry)))).toBe(entry.name);
  });

  test('versions that are only read, and new content where the key is missing', async () => {
    const newest = await openPak(bytesSource(unrealPak(rows, { version: 15 })), options);
    await expect(packed((sink) => newest.rewrite!(keep(newest), sink))).rejects.toMatchObject({
      code: 'E_UNSUPPORTED',
    });
    const sealed = await packed((sink) => writeUnrealPak(plainFiles, sink, { version: 5, key: unrealKey }));
    const closed = await openPak(bytesSource(sealed));
    const change = keep(closed).map((row) => (row.old === 0 ? { ...row, file: packFile('x', 'y') } : row));
    await expect(packed((sink) => closed.rewrite!(change, sink))).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
    // What is only taken over needs none.
    const made = await packed((sink) => closed.rewrite!(keep(closed), sink));
    expect(Buffer.compare(made, sealed)).toBe(0);
  });

  test('an entry that lies past the end of the file', async () => {
    const pak = await openPak(
      bytesSource(
        quakePak([
          { name: 'a', content: 'x' },
          { name: 'b', offset: 5, size: 9999 },
        ]),
      ),
    );
    await expect(packed((sink) => pak.rewrite!(keep(pak), sink))).rejects.toMatchObject({
      code: 'E_FORMAT_RANGE',
      hint: expect.stringContaining('--replace'),
    });
    const change = keep(pak).map((row) => (row.old === 1 ? { ...row, file: packFile('b', 'mended') } : row));
    const made = await openPak(bytesSource(await packed((sink) => pak.rewrite!(change, sink))));
    expect(text(await gather(made.read(made.find('b')!)))).toBe('mended');
  });
});
