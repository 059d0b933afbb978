import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { md5Hex } from '../../../src/core/hash.ts';
import { applyZbsdiff, makeZbsdiff } from '../../../src/formats/patches/zbsdiff.ts';
import { conformanceBytes, conformancePath, conformanceTool, describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe, randomSource } from '../../support/hostile.ts';
import { codeOf } from '../../support/thrown-code.ts';
import { makeSyntheticCdn } from '../roots/synthetic-cdn.ts';

const maxSize = 1 << 20;

describeConformance('real patches', () => {
  const folder = 'tact/cascette-rs/zbsdiff';
  const real = (name: string) => conformanceBytes(folder, name);

  test.each([
    ['35dc55e39ec07e21e9f9dd83c41ec208', 9811, 9847],
    ['b3c9bd1bcc8d6e581f70b50b300ec446', 2535, 2567],
  ])('%s makes the new file out of the old', (key, oldSize, newSize) => {
    const manifest = JSON.parse(readFileSync(conformancePath('tact/MANIFEST.json'), 'utf8'));
    const { checked, peer_expects } = manifest[`cascette-rs/zbsdiff/${key}.zbsdiff`];
    const patch = real(`${key}.zbsdiff`);
    expect(md5Hex(patch)).toBe(key);
    expect(real(`${key}.old`).length).toBe(oldSize);
    const made = applyZbsdiff(real(`${key}.old`), patch, { maxSize });
    expect(made.length).toBe(newSize);
    expect(md5Hex(made)).toBe(checked.new_md5);
    expect(md5Hex(made)).toBe(peer_expects.target_ckey);
  });

  test('one whose old file is not there still gives its size, old bytes counting as zero', () => {
    const patch = real('7b2fff0a969b2d50769496700cadc603.zbsdiff');
    expect(applyZbsdiff(new Uint8Array(0), patch, { maxSize }).length).toBe(8982);
  });

  test('hostile forms of a real one', () => {
    const key = 'b3c9bd1bcc8d6e581f70b50b300ec446';
    const old = real(`${key}.old`);
    expectHostileSafe((patch) => applyZbsdiff(old, patch, { maxSize }), real(`${key}.zbsdiff`));
  });
});

describeConformance('patches of a generator that is not ours', () => {
  test('old content and patch make the target', () => {
    const cdn = makeSyntheticCdn();
    const rows = new Map(cdn.truth('build-b').map((row) => [row.ckey, row]));
    let applied = 0;
    for (const entry of cdn.truth('patches')) {
      let patch: Uint8Array;
      try {
        patch = cdn.raw('patch', entry.patch_ekey!);
      } catch {
        continue; // in an archive
      }
      const row = rows.get(entry.target_ckey!)!;
      const locale = row.locale === '-' ? [] : ['--locale', row.locale!];
      const options = ['--name', row.name!, '--kind', row.kind!, '--size', row.size1!, ...locale];
      const old = new Uint8Array(
        execFileSync('python3', [conformanceTool('gencdn.py'), 'content', '--seed', '1', ...options]),
      );
      expect(md5Hex(patch)).toBe(entry.patch_ekey);
      expect(md5Hex(applyZbsdiff(old, patch, { maxSize }))).toBe(entry.target_ckey);
      expect(md5Hex(applyZbsdiff(old, makeZbsdiff(old, applyZbsdiff(old, patch, { maxSize })), { maxSize }))).toBe(
        entry.target_ckey,
      );
      applied++;
    }
    cdn.remove();
    expect(applied).toBeGreaterThan(3);
  });
});

describe('making and applying', () => {
  const bytes = (seed: number, size: number) => {
    const random = randomSource(seed);
    return Uint8Array.from({ length: size }, () => Math.floor(random() * 256));
  };
  const base = bytes(1, 5000);
  const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
  test.each<[string, Uint8Array, Uint8Array]>([
    ['the same file', base, base],
    ['out of nothing', new Uint8Array(0), base],
    ['into nothing', base, new Uint8Array(0)],
    ['nothing into nothing', new Uint8Array(0), new Uint8Array(0)],
    ['bytes put in', base, join(base.subarray(0, 700), bytes(2, 33), base.subarray(700))],
    ['bytes taken out', base, join(base.subarray(0, 700), base.subarray(900))],
    ['bytes changed', base, join(base.subarray(0, 700), bytes(3, 20), base.subarray(720))],
    ['all changed, longer', base, bytes(4, 9000)],
    ['all changed, shorter', base, bytes(5, 10)],
    ['cut at the start', base, base.subarray(1000)],
    ['doubled', base, join(base, base)],
    ['a run of one byte, longer', new Uint8Array(50), new Uint8Array(77)],
  ])('%s', (_, old, made) => {
    const patch = makeZbsdiff(old, made);
    expect(applyZbsdiff(old, patch, { maxSize })).toEqual(made);
  });

  test('one edit makes a small patch', () => {
    expect(makeZbsdiff(base, join(base.subarray(0, 700), bytes(2, 33), base.subarray(700))).length).toBeLessThan(150);
  });
});

/** A patch out of numbers with a sign bit, written here and not by our writer. */
function patchOf(triples: [bigint, bigint, bigint][], diff: number[], extra: number[], newSize: bigint): Uint8Array {
  const control = Buffer.alloc(triples.length * 24);
  for (const [i, number] of triples.flat().entries()) {
    control.writeBigUInt64LE(number < 0n ? -number | (1n << 63n) : number, i * 8);
  }
  const streams = [control, Buffer.from(diff), Buffer.from(extra)].map((stream) => deflateSync(stream));
  const head = Buffer.alloc(32, 'ZBSDIFF1');
  for (const [i, number] of [BigInt(streams[0]!.length), BigInt(streams[1]!.length), newSize].entries()) {
    head.writeBigUInt64LE(number < 0n ? -number | (1n << 63n) : number, 8 + i * 8);
  }
  return new Uint8Array(Buffer.concat([head, ...streams]));
}

describe('control numbers', () => {
  const old = Uint8Array.of(10, 20, 30, 40);
  const apply = (triples: [bigint, bigint, bigint][], diff: number[], extra: number[], newSize: number) =>
    applyZbsdiff(old, patchOf(triples, diff, extra, BigInt(newSize)), { maxSize });

  test('a seek back, and sums modulo 256', () => {
    const triples: [bigint, bigint, bigint][] = [
      [4n, 1n, -3n],
      [2n, 0n, 0n],
    ];
    expect([...apply(triples, [1, 0, 0, 250, 5, 6], [99], 7)]).toEqual([11, 20, 30, 34, 99, 25, 36]);
  });

  test('old bytes outside the old file count as zero', () => {
    const triples: [bigint, bigint, bigint][] = [
      [0n, 1n, -2n],
      [4n, 0n, 100n],
      [1n, 0n, 0n],
    ];
    expect([...apply(triples, [1, 2, 3, 4, 5], [7], 6)]).toEqual([7, 1, 2, 13, 24, 5]);
  });

  test('a zero with its sign bit set', () => {
    const patch = patchOf([[1n, 0n, 1n << 63n]], [1], [], 1n);
    expect([...applyZbsdiff(old, patch, { maxSize })]).toEqual([11]);
  });

  test('a new file of just the size allowed, and of one byte more', () => {
    const patch = makeZbsdiff(old, Uint8Array.of(10, 20, 30, 40, 50));
    expect(applyZbsdiff(old, patch, { maxSize: 5 }).length).toBe(5);
    expect(codeOf(() => applyZbsdiff(old, patch, { maxSize: 4 }))).toBe('E_FORMAT_RANGE');
  });

  test.each<[string, () => Uint8Array, string]>([
    ['a count below zero', () => apply([[-1n, 2n, 0n]], [], [1, 2], 1), 'E_FORMAT_RANGE'],
    ['too few bytes', () => apply([[2n, 0n, 0n]], [0, 0], [], 3), 'E_FORMAT_RANGE'],
    ['too many bytes', () => apply([[2n, 9n, 0n]], [0, 0], [1], 3), 'E_FORMAT_RANGE'],
    ['a number beyond 2^53', () => apply([[1n << 60n, 0n, 0n]], [], [], 3), 'E_FORMAT_RANGE'],
    ['a diff stream that is too short', () => apply([[3n, 0n, 0n]], [0, 0], [], 3), 'E_FORMAT_TRUNCATED'],
    ['an extra stream that is too long', () => apply([[0n, 1n, 0n]], [], [1, 2], 1), 'E_FORMAT_RANGE'],
    ['a size below zero', () => apply([], [], [], -5), 'E_FORMAT_RANGE'],
    ['a size above the limit', () => apply([], [], [], maxSize + 1), 'E_FORMAT_RANGE'],
    ['another magic', () => applyZbsdiff(old, Buffer.from('BSDIFF40'.padEnd(40)), { maxSize }), 'E_FORMAT_MAGIC'],
    ['a huge control stream', () => apply(Array(100_000).fill([0n, 0n, 0n]), [], [], 10), 'E_FORMAT_RANGE'],
  ])('%s', (_, run, code) => {
    expect(codeOf(run)).toBe(code);
  });
});
