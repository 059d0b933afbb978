import { equalBytes, toHex } from '../core/bytes.ts';
import { codeOf, isDamage, isPakratError, isUnavailable, PakratError, withHint } from '../core/errors.ts';
import { md5Hasher } from '../core/hash.ts';
import { slicePieces } from '../files/pieces.ts';
import type { BltePart } from '../formats/blte/read.ts';
import type { Build } from './build.ts';
import { type BuildFile, placesOf, type ResolvedPart, resolveParts, sizeOf } from './files.ts';

/**
 * The decoded bytes of a file, in pieces. What is not held is fetched first, where the build has a way to.
 * The whole is checked against the ckey: an error after the last piece means that none of them may be kept.
 * @param signal ends the fetching
 * @throws E_NOT_FOUND, E_OFFLINE, E_KEY_MISSING, E_INTEGRITY, E_FORMAT…, E_ABORTED
 */
export async function* readFile(build: Build, file: BuildFile, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  for (const part of await build.lookUp(() => resolveParts(build, file))) {
    let left = part.size ?? Number.POSITIVE_INFINITY;
    for await (const piece of readContent(build, file, part, { signal })) {
      const wanted = piece.subarray(0, Math.min(piece.length, left));
      left -= wanted.length;
      if (wanted.length > 0) yield wanted;
    }
    if (left > 0 && left !== Number.POSITIVE_INFINITY) throw tooShort(file, left);
  }
}

/**
 * Bytes of a file, read from the chunks that hold them: the MD5 of each is checked, the ckey tells nothing about a part.
 * @param range offset and size, in bytes; the file has them
 * @throws as {@link readFile}
 */
export async function* readFileRange(
  build: Build,
  file: BuildFile,
  range: BltePart,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let { offset, size: left } = range;
  const parts = await build.lookUp(() => resolveParts(build, file));
  // Where one part ends and the next begins must be known.
  if (parts.length > 1 && sizeOf(parts) === undefined)
    return yield* slicePieces(readFile(build, file, signal), offset, left);
  for (const part of parts) {
    const { size = Number.POSITIVE_INFINITY } = part;
    if (left > 0 && offset < size) {
      const wanted = { offset, size: Math.min(left, size - offset) };
      let got = 0;
      for await (const piece of readContent(build, file, part, { range: wanted, signal })) {
        got += piece.length;
        yield piece;
      }
      if (got < wanted.size && size !== Number.POSITIVE_INFINITY) throw tooShort(file, wanted.size - got);
      left -= got;
    }
    offset = Math.max(0, offset - size);
  }
}

/**
 * One content or a range of it, from the first of its encodings that can be had and opened. Of a whole one that turns out to be lost half-way the
 * rest is given out of what was fetched in its place.
 */
async function* readContent(
  build: Build,
  file: BuildFile,
  part: ResolvedPart,
  { range, signal }: { range?: BltePart; signal: AbortSignal | undefined },
): AsyncGenerator<Uint8Array> {
  const places = await build.lookUp(() => placesOf(build, file, part));
  // Each twice: what was held may have been given back before it was read, or the disk has spoilt it, and is fetched again then.
  const attempts = places.flatMap((place) => [place, place]);
  const hash = md5Hasher();
  let given = 0;
  for (const [i, place] of attempts.entries()) {
    try {
      await build.objects.entries([place], signal);
      const pieces = build.readEncoded(place, part.contentSize, range);
      for await (const piece of given === 0 ? pieces : behind(pieces, given, hash.copy().digest())) {
        if (range === undefined) hash.update(piece);
        given += piece.length;
        yield piece;
      }
      break;
    } catch (error) {
      const isLost = isDamage(error) && (await build.objects.lose?.(place)) === true;
      const mayBeElsewhere = isLost || isUnavailable(error) || codeOf(error) === 'E_KEY_MISSING';
      const canGoOn = given === 0 || (isLost && range === undefined);
      if (isLost && !canGoOn) throw withHint(error, fetchedAnew);
      if (i + 1 === attempts.length || !canGoOn || !mayBeElsewhere) throw refused(file, error);
    }
  }
  if (range === undefined) checkContent(file, part, toHex(hash.digest()));
}

const fetchedAnew = 'Run the same command again: it is fetched anew.';

/**
 * The bytes behind those that were given out before.
 * @param digest MD5 of those: bytes of a large chunk are given out before its hash is known
 * @throws E_INTEGRITY where they were wrong
 */
async function* behind(
  pieces: AsyncIterable<Uint8Array>,
  given: number,
  digest: Uint8Array,
): AsyncGenerator<Uint8Array> {
  const start = md5Hasher();
  let left = given;
  for await (const piece of pieces) {
    const known = piece.subarray(0, left);
    if (left > 0) start.update(known);
    if (left > 0 && left === known.length && !equalBytes(start.digest(), digest))
      throw new PakratError('E_INTEGRITY', 'what was read of it first was wrong', { hint: fetchedAnew });
    left -= known.length;
    if (known.length < piece.length) yield piece.subarray(known.length);
  }
}

function tooShort({ name }: BuildFile, missing: number): PakratError {
  return new PakratError('E_INTEGRITY', `${name}: its content is ${missing} bytes short`, { data: { name } });
}

/** A refusal knows the entry only; whoever asked knows the file. */
function refused(file: BuildFile, error: unknown): unknown {
  if (!isPakratError(error)) return error;
  const { code, hint, data } = error;
  const name = { name: file.name, ...data };
  if (code === 'E_NOT_FOUND') return new PakratError(code, `${file.name}: ${error.message}`, { hint, data: name });
  if (code !== 'E_OFFLINE') return error;
  return new PakratError(code, `${file.name} is not held and may not be fetched`, { hint, data: name });
}

function checkContent(file: BuildFile, part: ResolvedPart, found: string): void {
  if (part.ckey === undefined || part.ckey === found) return;
  throw new PakratError('E_INTEGRITY', `${file.name} decodes to content ${found}, expected ${part.ckey}`, {
    hint: 'Run `pakrat verify` on the store.',
    data: { name: file.name, expected: part.ckey, found },
  });
}
