import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import {
  bytesSource,
  decodeKeyFile,
  decodeNameList,
  decodePacklist,
  encodePacklist,
  isPakratError,
  openNadeoPak,
  openPak,
  type PackFile,
  type PackSink,
  type Pak,
  type PakOptions,
  packlistKeys,
  pakFamilies,
  productCrc,
  writeNadeoPak,
  writeQuakePak,
  writeUnrealPak,
} from '../../src/paks/door.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const key = Uint8Array.from({ length: 16 }, (_, i) => i);
const longKey = new Uint8Array(32).fill(7);

/** A file as a tool would hand it over. */
function file(name: string, text: string): PackFile {
  const bytes = new TextEncoder().encode(text);
  return {
    name,
    size: bytes.length,
    async *open() {
      yield bytes;
    },
  };
}

async function packed(write: (sink: PackSink) => Promise<unknown>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  await write({ write: async (bytes) => void parts.push(bytes.slice()) });
  return new Uint8Array(Buffer.concat(parts));
}

async function text(pak: Pak, name: string): Promise<string> {
  const entry = pak.find(name);
  const parts: Uint8Array[] = [];
  if (entry !== undefined) for await (const piece of pak.read(entry)) parts.push(piece.slice());
  return Buffer.concat(parts).toString();
}

const files = [file('maps/a.txt', 'a map'), file('readme.txt', 'read me')];
const cases: [string, (sink: PackSink) => Promise<unknown>, PakOptions][] = [
  ['quake', (sink) => writeQuakePak(files, sink), {}],
  ['unreal', (sink) => writeUnrealPak(files, sink, { key: longKey, encryptIndex: true }), { keys: [longKey] }],
  ['nadeo', (sink) => writeNadeoPak(files, sink, { version: 3, key }), { keys: [key] }],
];

test.each(cases)('what the writer of %s makes is opened by path and as bytes', async (family, write, options) => {
  const bytes = await packed(write);
  const path = scratch(`${family}.pak`);
  writeFileSync(path, bytes);
  for (const what of [path, bytesSource(bytes)]) {
    const pak = await openPak(what, options);
    expect(pak.family).toBe(family);
    expect([await text(pak, 'maps/a.txt'), await text(pak, 'readme.txt')]).toEqual(['a map', 'read me']);
    await pak.close();
  }
});

test('a folder of PAKs is opened as its engine sees it', async () => {
  writeFileSync(scratch('pak0.pak'), await packed((sink) => writeQuakePak([file('a.txt', 'old'), files[1]!], sink)));
  writeFileSync(scratch('pak1.pak'), await packed((sink) => writeQuakePak([file('a.txt', 'new')], sink)));
  const pak = await openPak(scratch());
  expect(pak.family).toBe('quake-folder');
  expect([await text(pak, 'a.txt'), await text(pak, 'readme.txt')]).toEqual(['new', 'read me']);
  await pak.close();
});

test('keys and names come from the files that games and people have', async () => {
  const entries = [{ name: 'Stadium', flags: 0, keyString: Buffer.from(key).toString('hex').toUpperCase() }];
  const list = encodePacklist({ version: 1, game: 'trackmania', productCrc: 0, salt: 5, signed: true, entries });
  const namedKeys = packlistKeys(decodePacklist(list));
  expect(namedKeys).toEqual([{ name: 'Stadium', key }]);
  expect(decodeKeyFile('# keys\nStadium 000102030405060708090A0B0C0D0E0F')).toEqual(namedKeys);
  expect(decodeNameList('# names\nMaps\\A.Challenge.Gbx\n')).toEqual(['Maps\\A.Challenge.Gbx']);
  expect(productCrc('TmForever')).toBe(productCrc('tmforever'));
  const bytes = await packed((sink) => writeNadeoPak(files, sink, { version: 3, key }));
  const pak = await openNadeoPak(bytesSource(bytes, 'games/Stadium.pak'), { namedKeys });
  expect(await text(pak, 'readme.txt')).toBe('read me');
  expect(pak.facts.key).toBe('base key of Stadium');
});

test('what is wrong is an error with a code, and each family says what it can do', async () => {
  const error = await openPak(bytesSource(new Uint8Array(9), 'x')).catch((thrown: unknown) => thrown);
  expect(isPakratError(error) && error.code).toBe('E_FORMAT_MAGIC');
  expect(pakFamilies.map(({ name, pack, folders }) => [name, pack !== undefined, folders !== undefined])).toEqual(
    expect.arrayContaining([
      ['quake', true, true],
      ['nadeo', true, false],
    ]),
  );
});
