import * as fs from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mergeSpans, type Span } from '../../../src/store/spans.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { describeTmpfs, withTmpfs } from '../../support/tmpfs.ts';
import { systemError, watchFs } from '../../support/watched-fs.ts';
import { randomBytes } from '../archive.ts';

const scratch = scratchFolder();
const watched = watchFs(scratch());
const { SpanWriter } = await import('../../../src/fetch/transfer/span-writer.ts');
type Writer = InstanceType<typeof SpanWriter>;

const mebibyte = 1024 * 1024;
const truth = randomBytes(20 * mebibyte, 1);
const part = (start: number, end: number): Uint8Array => truth.subarray(start, end);

let number = 0;
let name: string;
let file: string;
let reported: Span[];

beforeEach(() => {
  watched.fail = () => undefined;
  watched.beforeFlush = async () => {};
  watched.mostPerWrite = Number.POSITIVE_INFINITY;
  watched.log = [];
  number += 1;
  name = `d${number}/archive`;
  file = scratch(name);
  reported = [];
});

/** A writer that notes in the log when it reports. */
function writer(): Writer {
  return new SpanWriter({ file }, scratch('tmp'), (spans) => {
    watched.log.push(`report ${spans.map(({ start, end }) => `${start}-${end}`).join(' ')}`);
    reported.push(...spans);
  });
}

/** What is reported must be on disk and right, and must have been flushed before. */
function expectHonest(): void {
  const found = fs.existsSync(file) ? fs.readFileSync(file) : Buffer.alloc(0);
  for (const { start, end } of mergeSpans(reported)) {
    if (!found.subarray(start, end).equals(Buffer.from(part(start, end)))) throw new Error(`${start}-${end} is wrong`);
  }
  let flushed = -1;
  for (const [i, line] of watched.log.entries()) {
    if (line === `fdatasync ${name}`) flushed = i;
    if (line.startsWith('report') && flushed === -1) throw new Error('reported before any flush');
  }
}

describe('reporting', () => {
  test('nothing before the flush; new names are flushed before anything is written', async () => {
    const spans = writer();
    spans.write(100, part(100, 300));
    expect(reported).toEqual([]);
    await spans.finish();
    expect(watched.log.filter((line) => !/^(open|close)/.test(line))).toEqual([
      `mkdir d${number}`,
      `fsync d${number}`,
      'fsync .',
      `write ${name}`,
      `fdatasync ${name}`,
      'report 100-300',
    ]);
    expectHonest();
  });

  test('what is written while a flush runs waits for the next one', async () => {
    let release = (): void => {};
    let flushes = 0;
    watched.beforeFlush = () => {
      flushes += 1;
      return flushes === 1
        ? new Promise((resolve) => {
            release = resolve;
          })
        : Promise.resolve();
    };
    const spans = writer();
    // The sixteenth mebibyte starts a flush.
    for (let i = 0; i < 17; i++) spans.write(i * mebibyte, part(i * mebibyte, (i + 1) * mebibyte));
    expect(flushes).toBe(1);
    spans.write(18 * mebibyte, part(18 * mebibyte, 19 * mebibyte));
    expect(reported).toEqual([]);
    const finished = spans.finish();
    release();
    await finished;
    const reports = watched.log.filter((line) => /^(fdatasync|report)/.test(line));
    expect(reports).toEqual([
      `fdatasync ${name}`,
      `report 0-${16 * mebibyte}`,
      `fdatasync ${name}`,
      `report ${16 * mebibyte}-${17 * mebibyte} ${18 * mebibyte}-${19 * mebibyte}`,
    ]);
    expectHonest();
  });

  test('any pieces in any order end as the right bytes, reported once each', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 0, max: 60 })), { maxLength: 30, size: 'max' }),
        async (pieces) => {
          number += 1;
          name = `d${number}/archive`;
          file = scratch(name);
          reported = [];
          watched.log = [];
          const spans = writer();
          for (const [start, size] of pieces) spans.write(start, part(start, start + size));
          await spans.finish();
          expect(mergeSpans(reported)).toEqual(
            mergeSpans(pieces.map(([start, size]) => ({ start, end: start + size }))),
          );
          expectHonest();
        },
      ),
      { numRuns: 30 },
    );
  });

  test('nothing to write makes no file', async () => {
    await writer().finish();
    expect(watched.log).toEqual([]);
    expect(fs.existsSync(file)).toBe(false);
  });

  test('short writes go on where they stopped', async () => {
    watched.mostPerWrite = 7;
    const spans = writer();
    spans.write(10, part(10, 100));
    await spans.finish();
    expect(reported).toEqual([{ start: 10, end: 100 }]);
    expectHonest();
  });

  test('the rest of the file stays as it is', async () => {
    fs.mkdirSync(scratch(`d${number}`));
    fs.writeFileSync(file, truth.subarray(0, 1000));
    const spans = writer();
    expect(spans.size).toBe(1000);
    expect(Buffer.from(spans.read(500, 10)).equals(Buffer.from(part(500, 510)))).toBe(true);
    expect(spans.read(995, 10)).toHaveLength(5);
    spans.write(1200, part(1200, 1300));
    await spans.finish();
    expect(
      fs
        .readFileSync(file)
        .subarray(0, 1000)
        .equals(Buffer.from(part(0, 1000))),
    ).toBe(true);
    expectHonest();
  });
});

describe('adoption', () => {
  test('bytes that were there are flushed before they are reported, and not written', async () => {
    fs.mkdirSync(scratch(`d${number}`));
    fs.writeFileSync(file, truth.subarray(0, 1000));
    const spans = writer();
    spans.adopt(100, 150);
    expect(reported).toEqual([]);
    await spans.finish();
    expect(watched.log.filter((line) => !/^(open|close)/.test(line))).toEqual([`fdatasync ${name}`, 'report 100-250']);
  });
});

describe('failure', () => {
  test.each([
    ['ENOSPC', 'E_STORE_FULL'],
    ['EIO', 'E_STORE'],
    ['EFBIG', 'E_STORE'],
  ])('a write that fails with %s is %s, and its bytes are not reported', async (code, expected) => {
    const spans = writer();
    watched.fail = (call) => (call === 'write' ? systemError(code) : undefined);
    expect(() => spans.write(0, part(0, 100))).toThrow(expect.objectContaining({ code: expected }));
    await expect(spans.finish()).rejects.toMatchObject({ code: expected });
    expect(reported).toEqual([]);
  });

  test('what was written before the disk was full is flushed and reported all the same', async () => {
    const spans = writer();
    spans.write(0, part(0, 2 * mebibyte));
    watched.fail = (call) => (call === 'write' ? systemError('ENOSPC') : undefined);
    expect(() => spans.write(3 * mebibyte, part(3 * mebibyte, 5 * mebibyte))).toThrow(
      expect.objectContaining({ code: 'E_STORE_FULL' }),
    );
    watched.fail = () => undefined;
    expect(() => spans.write(6 * mebibyte, part(0, 1))).toThrow(expect.objectContaining({ code: 'E_STORE_FULL' }));
    await expect(spans.finish()).rejects.toMatchObject({ code: 'E_STORE_FULL' });
    expect(reported).toEqual([{ start: 0, end: 2 * mebibyte }]);
    expectHonest();
  });

  test('a flush that is under way when a write fails is waited for before the file is closed', async () => {
    let release = (): void => {};
    watched.beforeFlush = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    const spans = writer();
    for (let i = 0; i < 16; i++) spans.write(i * mebibyte, part(i * mebibyte, (i + 1) * mebibyte));
    watched.fail = (call) => (call === 'write' ? systemError('ENOSPC') : undefined);
    expect(() => spans.write(17 * mebibyte, part(17 * mebibyte, 18 * mebibyte - 1))).toThrow();
    const finished = spans.finish().then(
      () => 'done',
      (error: { code: string }) => error.code,
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(watched.log).not.toContain(`close ${name}`);
    release();
    expect(await finished).toBe('E_STORE_FULL');
    expect(watched.log.slice(-3)).toEqual([`fdatasync ${name}`, `report 0-${16 * mebibyte}`, `close ${name}`]);
  });

  test('a flush that failed is not tried again: a second one may succeed with the bytes lost', async () => {
    let flushes = 0;
    let release = (): void => {};
    watched.beforeFlush = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    watched.fail = (call) => {
      if (call !== 'fdatasync') return undefined;
      flushes += 1;
      return flushes === 1 ? systemError('EIO') : undefined;
    };
    const spans = writer();
    for (let i = 0; i < 17; i++) spans.write(i * mebibyte, part(i * mebibyte, (i + 1) * mebibyte));
    const finished = spans.finish();
    release();
    await expect(finished).rejects.toMatchObject({ code: 'E_STORE' });
    expect(flushes).toBe(1);
    expect(reported).toEqual([]);
    expect(() => spans.write(0, part(0, 1))).toThrow(expect.objectContaining({ code: 'E_STORE' }));
  });

  test.each(['open', 'mkdir', 'fsync'] as const)(
    'a file that cannot be made (%s) is the store’s trouble',
    async (failing) => {
      watched.fail = (call) => (call === failing ? systemError('EACCES') : undefined);
      const spans = writer();
      expect(() => spans.write(0, part(0, 100))).toThrow(expect.objectContaining({ code: 'E_STORE' }));
      await expect(spans.finish()).rejects.toMatchObject({ code: 'E_STORE' });
      expect(reported).toEqual([]);
    },
  );
});

describe('the spool', () => {
  test('gives back what was put in, in pieces, and leaves no name behind', async () => {
    const spans = writer();
    const spool = spans.spool();
    expect(fs.readdirSync(scratch('tmp'))).toEqual([]);
    for (let at = 0; at < 5_000_000; at += 123_457) spool.append(part(at, Math.min(at + 123_457, 5_000_000)));
    const pieces: Uint8Array[] = [];
    spool.replay((piece) => pieces.push(piece));
    spool.close();
    expect(Buffer.concat(pieces).equals(Buffer.from(part(0, 5_000_000)))).toBe(true);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(mebibyte);
    await spans.finish();
  });

  test.each(['open', 'write'] as const)('a full disk is told as such (%s)', (failing) => {
    const spans = writer();
    watched.fail = (call) => (call === failing ? systemError('ENOSPC') : undefined);
    expect(() => spans.spool().append(part(0, 10))).toThrow(expect.objectContaining({ code: 'E_STORE_FULL' }));
  });
});

describeTmpfs('a disk that is full', () => {
  test('ends with E_STORE_FULL; what was reported is there, and there is room to go on afterwards', async () => {
    await withTmpfs('2m', async (folder, resize) => {
      file = `${folder}/data/archive`;
      const first = writer();
      for (let at = 0; at < 4 * mebibyte; at += 100_000) {
        try {
          first.write(at, part(at, at + 100_000));
        } catch (error) {
          expect(error).toMatchObject({ code: 'E_STORE_FULL' });
          break;
        }
      }
      await expect(first.finish()).rejects.toMatchObject({ code: 'E_STORE_FULL' });
      expect(mergeSpans(reported)).toEqual([{ start: 0, end: expect.any(Number) }]);
      expect(mergeSpans(reported)[0]!.end).toBeLessThanOrEqual(2 * mebibyte);
      expectRight();
      resize('16m');
      const second = writer();
      second.write(2 * mebibyte, part(2 * mebibyte, 4 * mebibyte));
      await second.finish();
      expectRight();
    });
  });
});

function expectRight(): void {
  const found = fs.readFileSync(file);
  for (const { start, end } of reported) {
    expect(found.subarray(start, end).equals(Buffer.from(part(start, end)))).toBe(true);
  }
}
