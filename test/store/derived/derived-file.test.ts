import * as fs from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { DerivedFile, damagedFile, readDerived } from '../../../src/store/derived/derived-file.ts';
import { writeDerived } from '../../../src/store/derived/derived-writer.ts';
import { randomSource } from '../../support/hostile.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const random = randomSource(3);
const content = Uint8Array.from({ length: 20_000 }, () => Math.floor(random() * 256));
const path = scratch('one.ids');
const write = (bytes: Uint8Array = content, of?: number): void =>
  writeDerived(path, bytes, scratch('tmp'), { pageSize: 4000, of });

/** The file that the error of some work says is damaged. */
function damageOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return damagedFile(error) ?? String(error);
  }
}

/** Opens the file and reads all of it, in small pieces. */
function readAll(): Uint8Array {
  const file = new DerivedFile(path, { keep: true });
  try {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < file.size; at += 777) pieces.push(file.read(at, Math.min(777, file.size - at)));
    return new Uint8Array(Buffer.concat(pieces));
  } finally {
    file.close();
  }
}

describe('a derived file', () => {
  test.each([4000, 8000, 30_000])(
    'is read into memory of %i bytes where that is enough, checked all the same',
    (size) => {
      write();
      const memory = new Uint8Array(size);
      const file = new DerivedFile(path, { keep: true });
      for (let at = 0; at < file.size; at += 777) {
        const bytes = file.read(at, Math.min(777, file.size - at), memory);
        expect(Buffer.compare(bytes, content.subarray(at, at + 777))).toBe(0);
      }
      const damaged = fs.readFileSync(path);
      damaged[9000]! ^= 1;
      fs.writeFileSync(path, damaged);
      expect(damageOf(() => file.read(8500, 100, memory))).toBe(path);
      file.close();
    },
  );

  test.each([0, 1, 3999, 4000, 4001, 20_000])(
    'of %i bytes is read back, begins with its content, and nothing lies behind it',
    (size) => {
      write(content.subarray(0, size));
      expect(Buffer.compare(readAll(), content.subarray(0, size))).toBe(0);
      expect(Buffer.compare(readDerived(path), content.subarray(0, size))).toBe(0);
      expect(Buffer.compare(fs.readFileSync(path).subarray(0, size), content.subarray(0, size))).toBe(0);
      const file = new DerivedFile(path);
      expect(() => file.read(size, 1)).toThrow(expect.objectContaining({ code: 'E_FORMAT_TRUNCATED' }));
      expect(() => file.read(0, 2 ** 40)).toThrow(expect.objectContaining({ code: 'E_FORMAT_TRUNCATED' }));
      file.close();
    },
  );

  test('a flipped bit anywhere is told by what reads it, and by the check of all', () => {
    write();
    const whole = fs.readFileSync(path);
    for (let i = 0; i < 600; i++) {
      const bytes = Buffer.from(whole);
      // The footer is gone through byte by byte, the rest at random.
      const at = i < 100 ? whole.length - 1 - i : Math.floor(random() * whole.length);
      bytes[at]! ^= 1 << (i % 8);
      fs.writeFileSync(path, bytes);
      expect(damageOf(readAll)).toBe(path);
      expect(damageOf(() => [...new DerivedFile(path, { keep: true }).checkAll()])).toBe(path);
    }
  });

  test('so is one that is cut, empty, longer, without a footer, or a folder', () => {
    write();
    const whole = fs.readFileSync(path);
    for (const size of [0, 1, 27, 28, 20_000, whole.length - 29, whole.length - 1]) {
      fs.writeFileSync(path, whole.subarray(0, size));
      expect(damageOf(readAll)).toBe(path);
    }
    fs.writeFileSync(path, Buffer.concat([whole, Buffer.of(0)]));
    expect(damageOf(readAll)).toBe(path);
    fs.writeFileSync(path, content);
    expect(damageOf(() => readDerived(path))).toBe(path);
    fs.mkdirSync(path);
    expect(damageOf(() => readDerived(path))).toBe(path);
    expect(fs.existsSync(path)).toBe(false);
  });

  test('one that is another file under this name, or belongs to another file, is not believed', () => {
    write();
    fs.renameSync(path, scratch('two.ids'));
    expect(damageOf(() => readDerived(scratch('two.ids')))).toBe(scratch('two.ids'));
    write(content, 7);
    const { mark } = new DerivedFile(path, { of: 7 });
    expect(damageOf(() => new DerivedFile(path, { of: 8, keep: true }))).toBe(path);
    write(content.subarray(1));
    expect(new DerivedFile(path).mark).not.toBe(mark);
  });

  test('what is damaged is removed, so that it is made again; unless it is to be kept', () => {
    write();
    const file = new DerivedFile(path);
    const bytes = fs.readFileSync(path);
    bytes[5000]! ^= 4;
    fs.writeFileSync(path, bytes);
    expect(damageOf(() => [...new DerivedFile(path, { keep: true }).checkAll()])).toBe(path);
    expect(fs.existsSync(path)).toBe(true);
    expect([...file.read(0, 4000)]).toEqual([...content.subarray(0, 4000)]);
    expect(damageOf(() => file.read(4000, 1))).toBe(path);
    expect(fs.existsSync(path)).toBe(false);
    file.close();
  });
});
