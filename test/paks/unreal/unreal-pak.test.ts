import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak, type PakOptions } from '../../../src/paks/index.ts';
import type { Pak } from '../../../src/paks/pak.ts';
import type { UnrealEntry } from '../../../src/paks/unreal/entries/unreal-entry.ts';
import { decodeFooter } from '../../../src/paks/unreal/footer.ts';
import { pathHash } from '../../../src/paks/unreal/index/path-hash.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { exercisePak, flips, prefixSizes, silentDamage } from '../../support/pak-hostile.ts';
import { countingSource, gather } from '../../support/pak-sources.ts';
import { frozenPak, type UnrealRow, type UnrealShape, unrealPak } from '../../support/pak-unreal.ts';

const key = new Uint8Array(32).map((_, i) => i * 7 + 1);
const otherKey = new Uint8Array(32).fill(9);

const open = (bytes: Uint8Array, options: PakOptions = {}): Promise<Pak> => openPak(bytesSource(bytes), options);

async function contents(pak: Pak): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const entry of pak.entries) {
    if (entry.hidden === undefined) all[entry.name] = Buffer.from(await gather(pak.read(entry))).toString('latin1');
  }
  return all;
}

/** Some files, one of several blocks, one empty. */
function sampleRows(): UnrealRow[] {
  const long = Buffer.from('all work and no play makes jack a dull boy. '.repeat(400));
  const blocks = [0, 4096, 8192, 12288, 16384].map((at) => deflateSync(long.subarray(at, at + 4096)));
  return [
    { name: 'readme.txt', content: Buffer.from('hello there') },
    { name: 'Maps/Deep/long.umap', content: long, blocks, method: 1, blockSize: 4096 },
    { name: 'Maps/Deep/single.umap', content: long, blocks: [deflateSync(long)], method: 1, blockSize: long.length },
    { name: 'Maps/Entry.umap', content: Buffer.from('entry') },
    { name: 'Maps/empty.bin', content: Buffer.alloc(0) },
    { name: 'Textures/ünïcode.uasset', content: Buffer.from('names are UTF-8 from version 12 on') },
  ];
}

const rowsFor = (version: number): UnrealRow[] =>
  sampleRows().map((row) => (version < 12 ? { ...row, name: row.name.replace('ünïcode', 'unicode') } : row));

const expected = (rows: readonly UnrealRow[]): Record<string, string> =>
  Object.fromEntries(rows.map(({ name, content }) => [name, content.toString('latin1')]));

const shapes: [string, UnrealShape][] = [];
for (const version of [10, 11, 12, 13, 14, 15]) {
  for (const variant of ['plain', 'encrypted'] as const) {
    const isEncrypted = variant === 'encrypted';
    const sealed = isEncrypted ? { key, encryptIndex: true, encryptData: true } : {};
    const base = { version, methods: ['Zlib'], ...sealed };
    shapes.push([`version ${version}, ${variant}`, base]);
    if (version >= 13) shapes.push([`version ${version}, ${variant}, flat directory`, { ...base, isFlat: true }]);
    if (version === 15 && isEncrypted) {
      shapes.push(
        ['version 15, AES-CTR', { ...base, isCtr: true }],
        ['version 15, AES-CTR, flat', { ...base, isCtr: true, isFlat: true }],
      );
    }
  }
}

describe.each(shapes)('%s', (_label, shape) => {
  const rows = rowsFor(shape.version);
  const bytes = unrealPak(rows, shape);

  test('reads, finds and verifies', async () => {
    const pak = await open(bytes, { keys: [otherKey, key] });
    expect(pak.version).toBe(String(shape.version));
    expect(await contents(pak)).toEqual(expected(rows));
    for (const entry of pak.entries) expect(await pak.verify(entry)).toBeUndefined();
    expect(await pak.verifyDirectory()).toBeUndefined();
    expect(pak.facts).toMatchObject({
      mountPoint: '../../../Game/Content/',
      encryption: shape.isCtr ? 'AES-256-CTR' : shape.encryptData ? 'AES-256-ECB' : 'none',
    });
  });

  test('parts of entries', async () => {
    const pak = await open(bytes, { keys: [key] });
    for (const { name, content } of rows) {
      const entry = pak.find(name)!;
      for (const [from, to] of [
        [0, content.length],
        [1, 2],
        [4090, 4100],
        [5000, 12300],
        [content.length - 3, content.length],
      ]) {
        const [offset, end] = [Math.max(0, from!), Math.min(to!, content.length)];
        if (offset > end) continue;
        const part = await gather(pak.readRange!(entry, offset, end - offset));
        expect(Buffer.from(part).equals(content.subarray(offset, end))).toBe(true);
      }
    }
  });

  test('a part in the middle reads the blocks that hold it', async () => {
    const source = countingSource(bytes);
    const pak = await openPak(source, { keys: [key] });
    const entry = pak.find('Maps/Deep/long.umap')!;
    await gather(pak.readRange!(entry, 0, 1));
    source.reset();
    expect(await gather(pak.readRange!(entry, 9000, 100))).toHaveLength(100);
    expect(source.bytes).toBeLessThan(entry.storedSize / 3);
  });

  test('as plain entries, and with delete records', async () => {
    const odd: UnrealRow[] = [
      ...rows.map((row) => ({ ...row, isPlain: true })),
      { name: 'Maps/gone.umap', content: Buffer.alloc(0), isDeleted: true },
    ];
    const pak = await open(unrealPak(odd, shape), { keys: [key] });
    expect(await contents(pak)).toEqual(expected(rows));
    expect(pak.find('Maps/gone.umap')).toBeUndefined();
    expect(pak.entries.find(({ name }) => name === 'Maps/gone.umap')).toMatchObject({
      hidden: 'delete-record',
      size: 0,
    });
    for (const entry of pak.entries) expect(await pak.verify(entry)).toBeUndefined();
  });

  test('without a directory it lists hashes and opens by name', async () => {
    const pruned = 'Maps/Entry.umap';
    const pak = await open(unrealPak(rows, { ...shape, hasDirectory: false, pruned: [pruned] }), { keys: [key] });
    const names = pak.entries.map(({ name }) => name);
    expect(names.filter((name) => /^hash-[0-9a-f]{16}$/.test(name))).toHaveLength(rows.length - 1);
    expect(names).toContain(pruned);
    expect(pak.notes.join()).toMatch(/only their hashes/);
    for (const { name, content } of rows) {
      const entry = pak.find(name.toUpperCase().replace('Ü', 'ü').replace('Ï', 'ï'))!;
      expect(Buffer.from(await gather(pak.read(entry))).equals(content)).toBe(true);
      expect(pak.find(`Game/Content/${name}`)?.index).toBe(entry.index);
    }
    expect(pak.find('Maps/nothing.umap')).toBeUndefined();
    for (const entry of pak.entries) expect(await pak.verify(entry)).toBeUndefined();
  });

  test('damage is told', async () => {
    const small = unrealPak(rows.slice(0, 2), shape);
    const options = { keys: [key] };
    const right = await exercisePak(small, 'whole', options);
    expect([right.opened, right.codes]).toEqual([undefined, []]);
    for (const size of prefixSizes(small.length, 40)) {
      const { opened, codes } = await exercisePak(small.slice(0, size), `prefix ${size}`, options);
      expect(opened ?? codes[0]).toMatch(/^E_/);
    }
    for (const { offset, changed } of flips(small, 80)) {
      const outcome = await exercisePak(changed, `byte ${offset}`, options);
      expect([offset, silentDamage(outcome, right)]).toEqual([offset, []]);
    }
  });
});

test('path hashes, by values from a real PAK and by the rule of version 10', () => {
  expect(pathHash('test.txt', 0x205c5a7dn, 11)).toBe(0x505f79362ba172ean);
  expect(pathHash('TEST.txt', 0x205c5a7dn, 11)).toBe(0x505f79362ba172ean);
  expect(pathHash('directory/nested.txt', 0x205c5a7dn, 12)).toBe(0xf778c4cfa5689e1fn);
  expect(pathHash('test.txt', 0x205c5a7dn, 10)).toBe(0x3b932f75b705b028n);
});

test('a frozen index of version 9', async () => {
  const rows = [
    { name: 'top.txt', content: Buffer.from('at the top') },
    { name: 'Maps/a.umap', content: Buffer.from('map a') },
    { name: 'Maps/b.umap', content: Buffer.from('map b') },
  ];
  const bytes = frozenPak(rows, '../../../Game/');
  const pak = await open(bytes);
  expect(pak.facts.mountPoint).toBe('../../../Game/');
  expect(await contents(pak)).toEqual(Object.fromEntries(rows.map(({ name, content }) => [name, content.toString()])));
  for (const entry of pak.entries) expect(await pak.verify(entry)).toBeUndefined();
  for (const { offset, changed } of flips(bytes, 200))
    await exercisePak(changed, `byte ${offset}`, { ignoreHashes: true });
});

describe('names', () => {
  const bytes = unrealPak(rowsFor(11), { version: 11, methods: ['Zlib'] });

  test.each([
    'readme.txt',
    'README.TXT',
    '/readme.txt',
    'Game/Content/readme.txt',
    '../../../Game/Content/readme.txt',
    '..\\..\\..\\game\\content\\ReadMe.txt',
  ])('%s is found', async (name) => {
    expect((await open(bytes)).find(name)?.name).toBe('readme.txt');
  });

  test('a later row takes the place of an earlier one', async () => {
    const rows = [
      { name: 'a.ini', content: Buffer.from('first') },
      { name: 'A.INI', content: Buffer.from('second') },
    ];
    const pak = await open(unrealPak(rows, { version: 11 }));
    expect(pak.entries.map(({ hidden }) => hidden)).toEqual(['shadowed', undefined]);
    expect(Buffer.from(await gather(pak.read(pak.find('a.ini')!))).toString()).toBe('second');
  });
});

describe('keys', () => {
  const rows = rowsFor(11);
  const locked = unrealPak(rows, { version: 11, methods: ['Zlib'], key, encryptIndex: true, encryptData: true });

  test.each([
    ['no key', [], /no AES key was given/],
    ['a wrong key', [otherKey], /the AES key given does not fit/],
    ['a key of another family', [new Uint8Array(16)], /no AES key was given/],
  ])('with %s the facts are told, and what needs the index says what is missing', async (_label, keys, message) => {
    const pak = await open(locked, { keys });
    expect(pak.facts).toMatchObject({
      locked: true,
      encryptedIndex: true,
      encryption: 'AES-256-ECB',
      keyGuid: 'ab'.repeat(16),
      methods: ['zlib'],
    });
    expect(pak.locked).toMatchObject({ code: 'E_KEY_MISSING', message: expect.stringMatching(message) });
    expect(() => pak.entries).toThrow(
      expect.objectContaining({ code: 'E_KEY_MISSING', data: expect.objectContaining({ keyGuid: 'ab'.repeat(16) }) }),
    );
    expect(() => pak.find('a')).toThrow(expect.objectContaining({ code: 'E_KEY_MISSING' }));
    expect(await pak.verifyDirectory()).toMatchObject({ code: 'E_KEY_MISSING' });
  });

  test('entries in a readable index are verified without a key, and read with one', async () => {
    const bytes = unrealPak(rows, { version: 11, methods: ['Zlib'], key, encryptData: true });
    const without = await open(bytes);
    for (const entry of without.entries) {
      expect(await without.verify(entry)).toBeUndefined();
      if (entry.size > 0) await expect(gather(without.read(entry))).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
    }
    expect(await contents(await open(bytes, { keys: [otherKey, key] }))).toEqual(expected(rows));
    const wrong = await open(bytes, { keys: [otherKey] });
    await expect(gather(wrong.read(wrong.find('readme.txt')!))).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
  });

  test('where only the padding can tell, it tells', async () => {
    const bytes = unrealPak([{ name: 'a.ini', content: Buffer.from('eleven char') }], {
      version: 11,
      key,
      encryptData: true,
    });
    expect(await contents(await open(bytes, { keys: [otherKey, key] }))).toEqual({ 'a.ini': 'eleven char' });
  });

  test('where nothing can tell, one key is taken and of several none', async () => {
    const bytes = unrealPak([{ name: 'a.ini', content: Buffer.from('sixteen chars...') }], {
      version: 11,
      key,
      encryptData: true,
    });
    expect(await contents(await open(bytes, { keys: [key] }))).toEqual({ 'a.ini': 'sixteen chars...' });
    const pak = await open(bytes, { keys: [otherKey, key] });
    await expect(gather(pak.read(pak.entries[0]!))).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
  });

  test('an encrypted index that is damaged is not taken for one of another key', async () => {
    const { indexOffset, indexSize } = decodeFooter(locked.subarray(-262), locked.length);
    // The end of the primary index, and that of the directory index, which lies before the footer.
    for (const at of [indexOffset + indexSize - 5, locked.length - 221 - 5]) {
      const changed = locked.slice();
      changed[at]! ^= 1;
      await expect(open(changed, { keys: [otherKey, key] })).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    }
  });
});

describe('hashes', () => {
  const rows = rowsFor(11);
  const bytes = unrealPak(rows, { version: 11, methods: ['Zlib'] });
  const dataAt = bytes.indexOf(0x68); // "hello there"

  test('changed content is told by verify, and is not handed out whole', async () => {
    const changed = bytes.slice();
    changed[dataAt] = 0x48;
    const pak = await open(changed);
    const entry = pak.find('readme.txt')!;
    expect(await pak.verify(entry)).toMatchObject({
      code: 'E_INTEGRITY',
      message: expect.stringContaining('readme.txt'),
    });
    await expect(gather(pak.read(entry))).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    const trusting = await open(changed, { ignoreHashes: true });
    expect(Buffer.from(await gather(trusting.read(trusting.find('readme.txt')!))).toString()).toBe('Hello there');
  });

  test('a record in front of the data that differs from the index is told', async () => {
    const changed = bytes.slice();
    changed[16] = changed[16]! + 1; // size in the first record
    const pak = await open(changed);
    expect(await pak.verify(pak.entries.find(({ name }) => name === 'readme.txt')!)).toMatchObject({
      code: 'E_INTEGRITY',
      message: expect.stringMatching(/differs from the index.*size: 12 instead of 11/),
    });
  });

  test('a directory with another hash is refused, unless hashes are ignored', async () => {
    const changed = bytes.slice();
    const at = Buffer.from(changed).indexOf('readme.txt', bytes.length - 1000);
    changed[at] = 0x52;
    await expect(open(changed)).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    const pak = await open(changed, { ignoreHashes: true });
    expect(pak.entries.map(({ name }) => name)).toContain('Readme.txt');
    expect(pak.notes.join()).toMatch(/SHA-1/);
    expect(await pak.verifyDirectory()).toMatchObject({ code: 'E_INTEGRITY' });
  });

  test('the path-hash index is checked too, though it is not needed', async () => {
    const hash = Buffer.alloc(8);
    hash.writeBigUInt64LE(pathHash('readme.txt', 0x12345678n, 11));
    const changed = bytes.slice();
    changed[Buffer.from(bytes).indexOf(hash)]! ^= 1;
    const pak = await open(changed);
    expect(await pak.verifyDirectory()).toMatchObject({
      code: 'E_INTEGRITY',
      message: expect.stringContaining('path-hash'),
    });
  });
});

describeConformance('records of real PAKs', () => {
  test.each(['u4pak/u4pak_v1.pak', 'u4pak/u4pak_v3_zlib.pak', 'repak/pack_v8a.pak', 'repak/pack_v8b_compress.pak'])(
    '%s: every byte of the record in front of the data counts, but for its offset',
    async (file) => {
      const bytes = conformanceBytes('pak', 'unreal', ...file.split('/'));
      const { entries } = await openPak(bytesSource(bytes));
      for (const { index, record } of entries as readonly UnrealEntry[]) {
        // The time of version 1, and a block size where there is at most one block, say nothing about the data.
        const isSilent = (at: number): boolean =>
          (record.time !== undefined && at >= 28 && at < 36) ||
          (record.time === undefined && record.blockCount < 2 && record.headerSize - at <= 4);
        for (let at = 8; at < record.headerSize; at++) {
          if (isSilent(at)) continue;
          const changed = bytes.slice();
          changed[record.offset + at]! ^= 1;
          const pak = await openPak(bytesSource(changed));
          expect([index, at, await pak.verify(pak.entries[index]!)]).toEqual([
            index,
            at,
            expect.objectContaining({ code: expect.stringMatching(/^E_(INTEGRITY|FORMAT)/) }),
          ]);
        }
      }
    },
  );
});
