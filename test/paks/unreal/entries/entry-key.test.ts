import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { openPak, type PakOptions } from '../../../../src/paks/index.ts';
import type { Pak } from '../../../../src/paks/pak.ts';
import type { UnrealEntry } from '../../../../src/paks/unreal/entries/unreal-entry.ts';
import { writeUnrealPak } from '../../../../src/paks/unreal/write/write.ts';
import { conformanceBytes, describeConformance } from '../../../support/conformance.ts';
import { randomSource } from '../../../support/hostile.ts';
import { fixtureKeys } from '../../../support/pak-fixtures.ts';
import { gather, packed, packFile } from '../../../support/pak-sources.ts';
import { unrealPak } from '../../../support/pak-unreal.ts';

const key = new Uint8Array(32).map((_, i) => 255 - i);
const zeros = new Uint8Array(32);
const random = randomSource(11);
const noise = (size: number): Uint8Array => Uint8Array.from({ length: size }, () => random() * 256);
const open = (bytes: Uint8Array, options: PakOptions = {}): Promise<Pak> => openPak(bytesSource(bytes), options);

const versions = [3, 4, 5, 6, 7, '8A', 8, 9, 10, 11];

/** Entries encrypted, the index not, nothing compressed. */
const pack = (contents: Record<string, Uint8Array | string>, version: number | string): Promise<Uint8Array> => {
  const files = Object.entries(contents).map(([name, content]) => packFile(name, content));
  return packed((sink) => writeUnrealPak(files, sink, { version, key }));
};

/** Each has one thing that tells, and 16 bytes or a multiple where it is not the padding. */
const telling: Record<string, Record<string, Uint8Array | string>> = {
  padding: { a: noise(1000) },
  'the padding of one of many': { a: noise(160), b: noise(320), c: noise(16), d: noise(27) },
  text: { a: 'three blocks of text with nothing in them at all' },
  'many zeros': { a: new Uint8Array(64) },
  'a table of small numbers': { a: Uint8Array.from({ length: 4096 }, (_, i) => (i % 4 === 0 ? i >> 2 : 0)) },
  'many short texts': { a: 'sixteen chars...', b: 'sixteen others..', c: 'and sixteen more' },
  'an asset': { a: Uint8Array.of(0xc1, 0x83, 0x2a, 0x9e, ...noise(12)) },
  'text behind noise': { a: Buffer.concat([noise(64), Buffer.alloc(640, 'some text or other, ')]) },
  'one start among many of noise': {
    ...Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`noise${i}`, noise(64)])),
    a: Buffer.concat([new Uint8Array(16), noise(4096)]),
  },
  'a start in front of noise, in one large entry': { a: Buffer.concat([new Uint8Array(32), noise(1 << 20)]) },
};

describe.each(versions)('version %s', (version) => {
  test.each(Object.keys(telling))('the right key is found, and a wrong one refused, by %s', async (what) => {
    const contents = telling[what]!;
    const bytes = await pack(contents, version);
    for (const keys of [[key], [zeros, key], [key, zeros]]) {
      const pak = await open(bytes, { keys });
      for (const entry of pak.entries) {
        expect(Buffer.from(await gather(pak.read(entry))).equals(Buffer.from(contents[entry.name]!))).toBe(true);
        expect(await pak.status!(entry)).toBe('exact');
      }
    }
    const wrong = await open(bytes, { keys: [zeros] });
    if (!/padding/.test(what)) return;
    const refused = { code: 'E_KEY_MISSING', message: expect.stringContaining('the AES key given does not fit') };
    for (const entry of wrong.entries) {
      await expect(gather(wrong.read(entry))).rejects.toMatchObject(refused);
      await expect(gather(wrong.readRange!(entry, 0, 1))).rejects.toMatchObject(refused);
    }
  });
});

test('a key that nothing can prove is used and said to be unverified; of two none is', async () => {
  const bytes = await pack({ a: noise(64), empty: '' }, 7);
  for (const given of [key, zeros]) {
    const pak = await open(bytes, { keys: [given] });
    expect((await gather(pak.read(pak.find('a')!))).length).toBe(64);
    expect(await pak.status!(pak.find('a')!)).toBe('key unverified');
    expect(await pak.status!(pak.find('empty')!)).toBe('exact');
  }
  const both = await open(bytes, { keys: [key, zeros] });
  await expect(gather(both.read(both.find('a')!))).rejects.toMatchObject({
    code: 'E_KEY_MISSING',
    message: expect.stringContaining('which of 2 AES keys'),
    hint: expect.stringContaining('alone'),
  });
  const none = await open(bytes);
  expect(await none.status!(none.find('a')!)).toBe('exact');
  await expect(gather(none.read(none.find('a')!))).rejects.toMatchObject({
    message: expect.stringContaining('no AES key was given'),
  });
});

test('equal blocks, which a wrong key makes equal too, prove nothing', async () => {
  const block = noise(16);
  const contents = { a: Uint8Array.from({ length: 4096 }, (_, i) => block[i % 16]!), b: block };
  const pak = await open(await pack(contents, 9), { keys: [zeros] });
  expect(await pak.status!(pak.find('a')!)).toBe('key unverified');
});

test('damage does not count against a key', async () => {
  const bytes = await pack({ a: 'a text that has some padding', b: noise(160) }, 11);
  const { record } = (await open(bytes)).find('a') as UnrealEntry;
  bytes[record.offset + record.headerSize + 20]! ^= 1;
  const pak = await open(bytes, { keys: [key] });
  await expect(gather(pak.read(pak.find('a')!))).rejects.toMatchObject({ code: 'E_INTEGRITY' });
  expect((await gather(pak.read(pak.find('b')!))).length).toBe(160);
});

test('counter mode has the same proofs', async () => {
  const rows = [{ name: 'a', content: Buffer.from('a text that is long enough to tell a key by') }];
  const bytes = unrealPak(rows, { version: 15, key, encryptData: true, isCtr: true });
  const pak = await open(bytes, { keys: [zeros, key] });
  expect(Buffer.from(await gather(pak.read(pak.find('a')!))).equals(rows[0]!.content)).toBe(true);
  expect(await pak.status!(pak.find('a')!)).toBe('exact');
  const wrong = await open(bytes, { keys: [zeros] });
  await expect(gather(wrong.read(wrong.find('a')!))).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
});

describeConformance('real PAKs', () => {
  test.each(['repak/pack_v8b_encrypt.pak', 'repak/pack_v11_encrypt.pak'])('%s', async (file) => {
    const bytes = conformanceBytes('pak', 'unreal', ...file.split('/'));
    const pak = await open(bytes, { keys: [zeros, ...fixtureKeys()] });
    for (const entry of pak.entries) {
      await gather(pak.read(entry));
      expect(await pak.status!(entry)).toBe('exact');
    }
    const wrong = await open(bytes, { keys: [zeros] });
    const entry = wrong.entries.find(({ size }) => size > 0)!;
    await expect(gather(wrong.read(entry))).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
  });
});
