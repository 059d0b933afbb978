import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak } from '../../../src/paks/index.ts';
import { extractFiles } from '../../../src/sources/extract/extract.ts';
import { type PakSource, pakSource } from '../../../src/sources/paks/pak-source.ts';
import { verifyPak } from '../../../src/sources/paks/run-pak-tasks.ts';
import { baseKey, collect, gbxFile, noise, packBytes, packFile } from '../../paks/nadeo/synthetic.ts';
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
