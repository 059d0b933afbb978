import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../src/core/byte-source.ts';
import type { PakratError } from '../../src/core/errors.ts';
import { identify } from '../../src/paks/identify.ts';
import { openPak } from '../../src/paks/index.ts';
import { unrealPak } from '../support/pak-unreal.ts';
import { quakePak } from '../support/quake-pak.ts';

const ascii = (text: string, size = 64): Uint8Array => {
  const bytes = new Uint8Array(size).fill(0x80);
  bytes.set(new TextEncoder().encode(text));
  return bytes;
};
const noise = (size: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, i) => (i * 131 + (i >> 3) * 29 + 7) & 0xff);

describe('what a file looks like', () => {
  test.each([
    ['nothing', new Uint8Array(0), /empty/],
    ['a ZIP', ascii('PK\x03\x04'), /ZIP/],
    ['a gzip', new Uint8Array(gzipSync('x')), /gzip/],
    ['a map of TrackMania', ascii('GBX\x06\0BUCR'), /GBX/],
    ['a program', ascii('MZ\x90\0'), /Windows program/],
    ['an IoStore table', ascii('-==--==--==--==-'), /utoc/],
    ['a WAD', ascii('WAD2'), /WAD/],
    ['a map of Quake', ascii('IBSP'), /BSP/],
    ['text', new TextEncoder().encode('just some words\nand more'), /^text$/],
    ['a web page', new TextEncoder().encode('<!DOCTYPE html><title>404</title>'), /HTML/],
    ['zeros', new Uint8Array(5000), /zeros only/],
    ['noise', noise(5000), /no format that is known/],
  ])('%s', async (_what, bytes, looks) => {
    expect(identify(bytes.subarray(0, 4096), bytes.subarray(-4096), bytes.length)).toMatch(looks);
    await expect(openPak(bytesSource(bytes, 'thing.pak'))).rejects.toMatchObject({
      code: 'E_FORMAT_MAGIC',
      message: expect.stringMatching(looks.source === '^text$' ? /text/ : looks),
      hint: expect.stringContaining('unreal'),
    });
  });

  test('an Unreal PAK whose footer a game changed', async () => {
    const bytes = unrealPak([{ name: 'a', content: Buffer.from(deflateSync('x')) }], { version: 11 });
    const longer = new Uint8Array([...bytes, 1, 2, 3, 4, 5]);
    await expect(openPak(bytesSource(longer))).rejects.toMatchObject({
      code: 'E_FORMAT_MAGIC',
      message: expect.stringContaining('209 bytes before the end'),
    });
  });

  test('a file that lost its footer', () => {
    const bytes = noise(9000);
    bytes.fill(0, 4000);
    expect(identify(bytes.subarray(0, 4096), bytes.subarray(-4096), bytes.length)).toMatch(/remove the footer/);
  });
});

describe('the hint for a file without a magic', () => {
  const files = [{ name: 'a', content: 'b' }];
  const unreal = unrealPak([{ name: 'a', content: Buffer.from('b') }], { version: 11 });
  const magicAt = unreal.length - 204;

  test.each([
    ['quake', quakePak(files), 0],
    ['unreal', unreal, magicAt],
  ])('%s: it can be read without', async (family, bytes, at) => {
    const changed = bytes.slice();
    changed[at]! ^= 0x20;
    await expect(openPak(bytesSource(changed, 'x.bin'))).rejects.toMatchObject({
      code: 'E_FORMAT_MAGIC',
      hint: expect.stringMatching(new RegExp(`${family}.*--ignore-magic`)),
    });
    expect((await openPak(bytesSource(changed), { ignoreMagic: true })).family).toBe(family);
  });

  test('only of what is called a PAK it is said that it may be one all the same', async () => {
    const changed = unreal.slice().fill(0, magicAt, magicAt + 8);
    const broken = changed.slice().fill(0, magicAt + 16, magicAt + 24);
    const refused = (name: string, bytes = broken) =>
      openPak(bytesSource(bytes, name)).catch((error: PakratError) => error.hint);
    expect(await refused('x.pak')).toMatch(/--ignore-magic and --force-version/);
    expect(await refused('x.bin')).not.toMatch(/--/);
    expect(await refused('x.bin', changed)).toMatch(/--ignore-magic with --force-version 10 or 11/);
    const options = { ignoreMagic: true, forceVersion: 11 };
    expect((await openPak(bytesSource(changed), options)).entries).toHaveLength(1);
  });
});
