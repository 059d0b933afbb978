import * as fs from 'node:fs';
import { expect, test } from '@jest/globals';
import { hasOtherNames, ownFile } from '../../../src/files/copies/own-file.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const at = (name: string): string => scratch(name);
const replacing = { temporary: at('tmp'), alone: (work: () => void): void => work() };

/** A file with a hole and a second name. */
function linkedFile(name: string): { file: string; other: string; bytes: Buffer } {
  const [file, other] = [at(name), at(`${name}.other`)];
  const bytes = Buffer.concat([Buffer.from('begin'), Buffer.alloc(3 << 20), Buffer.from('end')]);
  const fd = fs.openSync(file, 'w');
  fs.writeSync(fd, 'begin', 0);
  fs.writeSync(fd, 'end', bytes.length - 3);
  fs.closeSync(fd);
  fs.linkSync(file, other);
  return { file, other, bytes };
}

test('a file with another name is replaced by a copy: the same bytes, the same holes, the other name untouched', () => {
  const { file, other, bytes } = linkedFile('a');
  fs.chmodSync(file, 0o444);
  ownFile(file, replacing);
  expect(hasOtherNames(file)).toBe(false);
  expect(fs.readFileSync(file).equals(bytes)).toBe(true);
  expect(fs.statSync(file).blocks).toBeLessThan(bytes.length / 512 / 4);
  expect(fs.statSync(file).mode & 0o200).toBe(0o200);
  fs.writeFileSync(file, 'changed');
  expect(fs.readFileSync(other).equals(bytes)).toBe(true);
  expect(fs.readdirSync(at('tmp'))).toEqual([]);
});

test('a file with one name stays what it is, and one that is not there stays away', () => {
  fs.writeFileSync(at('b'), 'b');
  const { ino } = fs.statSync(at('b'));
  ownFile(at('b'), replacing);
  expect(fs.statSync(at('b')).ino).toBe(ino);
  ownFile(at('none'), replacing);
  expect(fs.existsSync(at('none'))).toBe(false);
});

test('of two that copy a file the second leaves what the first wrote', () => {
  const { file } = linkedFile('c');
  const alone = (work: () => void): void => {
    ownFile(file, replacing);
    fs.writeFileSync(file, 'of the first');
    work();
  };
  ownFile(file, { ...replacing, alone });
  expect(fs.readFileSync(file, 'utf8')).toBe('of the first');
});
