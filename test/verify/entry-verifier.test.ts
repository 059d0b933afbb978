import { createCipheriv, createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { concatBytes } from '../../src/core/bytes.ts';
import { isPakratError } from '../../src/core/errors.ts';
import { md5, md5Hex } from '../../src/core/hash.ts';
import { encodeBlte } from '../../src/formats/blte/encode.ts';
import { type BlteRow, decodeBlteHeader, decodeBltePrefix, encodeBlteHeader } from '../../src/formats/blte/header.ts';
import { EntryVerifier } from '../../src/verify/entry-verifier.ts';
import { HashBuffer, type HashStream, type VerifiedSink } from '../../src/verify/hash-buffer.ts';
import { chunkedEntry, randomBytes, rawEntry, type TestEntry, wholeEntry } from '../fetch/archive.ts';
import { conformanceBytes, describeConformance } from '../support/conformance.ts';
import { aliveBufferBytes } from '../support/garbage.ts';
import { Kept } from './kept.ts';

const mebibyte = 1024 * 1024;

/** Where an entry can be verified up to: behind its header and each chunk, or only at its end. */
function boundaries({ bytes }: TestEntry, raw = false): number[] {
  if (raw || decodeBltePrefix(bytes) === 8) return [0, bytes.length];
  const header = decodeBlteHeader(bytes, bytes.length);
  const ends = Array.from({ length: header.count }, (_, i) => header.chunk(i).offset + header.chunk(i).encodedSize);
  return [0, header.dataOffset, ...ends];
}

/** Gives a verifier bytes, and has what is complete judged at once. */
function give(verifier: EntryVerifier, bytes: Uint8Array): void {
  verifier.push(bytes);
  verifier.flush();
}

function pushAll(verifier: EntryVerifier, bytes: Uint8Array, step: number): void {
  for (let at = 0; at < bytes.length; at += step) give(verifier, bytes.subarray(at, at + step));
}

const buffer = new HashBuffer();
let stream: HashStream | undefined;
/** A stream of its own; the one before is closed. */
function streamOf(sink: VerifiedSink): HashStream {
  stream?.close();
  stream = buffer.open(sink);
  return stream;
}

const verifierOf = (entry: TestEntry, sink: VerifiedSink, raw = false): EntryVerifier =>
  new EntryVerifier({ ekey: entry.ekey, size: entry.bytes.length, raw }, streamOf(sink));

const refused = expect.objectContaining({ code: expect.stringMatching(/^E_(INTEGRITY|FORMAT)/) });

/** Entries of every kind, small ones. */
const anyEntry: fc.Arbitrary<{ entry: TestEntry; raw: boolean }> = fc
  .record({
    size: fc.integer({ min: 0, max: 400 }),
    chunk: fc.integer({ min: 1, max: 90 }),
    seed: fc.nat(1000),
    kind: fc.constantFrom('table', 'table with decoded hashes', 'deflated', 'encrypted chunks', 'whole', 'raw'),
  })
  .map(({ size, chunk, seed, kind }) => {
    const data = randomBytes(size + 1, seed);
    const spec = `b:{${chunk}*=n}`;
    if (kind === 'raw') return { entry: rawEntry(size + 1, seed), raw: true };
    if (kind === 'whole') return { entry: wholeEntry(size, seed), raw: false };
    if (kind === 'deflated') return { entry: encodeBlte(data, `b:{${chunk}*=z}`), raw: false };
    if (kind === 'encrypted chunks') {
      const keys = { find: () => new Uint8Array(16) };
      return { entry: encodeBlte(data, `b:{${chunk}*=e:{fa505078126acb3e,01020304,n}}`, { keys }), raw: false };
    }
    if (kind === 'table') return { entry: encodeBlte(data, spec), raw: false };
    return { entry: encodeBlte(data, spec, { table: '0x10' }), raw: false };
  });

describeConformance('real objects', () => {
  test.each([1, 7, 1000, 1 << 20])('are verified in pieces of %d bytes', (step) => {
    const table = conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.blte');
    const whole = conformanceBytes('tact/heksesang-CascLib/data').subarray(30, 3656);
    const patch = conformanceBytes('tact/cascette-rs/zbsdiff/35dc55e39ec07e21e9f9dd83c41ec208.zbsdiff');
    for (const { entry, raw } of [
      { entry: { ekey: '2a6f1a538227094c04a4c364b1dda995', bytes: table }, raw: false },
      { entry: { ekey: 'ef25268fe3b67ecb2e5fc79052174a9d', bytes: whole }, raw: false },
      { entry: { ekey: '35dc55e39ec07e21e9f9dd83c41ec208', bytes: patch }, raw: true },
    ]) {
      const sink = new Kept(entry.bytes.length);
      const verifier = verifierOf(entry, sink, raw);
      pushAll(verifier, entry.bytes, step);
      expect(verifier.done).toBe(true);
      expect(sink.bytes).toEqual(new Uint8Array(entry.bytes));
    }
  });
});

describe('arriving in pieces', () => {
  test('what is verified grows from one boundary to the next, never further than what came, and only over right bytes', () => {
    fc.assert(
      fc.property(anyEntry, fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1 }), ({ entry, raw }, steps) => {
        const ends = boundaries(entry, raw);
        const sink = new Kept(entry.bytes.length);
        const verifier = verifierOf(entry, sink, raw);
        for (let at = 0, turn = 0; at < entry.bytes.length; turn++) {
          expect(verifier.done).toBe(false);
          const next = Math.min(at + steps[turn % steps.length]!, entry.bytes.length);
          give(verifier, entry.bytes.subarray(at, next));
          at = next;
          expect(verifier.verified).toBe(ends.findLast((end) => end <= at));
          expect(sink.end()).toBe(verifier.verified);
        }
        expect(verifier.done).toBe(true);
        expect(sink.bytes).toEqual(entry.bytes);
      }),
      { numRuns: 35 },
    );
  });

  test('bytes behind the end are refused, and what was verified stays', () => {
    for (const entry of [chunkedEntry(100, 40, 1), wholeEntry(100, 2)]) {
      const sink = new Kept(entry.bytes.length);
      const verifier = verifierOf(entry, sink);
      expect(() => give(verifier, concatBytes([entry.bytes, Uint8Array.of(0)]))).toThrow(refused);
      stream!.flush();
      expect(verifier.done).toBe(true);
      expect(sink.bytes).toEqual(entry.bytes);
    }
  });

  test('an empty piece changes nothing', () => {
    const entry = chunkedEntry(100, 40, 1);
    const verifier = verifierOf(entry, new Kept(entry.bytes.length));
    give(verifier, new Uint8Array());
    expect(verifier.verified).toBe(0);
    give(verifier, entry.bytes);
    give(verifier, new Uint8Array());
    expect(verifier.done).toBe(true);
  });

  test('chunks that decode to nothing are chunks', () => {
    const data = randomBytes(3, 1);
    const rows: BlteRow[] = [new Uint8Array(), data, new Uint8Array()].map((content) => {
      const encoded = concatBytes([Uint8Array.of(0x4e), content]);
      return {
        encodedSize: encoded.length,
        decodedSize: content.length,
        md5: md5(encoded),
        decodedMd5: md5(content),
      };
    });
    const header = encodeBlteHeader({ format: 0x0f, rows });
    const bytes = concatBytes([header, Uint8Array.of(0x4e, 0x4e), data, Uint8Array.of(0x4e)]);
    const sink = new Kept(bytes.length);
    const verifier = verifierOf({ ekey: md5Hex(header), bytes }, sink);
    pushAll(verifier, bytes, 1);
    expect(verifier.done).toBe(true);
  });
});

describe('resuming', () => {
  test('goes on at the last boundary that is held, for every number of bytes held', () => {
    fc.assert(
      fc.property(
        anyEntry,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 99 }),
        ({ entry, raw }, share, step) => {
          const ends = boundaries(entry, raw);
          const hasTable = ends.length > 2 || (!raw && decodeBltePrefix(entry.bytes) !== 8);
          const held = Math.floor(share * entry.bytes.length);
          const sink = new Kept(entry.bytes.length);
          const verifier = verifierOf(entry, sink, raw);
          const at = verifier.resume(held, (size) => entry.bytes.subarray(0, Math.min(size, held)));
          expect(at).toBe(hasTable ? ends.findLast((end) => end <= held) : 0);
          expect(verifier.verified).toBe(at);
          pushAll(verifier, entry.bytes.subarray(at), step);
          expect(verifier.done).toBe(true);
          // Nothing is written again, and nothing is left out.
          expect(sink.end(at)).toBe(entry.bytes.length);
          expect(sink.bytes.subarray(at)).toEqual(entry.bytes.subarray(at));
        },
      ),
      { numRuns: 35 },
    );
  });

  test('goes on at every boundary of an entry', () => {
    const entry = chunkedEntry(1000, 100, 3);
    for (const boundary of boundaries(entry)) {
      const verifier = verifierOf(entry, new Kept(entry.bytes.length));
      expect(verifier.resume(boundary, (size) => entry.bytes.subarray(0, size))).toBe(boundary);
    }
  });

  test('an entry that is held whole is done', () => {
    const entry = chunkedEntry(1000, 100, 3);
    const verifier = verifierOf(entry, new Kept(entry.bytes.length));
    verifier.resume(entry.bytes.length, (size) => entry.bytes.subarray(0, size));
    expect(verifier.done).toBe(true);
  });

  test('starts anew when the header that is held is not what it was', () => {
    const entry = chunkedEntry(1000, 100, 3);
    const headerSize = decodeBltePrefix(entry.bytes);
    for (let i = 0; i < headerSize; i++) {
      const damaged = entry.bytes.slice();
      damaged[i]! ^= 1;
      const sink = new Kept(entry.bytes.length);
      const verifier = verifierOf(entry, sink);
      expect(verifier.resume(500, (size) => damaged.subarray(0, size))).toBe(0);
      give(verifier, entry.bytes);
      expect(sink.bytes).toEqual(entry.bytes);
    }
  });

  test('starts anew when the file is shorter than the ledger says, or cannot be read', () => {
    const entry = chunkedEntry(1000, 100, 3);
    const verifier = verifierOf(entry, new Kept(entry.bytes.length));
    expect(verifier.resume(500, () => new Uint8Array())).toBe(0);
    expect(
      verifier.resume(500, () => {
        throw new Error('EIO');
      }),
    ).toBe(0);
    give(verifier, entry.bytes);
    expect(verifier.done).toBe(true);
  });
});

describe('wrong bytes', () => {
  test('every single byte changed is caught, and nothing wrong is given on', () => {
    for (const { entry, raw } of [
      { entry: chunkedEntry(200, 60, 5), raw: false },
      { entry: wholeEntry(200, 6), raw: false },
      { entry: rawEntry(200, 7), raw: true },
      { entry: encodeBlte(randomBytes(100, 8), 'b:{50*=n}', { table: '0x10' }), raw: false },
    ]) {
      for (let i = 0; i < entry.bytes.length; i++) {
        const wrong = entry.bytes.slice();
        wrong[i]! ^= i % 2 === 0 ? 0x01 : 0x80;
        const sink = new Kept(entry.bytes.length);
        const verifier = verifierOf(entry, sink, raw);
        expect(() => pushAll(verifier, wrong, 13)).toThrow(refused);
        expect(verifier.done).toBe(false);
        const end = sink.end();
        expect(end).toBe(verifier.verified);
        expect(end).toBeLessThanOrEqual(i);
        expect(sink.bytes.subarray(0, end)).toEqual(entry.bytes.subarray(0, end));
      }
    }
  });

  test('a right object with another key is refused from its header on', () => {
    const entry = chunkedEntry(300, 100, 1);
    const other = chunkedEntry(300, 100, 2);
    const sink = new Kept(entry.bytes.length);
    expect(() => give(verifierOf(entry, sink), other.bytes)).toThrow(
      expect.objectContaining({ code: 'E_INTEGRITY', data: expect.objectContaining({ ekey: entry.ekey }) }),
    );
    expect(sink.writes).toEqual([]);
  });

  test.each([-1, 1, 20])('an entry that is listed with a size %d bytes off is never whole', (off) => {
    for (const entry of [chunkedEntry(300, 100, 1), wholeEntry(300, 2)]) {
      const sink = new Kept(entry.bytes.length + 20);
      const verifier = new EntryVerifier({ ekey: entry.ekey, size: entry.bytes.length + off }, streamOf(sink));
      const bytes = concatBytes([entry.bytes, new Uint8Array(20)]).subarray(0, entry.bytes.length + off);
      expect(() => pushAll(verifier, bytes, 50)).toThrow(refused);
      expect(verifier.done).toBe(false);
      expect(sink.writes).toEqual([]);
    }
  });

  test('an entry that ends where its header does is cut, and never whole', () => {
    const { bytes, ekey } = chunkedEntry(300, 100, 1);
    const { headerSize } = decodeBlteHeader(bytes);
    for (const step of [1, 8, headerSize]) {
      const sink = new Kept(bytes.length);
      const verifier = new EntryVerifier({ ekey, size: headerSize }, streamOf(sink));
      expect(() => pushAll(verifier, bytes.subarray(0, headerSize), step)).toThrow(refused);
      expect(verifier.done).toBe(false);
      expect(sink.writes).toEqual([]);
    }
  });

  test('a size that no entry has is refused at once', () => {
    for (let size = 0; size < 9; size++) {
      expect(() => new EntryVerifier({ ekey: '0'.repeat(32), size }, streamOf(new Kept(0)))).toThrow(refused);
    }
  });

  test('a table with a chunk of no bytes is malformed, wherever it stands, and does not hang', () => {
    const row = (encoded: Uint8Array): BlteRow => ({
      encodedSize: encoded.length,
      decodedSize: 0,
      md5: md5(encoded),
      decodedMd5: new Uint8Array(16),
    });
    const [none, one] = [row(new Uint8Array()), row(Uint8Array.of(0x4e))];
    for (const rows of [
      [none, one],
      [one, none],
      [one, none, none, one],
    ]) {
      const header = encodeBlteHeader({ format: 0x0f, rows });
      const bytes = concatBytes([header, new Uint8Array(rows.filter((each) => each === one).length).fill(0x4e)]);
      const verifier = verifierOf({ ekey: md5Hex(header), bytes }, new Kept(bytes.length));
      expect(() => give(verifier, bytes)).toThrow(refused);
      expect(verifier.verified).toBe(0);
    }
  });

  test('a header that claims to be huge is refused before it is waited for', () => {
    const size = 400 * mebibyte;
    const prefix = concatBytes([new TextEncoder().encode('BLTE'), Uint8Array.of(0x10, 0, 0, 0x0c)]);
    const verifier = new EntryVerifier({ ekey: '0'.repeat(32), size }, streamOf(new Kept(0)));
    expect(() => give(verifier, prefix)).toThrow(refused);
  });

  test('random bytes give an error of ours, never another', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 9, maxLength: 200 }), fc.boolean(), (bytes, magic) => {
        if (magic) bytes.set(new TextEncoder().encode('BLTE'));
        const verifier = new EntryVerifier(
          { ekey: '0'.repeat(32), size: bytes.length },
          streamOf(new Kept(bytes.length)),
        );
        try {
          pushAll(verifier, bytes, 7);
          throw new Error('taken for right');
        } catch (error) {
          if (!isPakratError(error)) throw error;
        }
        expect(verifier.verified).toBe(0);
      }),
      { numRuns: 35 },
    );
  });
});

describe('large chunks', () => {
  test.each([
    ['a chunk', (size: number) => encodeBlte(randomBytes(size, 1), `b:{${size}=n}`)],
    ['an entry without a table', (size: number) => wholeEntry(size, 2)],
  ])('%s of more than 16 MiB waits on disk, a smaller one in memory', (_, make) => {
    for (const { size, spooled } of [
      { size: 16 * mebibyte - 100, spooled: false },
      { size: 16 * mebibyte + 100_000, spooled: true },
    ]) {
      const entry = make(size);
      const sink = new Kept(entry.bytes.length);
      const verifier = verifierOf(entry, sink);
      pushAll(verifier, entry.bytes.subarray(0, -1), 300_000);
      expect(verifier.verified).toBeLessThan(100);
      expect(sink.spools.map((spool) => spool.size > 16 * mebibyte)).toEqual(spooled ? [true] : []);
      give(verifier, entry.bytes.subarray(-1));
      expect(verifier.done).toBe(true);
      expect(Buffer.compare(sink.bytes, entry.bytes)).toBe(0);
      expect(sink.spools.every(({ closed }) => closed)).toBe(true);
    }
  });

  test('a wrong one is dropped, and its spool with it', () => {
    const entry = wholeEntry(17 * mebibyte, 3);
    const sink = new Kept(entry.bytes.length);
    const verifier = verifierOf(entry, sink);
    const wrong = entry.bytes.slice();
    wrong[5 * mebibyte]! ^= 1;
    expect(() => pushAll(verifier, wrong, 500_000)).toThrow(refused);
    verifier.close();
    expect(sink.writes).toEqual([]);
    expect(sink.spools).toEqual([{ size: entry.bytes.length, closed: true }]);
  });

  test('memory stays flat over one of 192 MiB', () => {
    const size = 192 * mebibyte;
    const piece = 256 * 1024;
    // The same bytes twice, without holding them: once for the hash, once to be verified.
    function* content(): Generator<Buffer> {
      const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16));
      yield cipher.update(Buffer.alloc(1)).fill(0x4e);
      for (let at = 1; at < size; at += piece) yield cipher.update(Buffer.alloc(Math.min(piece, size - at)));
    }
    const hash = createHash('md5');
    for (const bytes of content()) hash.update(bytes);
    const rows = [{ encodedSize: size, decodedSize: size - 1, md5: hash.digest(), decodedMd5: new Uint8Array(16) }];
    const header = encodeBlteHeader({ format: 0x0f, rows });
    let spooled = 0;
    let written = 0;
    const sink: VerifiedSink = {
      write: (_, bytes) => {
        written += bytes.length;
      },
      spool: () => ({
        append: (bytes) => {
          spooled += bytes.length;
        },
        replay: (take) => {
          for (let at = 0; at < size; at += piece) take(new Uint8Array(Math.min(piece, size - at)));
        },
        close: () => {},
      }),
    };
    const verifier = new EntryVerifier({ ekey: md5Hex(header), size: header.length + size }, streamOf(sink));
    give(verifier, header);
    const before = aliveBufferBytes();
    let [most, pieces] = [0, 0];
    for (const bytes of content()) {
      give(verifier, bytes);
      if (pieces++ % 64 === 0) most = Math.max(most, aliveBufferBytes() - before);
    }
    expect(verifier.done).toBe(true);
    expect([spooled, written]).toEqual([size, header.length + size]);
    expect(most).toBeLessThan(32 * mebibyte);
  });
});
