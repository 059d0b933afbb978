import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { fromHex } from '../../../src/core/bytes.ts';
import { openPak, type PakOptions } from '../../../src/paks/index.ts';
import { type PakSource, pakSource } from '../../../src/sources/paks/pak-source.ts';
import { conformanceBytes, conformancePath, describeConformance } from '../../support/conformance.ts';
import { quakePak } from '../../support/quake-pak.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

async function openSource(path: string, options: PakOptions = {}): Promise<PakSource> {
  return pakSource(await openPak(path, options), path);
}

async function names(source: PakSource): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of source.list(() => true)) found.push(name);
  return found;
}

async function sha256(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

interface Truth {
  name: string;
  size: number;
  sha256: string;
}

interface Fixture {
  path: string[];
  options: PakOptions;
  files: Truth[];
  /** What the source can do beside reading whole files. */
  can: { raw: boolean; ranges: boolean };
}

function expected(folder: string): Record<string, Record<string, unknown>> {
  return JSON.parse(readFileSync(conformancePath('pak', folder, 'expected.json'), 'utf8')) as never;
}

function fixtures(): Fixture[] {
  const quake = Object.entries(expected('quake')).map(([file, { files }]) => ({
    path: ['pak', 'quake', file],
    options: {},
    files: files as Truth[],
    can: { raw: false, ranges: true },
  }));
  const key = (
    JSON.parse(readFileSync(conformancePath('pak', 'unreal', 'repak', 'crypto.json'), 'utf8')) as {
      EncryptionKey: { Key: string };
    }
  ).EncryptionKey.Key;
  const unreal = Object.entries(expected('unreal'))
    .filter(([file]) => file.startsWith('repak/') || file.startsWith('u4pak/'))
    .map(([file, { files }]) => ({
      path: ['pak', 'unreal', ...file.split('/')],
      options: { keys: [new Uint8Array(Buffer.from(key, 'base64'))] },
      files: Object.entries(files as Record<string, { usize: number; sha256: string }>).map(([name, truth]) => ({
        name,
        size: truth.usize,
        sha256: truth.sha256,
      })),
      can: { raw: false, ranges: true },
    }));
  const { 'Synth.pak': synth } = expected('nadeo');
  const nadeo = {
    path: ['pak', 'nadeo', 'Synth.pak'],
    options: { keys: [fromHex(synth!.baseKey as string)] },
    // The feedback of Multi.bin is known to the test that made it, and to no reader.
    files: Object.entries(synth!.files as Record<string, Truth>)
      .filter(([name]) => !name.endsWith('Multi.bin') && !name.startsWith('__'))
      .map(([name, truth]) => ({ name: name.replaceAll('\\', '/'), size: truth.size, sha256: truth.sha256 })),
    can: { raw: true, ranges: false },
  };
  return [...quake, ...unreal, nadeo];
}

describeConformance('every family, as a source', () => {
  const all = fixtures().map((fixture) => [fixture.path.slice(1).join('/'), fixture] as const);

  test.each(all)('%s lists, finds and reads what is in it', async (_, { path, options, files, can }) => {
    const source = await openSource(conformancePath(...path), options);
    expect(await names(source)).toEqual(expect.arrayContaining(files.map(({ name }) => name)));
    for (const { name, size, sha256: content } of files) {
      const entry = await source.get(name);
      expect({ size: entry.size, content: await sha256(source.read(entry)) }).toEqual({ size, content });
      expect(entry.facts).toMatchObject({ storedSize: expect.any(Number), method: expect.any(String) });
    }
    expect(await source.info()).toMatchObject({ kind: 'pak', family: path[1], entries: expect.any(Number) });
    await expect(source.get('there/is/none')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect({ raw: source.readRaw !== undefined, ranges: source.readRange !== undefined }).toEqual(can);
    await source.close();
  });

  test('listing reads the directory, and reading one file that file', async () => {
    const bytes = conformanceBytes('pak', 'quake', 'quakespasm.pak');
    let read = 0;
    const counting = {
      ...bytesSource(bytes),
      read: async (offset: number, size: number) => {
        read += size;
        return bytes.subarray(offset, offset + size);
      },
    };
    const source = pakSource(await openPak(counting), 'quakespasm.pak');
    expect(await names(source)).toHaveLength(8);
    expect(read).toBeLessThan(2 * 4096 + 12 + 512 + 22 + 1);
    read = 0;
    await sha256(source.read(await source.get('maps/e1m1@c49d.ent')));
    expect(read).toBe(26334);
    read = 0;
    await sha256(source.readRange!(await source.get('gfx/conback.lmp'), 300_000, 100));
    expect(read).toBe(100);
  });

  test('a folder of Unreal PAKs is one source, its patch in front', async () => {
    const source = await openSource(conformancePath('pak', 'unreal', 'cue4parse'));
    const name = 'CUE4ParseFixtures/Content/PatchFixtures/DA_PatchTarget.uasset';
    expect(await source.get(name)).toMatchObject({ origin: 'CUE4ParseFixtures-PatchBase_0_P.pak', hidden: undefined });
    await source.close();
  });

  test('a pack whose directory is locked still says what it is', async () => {
    const source = await openSource(conformancePath('pak', 'unreal', 'repak', 'pack_v11_encryptindex.pak'));
    expect(await source.info()).toMatchObject({ family: 'unreal', version: '11', encryptedIndex: true });
    await expect(names(source)).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
    await source.close();
  });
});

test('duplicates are rows of their own; the first has the name, every one has its number', async () => {
  const pak = quakePak([
    { name: 'a.txt', content: 'first' },
    { name: 'a.txt', content: 'second' },
  ]);
  const source = pakSource(await openPak(bytesSource(pak)), 'x');
  expect(await names(source)).toEqual(['a.txt', 'a.txt']);
  const text = async (name: string): Promise<string> => {
    let all = '';
    for await (const piece of source.read(await source.get(name))) all += Buffer.from(piece).toString();
    return all;
  };
  expect(await text('a.txt')).toBe('first');
  expect(await text('index:1')).toBe('second');
  expect((await source.get('index:1')).facts).toMatchObject({ index: 1, hidden: 'shadowed' });
  expect(await source.info()).toMatchObject({ entries: 2, hidden: 1, bytes: 11 });
});

test('what is no PAK is told for what it is, and what is not there', async () => {
  await expect(openPak(bytesSource(new TextEncoder().encode('PK\x03\x04 and more')))).rejects.toMatchObject({
    code: 'E_FORMAT_MAGIC',
    message: expect.stringContaining('ZIP'),
  });
  await expect(openPak(scratch('none'))).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  await expect(openPak(scratch())).rejects.toMatchObject({ code: 'E_FORMAT_MAGIC' });
});
