import { describe, expect, test } from '@jest/globals';
import { formatError } from '../../src/core/errors.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { encodeBlte } from '../../src/formats/blte/encode.ts';
import { decodeBlteHeader } from '../../src/formats/blte/header.ts';
import { type CheckedEntry, checkEntries, type EntryToCheck } from '../../src/verify/check-entries.ts';
import { chunkedEntry, rawEntry, type TestEntry, wholeEntry } from '../fetch/archive.ts';

/** An entry with the bytes that a reader finds of it. */
interface FoundEntry extends EntryToCheck {
  bytes: Uint8Array;
}

const found = ({ ekey, bytes }: TestEntry, more: Partial<FoundEntry> = {}): FoundEntry => ({
  ekey,
  size: bytes.length,
  bytes,
  ...more,
});
const read = ({ bytes }: FoundEntry, offset: number, size: number): Uint8Array => {
  if (offset + size <= bytes.length) return bytes.subarray(offset, offset + size);
  throw formatError('E_FORMAT_TRUNCATED', 'entry', 'the file ends');
};
const check = async (...entries: FoundEntry[]): Promise<CheckedEntry<FoundEntry>[]> =>
  (await collect(checkEntries(entries, read))).flat();
async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
const flipped = (bytes: Uint8Array, at: number): Uint8Array => {
  const copy = bytes.slice();
  copy.set([copy.at(at)! ^ 0x40], at);
  return copy;
};
/** Where the chunks of an entry begin, and its end. */
const bounds = (bytes: Uint8Array): number[] => {
  const header = decodeBlteHeader(bytes);
  const chunks = Array.from({ length: header.count }, (_, i) => header.chunk(i));
  return [...chunks.map(({ offset }) => offset), bytes.length];
};

const chunked = chunkedEntry(50_000, 10_000, 1);
const whole = wholeEntry(20_000, 2);
const raw = rawEntry(5000, 3);

describe('checkEntries', () => {
  test('passes what is right: with chunks, without, a patch, one larger than the pieces that are read', async () => {
    const large = chunkedEntry(3_500_000, 1_000_000, 4);
    const entries = [found(chunked), found(whole), found(raw, { raw: true }), found(large)];
    expect(await check(...entries)).toEqual(
      entries.map((entry) => ({ entry, right: entry.bytes.length, problem: undefined })),
    );
  });

  test('a wrong chunk is the problem, and what lies before it is right', async () => {
    const [, , third = 0] = bounds(chunked.bytes);
    const [checked] = await check(found(chunked, { bytes: flipped(chunked.bytes, third + 100) }));
    expect(checked).toMatchObject({ right: third, problem: { code: 'E_INTEGRITY' } });
    expect(checked?.problem?.message).toContain('chunk 2');
  });

  test('of an entry without chunks, and of a patch, nothing is right when a byte is wrong', async () => {
    const wrong = await check(
      found(whole, { bytes: flipped(whole.bytes, 15_000) }),
      found(raw, { raw: true, bytes: flipped(raw.bytes, 4999) }),
    );
    expect(wrong).toMatchObject([
      { right: 0, problem: { code: 'E_INTEGRITY' } },
      { right: 0, problem: { code: 'E_INTEGRITY' } },
    ]);
  });

  test('a key of which only the first digits are known is enough, and it is checked', async () => {
    const partial = (entry: TestEntry): FoundEntry => found(entry, { ekey: entry.ekey.slice(0, 18) });
    const partly = await check(partial(chunked), partial(whole));
    expect(partly.map(({ problem }) => problem)).toEqual([undefined, undefined]);
    const swapped = await check(
      found(chunked, { ekey: whole.ekey.slice(0, 18) }),
      found(whole, { ekey: chunked.ekey.slice(0, 18) }),
    );
    expect(swapped).toMatchObject([
      { right: 0, problem: { code: 'E_INTEGRITY' } },
      { right: 0, problem: { code: 'E_INTEGRITY' } },
    ]);
  });

  test('a file that is cut is a problem of its entry; the entries behind it are checked all the same', async () => {
    const [, second = 0] = bounds(chunked.bytes);
    const checked = await check(found(chunked, { bytes: chunked.bytes.subarray(0, second + 1) }), found(whole));
    expect(checked).toMatchObject([
      { problem: { code: 'E_FORMAT_TRUNCATED', message: expect.stringContaining('the file ends') } },
      { right: whole.bytes.length, problem: undefined },
    ]);
  });

  test('of an entry that is held in part only that part is read; it must end where a chunk does', async () => {
    const [, , third = 0] = bounds(chunked.bytes);
    const cut = (held: number): FoundEntry => found(chunked, { held, bytes: chunked.bytes.subarray(0, held) });
    expect(await check(cut(third))).toMatchObject([{ right: third, problem: undefined }]);
    expect(await check(cut(third + 7))).toMatchObject([
      { right: third, problem: { code: 'E_INTEGRITY', message: expect.stringContaining('7 bytes have no hash yet') } },
    ]);
  });

  test('what is no BLTE, or too small for one, is a problem by its name', async () => {
    const html = new TextEncoder().encode('<html>there is nothing here</html>');
    const checked = await check(
      found({ ekey: md5Hex(html), bytes: html }),
      found({ ekey: chunked.ekey, bytes: html.slice(0, 4) }),
    );
    expect(checked.map(({ right }) => right)).toEqual([0, 0]);
    expect(checked.map(({ problem }) => problem?.code)).toEqual([expect.stringMatching(/^E_FORMAT/), 'E_INTEGRITY']);
  });

  test('many come back in their order, those that are wrong among them, though they are judged in batches', async () => {
    const small = Array.from({ length: 700 }, (_, i) =>
      encodeBlte(new TextEncoder().encode(`content ${i} `.repeat(1 + (i % 90))), i % 3 === 0 ? 'n' : 'b:{100*=n}'),
    );
    const wrong = new Set([0, 13, 255, 256, 257, 511, 512, 699]);
    const entries = small.map((entry, i) =>
      found(entry, wrong.has(i) ? { bytes: flipped(entry.bytes, entry.bytes.length - 1) } : {}),
    );
    const checked = await check(...entries);
    expect(checked.map(({ entry }) => entry)).toEqual(entries);
    expect(checked.flatMap(({ problem }, i) => (problem === undefined ? [] : [i]))).toEqual([...wrong]);
  });

  test('an error that is none of ours ends the check', async () => {
    const broken = (): Uint8Array => {
      throw new TypeError('a bug');
    };
    await expect(collect(checkEntries([found(chunked)], broken))).rejects.toThrow('a bug');
  });

  test('an interruption ends the check, and is no fault of the entry', async () => {
    const signal = AbortSignal.abort();
    await expect(collect(checkEntries([found(chunked)], read, { signal }))).rejects.toMatchObject({
      code: 'E_ABORTED',
    });
  });

  test('whoever stops asking leaves nothing open for the next', async () => {
    const many = Array.from({ length: 300 }, (_, i) => found(i % 2 === 0 ? chunked : whole));
    for await (const batch of checkEntries(many, read)) {
      expect(batch.map(({ problem }) => problem)).not.toContainEqual(expect.anything());
      expect(batch.length).toBeLessThan(many.length);
      break;
    }
    expect(await check(found(whole))).toMatchObject([{ problem: undefined }]);
  });
});
