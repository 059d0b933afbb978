import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { DownloadFile } from '../../../src/builds/manifests/download-file.ts';
import { md5 } from '../../../src/core/hash.ts';
import { type DownloadShape, decodeDownload, encodeDownload } from '../../../src/formats/manifests/download.ts';
import { writeDerived } from '../../../src/store/derived/derived-writer.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const mask = Uint8Array.of(0xa5, 0x5a);
const tags = ['Windows', 'enUS'].map((name, type) => ({ name, type, mask }));

function bytesOf(shape: Partial<DownloadShape>, count: number): Uint8Array {
  const tagsOfAll = tags.map((tag) => ({ ...tag, mask: new Uint8Array(Math.ceil(count / 8)).fill(0xa5) }));
  function* entries() {
    for (let i = 0; i < count; i++) {
      const ekey = md5(Uint8Array.of(i, i >>> 8, i >>> 16));
      yield { ekey, size: i * 1000, priority: (i % 9) - 4, checksum: i * 7, flags: i % 256 };
    }
  }
  return encodeDownload({ ...shape, count, entries: entries(), tags: tagsOfAll });
}

let number = 0;

function fileOf(bytes: Uint8Array): string {
  number += 1;
  const path = scratch(`manifest-${number}`);
  writeDerived(path, bytes, scratch());
  return path;
}

const shapes: [string, Partial<DownloadShape>, number][] = [
  ['of version 1', { version: 1 }, 13],
  ['of version 1, with checksums', { version: 1, hasChecksum: true }, 8],
  ['of version 2, with flags', { version: 2, flagSize: 1, hasChecksum: true }, 1],
  ['of version 3, with a base priority', { version: 3, basePriority: -3 }, 9],
  ['of no entries', { version: 2 }, 0],
  ['of several parts', { version: 3, basePriority: 2 }, 300_000],
];

describe('a download manifest on disk', () => {
  test.each(shapes)('%s has what it has in memory', (_, shape, count) => {
    const bytes = bytesOf(shape, count);
    const whole = decodeDownload(bytes);
    const file = new DownloadFile(fileOf(bytes));
    expect(file.tags).toEqual(whole.tags);
    expect([file.count, file.basePriority, file.entrySize]).toEqual([count, whole.basePriority, whole.rows.stride]);
    const rows = Array.from(file.parts(), (part) => ({
      first: part.first,
      bytes: Buffer.from(part.rows.bytes.slice()),
    }));
    expect(Buffer.concat(rows.map((part) => part.bytes)).equals(whole.rows.bytes)).toBe(true);
    expect(rows.map(({ first }) => first)).toEqual(count > 1 << 18 ? [0, 1 << 18] : count > 0 ? [0] : []);
    let [i, wrong] = [0, 0];
    for (const { ekey, ...entry } of file.entries()) {
      const { ekey: expected, ...rest } = whole.entry(i);
      if (Buffer.compare(ekey, expected) !== 0 || JSON.stringify(entry) !== JSON.stringify(rest)) wrong += 1;
      i += 1;
    }
    expect([i, wrong]).toEqual([count, 0]);
    file.close();
  });

  test('that is cut, goes on, or is none is refused as in memory', () => {
    const bytes = bytesOf({ version: 3, basePriority: 1 }, 13);
    const wrong = [
      ...Array.from({ length: bytes.length }, (_, size) => bytes.subarray(0, size)),
      Buffer.concat([bytes, Uint8Array.of(0)]),
      Buffer.concat([Uint8Array.of(1), bytes]),
      // More entries than there can be, for as many bytes as it has.
      bytes.map((byte, at) => (at >= 5 && at < 9 ? 0xff : byte)),
    ];
    const codeOf = (work: () => unknown): string | undefined => {
      try {
        work();
        return undefined;
      } catch (error) {
        return (error as { code?: string }).code;
      }
    };
    for (const one of wrong) {
      const code = codeOf(() => decodeDownload(one));
      expect(code).toMatch(/^E_FORMAT/);
      expect(codeOf(() => new DownloadFile(fileOf(one)))).toBe(code);
    }
  });

  test('that is damaged is told of when it is opened, and removed', () => {
    const path = fileOf(bytesOf({ version: 1 }, 3000));
    const bytes = fs.readFileSync(path);
    bytes[40_000]! ^= 1;
    fs.writeFileSync(path, bytes);
    expect(() => new DownloadFile(path)).toThrow(expect.objectContaining({ code: 'E_FORMAT_CHECKSUM' }));
    expect(fs.existsSync(path)).toBe(false);
    expect(() => new DownloadFile(join(path, 'nowhere'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });
});
