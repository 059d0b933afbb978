import { isPakratError, messageOf } from '../../src/core/errors.ts';
import { openPak, type PakOptions } from '../../src/paks/index.ts';
import { randomSource } from './hostile.ts';
import { countingSource } from './pak-sources.ts';

const maxMilliseconds = 3000;

/** What came of some bytes: a code, or nothing when all of it could be read. */
export interface HostileOutcome {
  /** Code of opening. */
  opened: string | undefined;
  /** Codes of reading or checking entries. */
  codes: string[];
  /** Entries that are encrypted and not compressed, and no whole blocks. */
  padded: Set<string>;
  /** Names with the bytes that were read whole. */
  read: Map<string, Uint8Array>;
}

/**
 * Names whose content is another than it should be, although nobody said anything.
 * Left out are those that end in the padding of a cipher: no hash covers it, but it is part of the last block.
 */
export function silentDamage(outcome: HostileOutcome, right: HostileOutcome): string[] {
  if (outcome.opened !== undefined || outcome.codes.length > 0) return [];
  return [...outcome.read].flatMap(([name, bytes]) => {
    const wanted = right.read.get(name);
    return right.padded.has(name) || (wanted !== undefined && Buffer.from(wanted).equals(bytes)) ? [] : [name];
  });
}

/**
 * Opens bytes as a PAK, reads and checks everything in it. Fails when an error is not ours, when it takes too long, when a
 * byte outside is asked for, or when more comes out than the entry promises.
 * @param mayAskOutside leaves it to the source to refuse bytes that it does not have
 */
export async function exercisePak(
  bytes: Uint8Array,
  story: string,
  options: PakOptions = {},
  mayAskOutside = false,
): Promise<HostileOutcome> {
  const started = performance.now();
  const outcome: HostileOutcome = { opened: undefined, codes: [], padded: new Set(), read: new Map() };
  const source = countingSource(bytes, story);
  await guarded(
    story,
    (code) => (outcome.opened = code),
    async () => {
      const pak = await openPak(source, options);
      for (const entry of pak.entries) {
        if (entry.encrypted && entry.method === 'none' && entry.size % 16 !== 0) outcome.padded.add(entry.name);
        await guarded(
          `${story}: ${entry.name}`,
          (code) => outcome.codes.push(code),
          async () => {
            const parts: Uint8Array[] = [];
            let size = 0;
            for await (const piece of pak.read(entry)) {
              size += piece.length;
              if (size > entry.size) throw new Error('more came out than was promised');
              if (size < 1 << 20) parts.push(piece.slice());
            }
            if (size !== entry.size) throw new Error(`${size} bytes came out, ${entry.size} were promised`);
            outcome.read.set(entry.name, new Uint8Array(Buffer.concat(parts)));
          },
        );
        await guarded(
          story,
          (code) => outcome.codes.push(code),
          async () => {
            const problem = await pak.verify(entry);
            if (problem !== undefined) outcome.codes.push(problem.code);
          },
        );
        pak.find(entry.name);
      }
      const problem = await pak.verifyDirectory();
      if (problem !== undefined) outcome.codes.push(problem.code);
    },
  );
  if (Number.isNaN(source.bytes) && !mayAskOutside) throw new Error(`${story}: a byte outside the file was asked for`);
  const took = performance.now() - started;
  if (took > maxMilliseconds) throw new Error(`${story}: took ${Math.round(took)} ms`);
  return outcome;
}

async function guarded(story: string, onCode: (code: string) => void, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isPakratError(error))
      throw new Error(`${story}: not an error with a code but ${messageOf(error)}`, { cause: error });
    onCode(error.code);
  }
}

/** Lengths at which a file is cut: all of the first and last ones, and some between. */
export function* prefixSizes(size: number, samples: number): Generator<number> {
  const dense = 48;
  const step = Math.max(1, Math.floor(size / samples));
  for (
    let at = 0;
    at < size;
    at += at < dense || at >= size - dense ? 1 : Math.min(step, Math.max(1, size - dense - at))
  )
    yield at;
}

/** The file with a byte changed, at sampled places, with each place. */
export function* flips(bytes: Uint8Array, samples: number): Generator<{ offset: number; changed: Uint8Array }> {
  const random = randomSource(bytes.length);
  for (let i = 0; i < samples; i++) {
    const dense = i % 2 === 0 ? bytes.length - 1 - Math.floor(random() * Math.min(600, bytes.length)) : -1;
    const offset = dense >= 0 ? dense : Math.floor(random() * bytes.length);
    const changed = bytes.slice();
    changed[offset] =
      i % 3 === 0 ? changed[offset]! ^ 0xff : (changed[offset]! + 1 + Math.floor(random() * 254)) & 0xff;
    yield { offset, changed };
  }
}
