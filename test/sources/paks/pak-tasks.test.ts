import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { beforeAll, expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak } from '../../../src/paks/index.ts';
import { writeUnrealPak } from '../../../src/paks/unreal/write/write.ts';
import { type ExtractResult, extractFiles } from '../../../src/sources/extract/extract.ts';
import { tarFiles } from '../../../src/sources/extract/extract-tar.ts';
import { type PakSource, pakSource } from '../../../src/sources/paks/pak-source.ts';
import { verifyPak } from '../../../src/sources/paks/run-pak-tasks.ts';
import { baseKey, collect, gbxFile, noise, packBytes, packFile } from '../../paks/nadeo/synthetic.ts';
import { packed } from '../../support/pak-sources.ts';
import { legacyPak } from '../../support/pak-unreal.ts';
import { quakePak } from '../../support/quake-pak.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const gbx = gbxFile({ classId: 0x03043000, filler: 2000 });
let source: PakSource;

beforeAll(async () => {
  const files = [packFile('Map.Challenge.Gbx', gbx), packFile('noise.bin', noise(2000))];
  // Before version 14, and without compression, nothing in a pack tells whether a GBX was decrypted right.
  const bytes = await packBytes(files, { version: 12, key: baseKey, compress: false });
  source = pakSource(await openPak(bytesSource(bytes), { keys: [baseKey] }), 'x.pak');
});

test('a file whose content nothing proves is named, when it is extracted and when it is checked', async () => {
  const to = scratch('plain');
  expect(await extractFiles(source, { names: [], to })).toMatchObject({ files: 2, unsure: ['Map.Challenge.Gbx'] });
  expect(new Uint8Array(readFileSync(`${to}/Map.Challenge.Gbx`))).toEqual(gbx);
  expect(await verifyPak(source)).toMatchObject({ bad: [], unsure: ['Map.Challenge.Gbx'] });
});

test('stored bytes are taken out as they are, and are never unsure', async () => {
  const to = scratch('raw');
  const result = await extractFiles(source, { names: [], to, raw: true });
  expect(result).toMatchObject({ files: 2, failed: [] });
  expect(result.unsure).toBeUndefined();
  const stored = await collect(source.pak.readRaw!(source.pak.find('noise.bin')!));
  expect(new Uint8Array(readFileSync(`${to}/noise.bin`))).toEqual(stored);
  expect(stored).not.toEqual(noise(2000));
});

test('files that a key decrypts which nothing proves are unsure, however they are taken out', async () => {
  const key = new Uint8Array(32).fill(3);
  const files = [packFile('a.bin', noise(640)), packFile('empty', '')];
  const bytes = await packed((sink) => writeUnrealPak(files, sink, { version: 5, key }));
  const unreal = pakSource(await openPak(bytesSource(bytes), { keys: [new Uint8Array(32)] }), 'x.pak');
  const unsure = { files: 2, failed: [], unsure: ['a.bin'] };
  expect(await extractFiles(unreal, { names: [], to: scratch('key') })).toMatchObject(unsure);
  const list = [{ name: 'a.bin' }, { name: 'empty' }];
  expect(await extractFiles(unreal, { names: [], list, to: scratch('list') })).toMatchObject(unsure);
  const tar: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
  await collect(tarFiles(unreal, { names: [] }, tar));
  expect(tar).toMatchObject(unsure);
  expect(await verifyPak(unreal)).toMatchObject({ bad: [], unsure: ['a.bin'] });
  const without = pakSource(await openPak(bytesSource(bytes)), 'x.pak');
  expect(await verifyPak(without)).toEqual({ checked: { entries: 2, bytes: 640 }, bad: [], repaired: 0 });
});

test('a check says what it could only see the bounds of', async () => {
  const quake = quakePak([
    { name: 'a', content: 'four' },
    { name: 'b', content: 'fives' },
    { name: 'empty', content: '' },
  ]);
  const unproven = { entries: 2, bytes: 9 };
  expect(await verifyPak(pakSource(await openPak(bytesSource(quake)), 'x.pak'))).toMatchObject({ bad: [], unproven });
  const row = { name: 'a', content: Buffer.from('nothing hashes this') };
  const hashed = legacyPak([row], { version: 2 });
  const verified = async (bytes: Uint8Array) => verifyPak(pakSource(await openPak(bytesSource(bytes)), 'x.pak'));
  expect((await verified(hashed)).unproven).toBeUndefined();
  const unhashed = legacyPak([{ ...row, hasNoHash: true }], { version: 2 });
  expect(await verified(unhashed)).toMatchObject({ bad: [], unproven: { entries: 1, bytes: row.content.length } });
});

test('decoding is an option of a check', async () => {
  const content = Buffer.from('inflates to another size than its own');
  const bytes = legacyPak([{ name: 'a', content, blocks: [deflateSync(content)], method: 1, size: 30 }], {
    version: 4,
  });
  const pak = pakSource(await openPak(bytesSource(bytes)), 'x.pak');
  expect((await verifyPak(pak)).bad).toEqual([]);
  expect((await verifyPak(pak, { decode: true })).bad).toMatchObject([{ name: 'a', code: 'E_FORMAT_RANGE' }]);
});
