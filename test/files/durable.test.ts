import * as fs from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { scratchFolder } from '../support/scratch.ts';
import { systemError, watchFs } from '../support/watched-fs.ts';

const scratch = scratchFolder();
const root = scratch();
const watched = watchFs(root);
const {
  DurableFile,
  makeFolderDurable,
  moveDurable,
  storeError,
  syncFolder,
  writeAll,
  writeFileDurable,
  writeFilesDurable,
} = await import('../../src/files/durable.ts');

const bytes = new TextEncoder().encode('what must not be lost');
let number = 0;
let folder: string;

beforeEach(() => {
  watched.fail = () => undefined;
  number += 1;
  folder = `case${number}`;
  fs.mkdirSync(scratch(folder));
  watched.log = [];
});

/** The log without opening and closing, temporary names made plain. */
const story = (): string[] =>
  watched.log
    .filter((line) => !/^(open|close) /.test(line))
    .map((line) =>
      line
        .replaceAll(`${folder}/`, '')
        .replaceAll(folder, '.')
        .replace(/tmp\/\S+\.tmp/, 'tmp/name'),
    );

describe('writeFilesDurable', () => {
  const write = (...names: string[]): Promise<void> =>
    writeFilesDurable(
      names.map((name) => ({ path: scratch(folder, name), bytes })),
      scratch(folder, 'tmp'),
    );

  test('all bytes are on disk before any name, and new folders before what is put into them', async () => {
    fs.mkdirSync(scratch(folder, 'tmp'));
    await write('a/one', 'two', 'a/three');
    const name = 'tmp/name';
    expect(story()).toEqual([
      `write ${name}`,
      `write ${name}`,
      `write ${name}`,
      `fsync ${name}`,
      `fsync ${name}`,
      `fsync ${name}`,
      'mkdir a',
      'fsync .',
      `rename ${name} a/one`,
      `rename ${name} two`,
      `rename ${name} a/three`,
      'fsync a',
      'fsync .',
    ]);
    for (const file of ['a/one', 'two', 'a/three'])
      expect(fs.readFileSync(scratch(folder, file))).toEqual(Buffer.from(bytes));
    expect(fs.readdirSync(scratch(folder, 'tmp'))).toEqual([]);
  });

  test.each(['open', 'write', 'fsync', 'mkdir', 'rename'])(
    'a %s that fails leaves nothing under a temporary name',
    async (failing) => {
      fs.mkdirSync(scratch(folder, 'tmp'));
      let left = 1;
      watched.fail = (call) => (call === failing && left-- === 0 ? systemError('ENOSPC') : undefined);
      await expect(write('a/one', 'b/two')).rejects.toThrow(expect.objectContaining({ code: 'E_STORE_FULL' }));
      expect(fs.readdirSync(scratch(folder, 'tmp'))).toEqual([]);
    },
  );

  test('no files are no work', async () => {
    await write();
    expect(story()).toEqual([]);
  });
});

describe('writeFileDurable', () => {
  const write = (name: string): void => writeFileDurable(scratch(folder, name), bytes, scratch(folder, 'tmp'));

  test('the bytes are on disk before the name, and the name before it returns', () => {
    fs.mkdirSync(scratch(folder, 'tmp'));
    write('file');
    expect(story()).toEqual(['write tmp/name', 'fsync tmp/name', 'rename tmp/name file', 'fsync .']);
    expect(fs.readFileSync(scratch(folder, 'file'))).toEqual(Buffer.from(bytes));
    expect(fs.readdirSync(scratch(folder, 'tmp'))).toEqual([]);
  });

  test('new folders are on disk before what is put into them', () => {
    write('a/b/file');
    expect(story()).toEqual([
      'mkdir tmp',
      'fsync .',
      'write tmp/name',
      'fsync tmp/name',
      'mkdir a',
      'mkdir a/b',
      'fsync .',
      'fsync a',
      'rename tmp/name a/b/file',
      'fsync a/b',
    ]);
  });

  test('an old file stays whole until the new one takes its name', () => {
    fs.writeFileSync(scratch(folder, 'file'), 'old');
    watched.fail = (call) => (call === 'rename' ? systemError('EIO') : undefined);
    expect(() => write('file')).toThrow(expect.objectContaining({ code: 'E_STORE' }));
    expect(fs.readFileSync(scratch(folder, 'file'), 'utf8')).toBe('old');
  });

  test.each([
    ['write', 'ENOSPC', 'E_STORE_FULL'],
    ['write', 'EDQUOT', 'E_STORE_FULL'],
    ['write', 'EIO', 'E_STORE'],
    ['write', 'EFBIG', 'E_STORE'],
    ['fsync', 'EIO', 'E_STORE'],
    ['fsync', 'ENOSPC', 'E_STORE_FULL'],
    ['open', 'EMFILE', 'E_STORE'],
    ['open', 'EACCES', 'E_STORE'],
    ['open', 'EROFS', 'E_STORE'],
    ['rename', 'EXDEV', 'E_STORE'],
    ['mkdir', 'ENOSPC', 'E_STORE_FULL'],
  ] as const)('when %s fails with %s it is %s, and nothing is left behind', (call, code, expected) => {
    watched.fail = (found) => (found === call ? systemError(code) : undefined);
    expect(() => write('file')).toThrow(expect.objectContaining({ code: expected, cause: expect.anything() }));
    expect(fs.existsSync(scratch(folder, 'file'))).toBe(false);
    const temporary = scratch(folder, 'tmp');
    expect(fs.existsSync(temporary) ? fs.readdirSync(temporary) : []).toEqual([]);
  });
});

describe('DurableFile', () => {
  const MiB = 1 << 20;

  test.each([
    ['small pieces in few writes', Array.from({ length: 1000 }, () => 5000), 6],
    ['a large piece at once', [3 * MiB], 1],
    ['large pieces between small ones', [1, 20_000, 5, MiB, MiB + 1, 0, 16_384, 7, MiB - 1], 6],
    ['nothing', [], 0],
  ])('%s', (_, sizes, writes) => {
    const pieces = sizes.map((size, i) => Buffer.alloc(size, i));
    const file = new DurableFile(scratch(folder, 'tmp'));
    // Whoever appends may use its memory again.
    const memory = Buffer.alloc(3 * MiB);
    for (const piece of pieces) {
      memory.set(piece);
      file.append(memory.subarray(0, piece.length));
    }
    file.finish(scratch(folder, 'file'));
    file.close();
    expect(fs.readFileSync(scratch(folder, 'file')).equals(Buffer.concat(pieces))).toBe(true);
    expect(story().filter((line) => line.startsWith('write '))).toHaveLength(writes);
  });
});

describe('moveDurable', () => {
  test('the folder is flushed behind the new name', () => {
    fs.writeFileSync(scratch(folder, 'from'), bytes);
    moveDurable(scratch(folder, 'from'), scratch(folder, 'x', 'to'));
    expect(story()).toEqual(['mkdir x', 'fsync .', 'rename from x/to', 'fsync x']);
  });
});

describe('makeFolderDurable', () => {
  test('does nothing when it is there', () => {
    makeFolderDurable(scratch(folder));
    expect(watched.log).toEqual([]);
  });

  test('another process that is first does not matter', () => {
    watched.fail = (call, path) => {
      if (call !== 'mkdir') return undefined;
      fs.mkdirSync(scratch(path));
      return systemError('EEXIST');
    };
    makeFolderDurable(scratch(folder, 'new'));
    expect(story()).toEqual(['fsync .']);
  });
});

test('syncFolder flushes and closes', () => {
  syncFolder(scratch(folder));
  expect(watched.log).toEqual([`open ${folder}`, `fsync ${folder}`, `close ${folder}`]);
});

test('a short write goes on where it stopped', () => {
  watched.mostPerWrite = 4;
  const file = scratch(folder, 'short');
  const fd = fs.openSync(file, 'w+');
  writeAll(fd, bytes, 3);
  fs.closeSync(fd);
  watched.mostPerWrite = Number.POSITIVE_INFINITY;
  expect(watched.log).toHaveLength(Math.ceil(bytes.length / 4));
  expect(fs.readFileSync(file)).toEqual(Buffer.concat([Buffer.alloc(3), bytes]));
});

test('what is no error of the system comes back as it is', () => {
  for (const error of [new TypeError('bug'), undefined, 'text', Object.assign(new Error(), { code: 'E_INTEGRITY' })]) {
    expect(storeError(error, '/x')).toBe(error);
  }
});
