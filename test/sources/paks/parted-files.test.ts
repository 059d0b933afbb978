import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { PakratError } from '../../../src/core/errors.ts';
import { openPak } from '../../../src/paks/index.ts';
import type { Pak } from '../../../src/paks/pak.ts';
import { writeUnrealPak } from '../../../src/paks/unreal/write/write.ts';
import { type ExtractResult, extractFiles } from '../../../src/sources/extract/extract.ts';
import { pakSource } from '../../../src/sources/paks/pak-source.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const size = 52_000_001;
const content = Buffer.alloc(size, 'a text that repeats itself, line by line\n');
for (let at = 0; at < size - 4; at += 4096) content.writeUInt32LE(at, at);

/** A PAK of Unreal with a large file and a small one. */
async function largePak(): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const files = [
    { name: 'large.bin', size, mtime: new Date(1e12), open: () => pieces(content) },
    { name: 'small.txt', size: 5, open: () => pieces(Buffer.from('small')) },
  ];
  await writeUnrealPak(
    files,
    { write: async (bytes) => void parts.push(bytes.slice()) },
    { version: 3, compress: 'zlib' },
  );
  return new Uint8Array(Buffer.concat(parts));
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function extract(bytes: Uint8Array, to: string, change = (pak: Pak): Pak => pak): Promise<ExtractResult> {
  const pak = change(await openPak(bytesSource(bytes)));
  return extractFiles(pakSource(pak, 'large.pak'), { names: [], to });
}

/** The PAK with some of it changed. */
function changed(pak: Pak, changes: Partial<Pak>): Pak {
  return new Proxy(pak, {
    get(target, name) {
      const value: unknown = Reflect.get(name in changes ? changes : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('a large file is read in parts of whole blocks, which make the whole', async () => {
  const to = scratch('whole');
  const ranges: [number, number][] = [];
  const result = await extract(await largePak(), to, (pak) =>
    changed(pak, {
      readRange(entry, offset, size) {
        ranges.push([offset, size]);
        return pak.readRange!(entry, offset, size);
      },
    }),
  );
  expect(result).toEqual({ files: 2, bytes: size + 5, skipped: 0, failed: [] });
  expect(ranges.length).toBeGreaterThan(3);
  for (const [offset] of ranges) expect(offset % 65_536).toBe(0);
  expect(ranges.reduce((sum, [, one]) => sum + one, 0)).toBe(size);
  expect(readFileSync(join(to, 'large.bin')).equals(content)).toBe(true);
  expect(readdirSync(to).sort()).toEqual(['large.bin', 'small.txt']);
});

test('damage in one part leaves nothing of the file, and what stood there stays', async () => {
  const bytes = await largePak();
  bytes[bytes.length >> 1]! ^= 0x10;
  const to = scratch('damaged');
  mkdirSync(to);
  writeFileSync(join(to, 'large.bin'), 'old');
  const result = await extract(bytes, to);
  expect(result.failed).toMatchObject([{ name: 'large.bin', code: expect.stringMatching(/^E_FORMAT/) }]);
  expect(result.files).toBe(1);
  expect(readdirSync(to).sort()).toEqual(['large.bin', 'small.txt']);
  expect(readFileSync(join(to, 'large.bin'), 'utf8')).toBe('old');
});

test('what ends everything takes the parts away, too', async () => {
  const to = scratch('aborted');
  const stop = new AbortController();
  const pak = await openPak(bytesSource(await largePak()));
  let seen: string[] = [];
  const source = pakSource(
    changed(pak, {
      async *readRange(entry, offset, size) {
        yield* pak.readRange!(entry, offset, Math.min(size, 1000));
        seen = readdirSync(to);
        stop.abort(new PakratError('E_ABORTED', 'interrupted'));
        yield new Uint8Array(1);
      },
    }),
    'large.pak',
  );
  await expect(extractFiles(source, { names: [], to, signal: stop.signal })).rejects.toMatchObject({
    code: 'E_ABORTED',
  });
  expect(seen).toEqual([expect.stringMatching(/^\.pakrat-.*\.tmp$/)]);
  expect(readdirSync(to)).toEqual([]);
});

test('times are set on a file of parts', async () => {
  const to = scratch('times');
  const mtime = new Date(1_234_567_000_000);
  await extract(await largePak(), to, (pak) => {
    const { method, storedSize } = pak.entries[0]!;
    const entry = { index: 0, name: 'large.bin', size, storedSize, method, encrypted: false, mtime };
    return changed(pak, { entries: [entry] });
  });
  expect(statSync(join(to, 'large.bin')).mtimeMs).toBe(mtime.getTime());
});
