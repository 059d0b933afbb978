import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { writeUnrealPak } from '../../src/paks/unreal/write/write.ts';
import { mountSource } from '../../src/sources/mount/mount.ts';
import { packFile as nadeoFile, packBytes } from '../paks/nadeo/synthetic.ts';
import { packed, packFile } from '../support/pak-sources.ts';
import { unrealPak } from '../support/pak-unreal.ts';
import { quakePak } from '../support/quake-pak.ts';
import { runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* What a person is told when a PAK is odd, and of its inside. */

const scratch = scratchFolder();
const files = [packFile('a.txt', 'AAAA'), packFile('b.txt', 'B')];
const unreal = (version: number | string): Promise<Uint8Array> =>
  packed((sink) => writeUnrealPak(files, sink, { version }));

function write(name: string, bytes: Uint8Array): string {
  writeFileSync(scratch(name), bytes);
  return scratch(name);
}

const infoOf = (path: string): Promise<Record<string, unknown>> =>
  withPakrat({}, async (pakrat) => (await pakrat.open(path)).info());
const failureOf = (path: string, pak = {}): Promise<{ code: string; hint: string }> =>
  withPakrat({}, (pakrat) => pakrat.open(path, { pak })).then(
    () => Promise.reject(new Error('it was opened')),
    (error) => error,
  );

describe('a footer that a game changed', () => {
  const changed = async (change: (footer: DataView) => void): Promise<Uint8Array> => {
    const bytes = await unreal(7);
    change(new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 44));
    return bytes;
  };
  test.each<[string, (footer: DataView) => void, string[], object]>([
    ['its magic', (footer) => footer.setUint32(0, 0x12345678, true), ['--ignore-magic'], { ignoreMagic: true }],
    ['its version', (footer) => footer.setUint32(4, 0, true), ['--force-version', '7'], { forceVersion: 7 }],
    [
      'both',
      (footer) => {
        footer.setUint32(0, 0x12345678, true);
        footer.setUint32(4, 99, true);
      },
      ['--ignore-magic', '--force-version', '7'],
      { ignoreMagic: true, forceVersion: 7 },
    ],
  ])('%s: the hint names what reads it, and it does', async (label, change, words, pak) => {
    const path = write(`${label}.pak`, await changed(change));
    const { hint } = await failureOf(path);
    for (const word of words) expect(hint).toContain(word);
    await withPakrat({}, async (pakrat) => {
      const source = await pakrat.open(path, { pak });
      expect(Buffer.from(await source.bytes('a.txt')).toString()).toBe('AAAA');
    });
  });
});

describe('info', () => {
  test('tells the hash of the index, and gaps between entries', async () => {
    const bytes = await unreal(11);
    const { indexHash } = await infoOf(write('whole.pak', bytes));
    expect(indexHash).toBe(Buffer.from(bytes.subarray(bytes.length - 221 + 17 + 24).subarray(0, 20)).toString('hex'));
    expect(await infoOf(scratch('whole.pak'))).toMatchObject({ unusedBytes: 0, fragments: 0 });
    const quake = quakePak([
      { name: 'a', content: 'AAAA' },
      { name: 'b', content: 'BB' },
      { name: 'c', content: 'C' },
    ]);
    // The second entry goes: its bytes stay.
    const view = new DataView(quake.buffer, quake.byteOffset);
    view.setInt32(12 + 7 + 64 + 60, 0, true);
    expect(await infoOf(write('gap.pak', quake))).toMatchObject({ unusedBytes: 2, fragments: 1 });
    const nadeo = await packBytes([nadeoFile('a.txt', 'text')], { version: 8 });
    expect(await infoOf(write('n.Pack.Gbx', nadeo))).toMatchObject({ unusedBytes: 0, headerMd5: expect.any(String) });
  });

  test('has a GUID of the key only where the format has one', async () => {
    for (const version of [3, 5])
      expect(await infoOf(write('old.pak', await unreal(version)))).not.toHaveProperty('keyGuid');
    expect(await infoOf(write('new.pak', await unreal(7)))).toMatchObject({ keyGuid: '0'.repeat(32) });
  });
});

test('ls has the offset of each entry, in every family', async () => {
  const nadeo = await packBytes([nadeoFile('a.txt', 'AAAA')], { version: 8 });
  for (const [name, bytes] of Object.entries({
    'o.quake.pak': quakePak([{ name: 'a.txt', content: 'AAAA' }]),
    'o.unreal3.pak': await unreal(3),
    'o.unreal11.pak': await unreal(11),
    'o.nadeo.pak': nadeo,
  })) {
    await withPakrat({}, async (pakrat) => {
      for await (const { name: entry, facts } of (await pakrat.open(write(name, bytes))).list()) {
        const offset = facts.offset as number;
        if (entry === 'a.txt') expect(Buffer.from(bytes.subarray(offset, offset + 4)).toString()).toBe('AAAA');
      }
    });
  }
});

describe('Oodle', () => {
  const path = (): string =>
    write(
      'oodle.pak',
      unrealPak(
        [
          {
            name: 'a.bin',
            content: Buffer.from('A'.repeat(9)),
            blocks: [Buffer.from('oodle')],
            method: 1,
            blockSize: 9,
          },
        ],
        {
          version: 11,
          methods: ['Oodle'],
        },
      ),
    );

  test('extract says what to do, as cat does', async () => {
    const { failed } = await withPakrat({}, (pakrat) => pakrat.extract(path(), { to: scratch('oodle') }));
    expect(failed).toMatchObject([{ code: 'E_UNSUPPORTED', hint: expect.stringContaining('npm install ooz-wasm') }]);
    const { stdout, status } = runPakrat(['extract', path(), '--to', scratch('oodle')]);
    expect({ status, told: stdout.includes('Try this: Install the optional package ooz-wasm') }).toEqual({
      status: 6,
      told: true,
    });
  });

  test('a decoder that lies beside the project in whose folder it runs is taken', () => {
    const library = scratch('project', 'node_modules', 'ooz-wasm');
    mkdirSync(scratch('project', 'deep'), { recursive: true });
    mkdirSync(library, { recursive: true });
    writeFileSync(`${library}/package.json`, '{"name":"ooz-wasm","type":"module","exports":"./index.js"}');
    writeFileSync(
      `${library}/index.js`,
      'await 0; export const decompress = (bytes, size) => new Uint8Array(size).fill(0x41);',
    );
    const run = runPakrat(['cat', path(), 'a.bin'], { cwd: scratch('project', 'deep') });
    expect(run).toMatchObject({ status: 0, stdout: 'A'.repeat(9) });
  });
});

test('mount says of a folder that it is not empty', async () => {
  mkdirSync(scratch('full'));
  writeFileSync(scratch('full', 'x'), '');
  await withPakrat({}, async (pakrat) => {
    const source = await pakrat.open(write('m.pak', await unreal(11)));
    const work = {
      folder: 'full',
      path: scratch('full'),
      signal: new AbortController().signal,
      temporary: scratch('names'),
      fuse: class {},
    };
    await expect(mountSource(source as never, work as never)).rejects.toMatchObject({
      code: 'E_USAGE',
      message: expect.stringContaining('is not empty'),
    });
  });
});

test('mount looks at its folder before it looks for what is to be mounted', () => {
  mkdirSync(scratch('used'));
  writeFileSync(scratch('used', 'x'), '');
  const said = (folder: string): string => runPakrat(['mount', scratch('nothing.pak'), folder]).stderr;
  expect(said(scratch('used'))).toMatch(/used is not empty: x is in it\nCode: E_USAGE/);
  expect(said(scratch('used', 'x'))).toMatch(/x is a file, a folder is needed\nCode: E_USAGE/);
  expect(existsSync(scratch('new'))).toBe(false);
  expect(said(scratch('new'))).not.toContain('not empty');
  expect(existsSync(scratch('new'))).toBe(false);
});

test('a Paks folder names what is left out, and how to have it', async () => {
  mkdirSync(scratch('Paks'));
  const key = new Uint8Array(32).fill(7);
  const sealed = await packed((sink) => writeUnrealPak(files, sink, { version: 11, key, encryptIndex: true }));
  writeFileSync(scratch('Paks', 'a.pak'), await unreal(11));
  writeFileSync(scratch('Paks', 'b.pak'), sealed);
  const { notes } = await infoOf(scratch('Paks'));
  expect(notes).toEqual([
    expect.stringMatching(/b\.pak is left out: .*no AES key was given\. Give the key of the game with --key/),
  ]);
});
