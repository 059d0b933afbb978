import { resultUnless } from '../core/errors.ts';
import type { Build } from './build.ts';
import type { ResolvedPart } from './files.ts';
import type { EntryPlace } from './objects.ts';

/** A file of a build by its encoded bytes: all that it takes to decode and prove it without the build, save keys. Plain data. */
export interface EncodedFile {
  /** Where the encoded bytes lie. */
  file: string;
  offset: number;
  encodedSize: number;
  /** Hex; the bytes are proved by it. */
  ekey: string;
  /** Hex; what comes out is proved by it, where the build knows it. */
  ckey: string | undefined;
  /** Decoded bytes. */
  size: number;
}

/**
 * Where files lie that are held, of one content, and wanted whole. Undefined for others: they take what `readFile` knows.
 * @param files the parts of each
 */
export function encodedFiles(build: Build, files: readonly (readonly ResolvedPart[])[]): (EncodedFile | undefined)[] {
  const simple = files.map((parts) => simplePlace(build, parts));
  const wanted = simple.flatMap((found) => found?.place ?? []);
  const opened = openAll(build, wanted)[Symbol.iterator]();
  return simple.map((found) => {
    const held = found === undefined ? undefined : opened.next().value;
    if (found === undefined || held === undefined) return undefined;
    const { place, ckey, size } = found;
    const { file, offset } = held;
    return { file, offset, encodedSize: place.size, ekey: place.ekey, ckey, size };
  });
}

function simplePlace(
  build: Build,
  parts: readonly ResolvedPart[],
): { place: EntryPlace; ckey: string | undefined; size: number } | undefined {
  const [only, another] = parts;
  if (only === undefined || another !== undefined) return undefined;
  const { ckey, ekeys, size, contentSize, encodedSize } = only;
  if (size === undefined || (contentSize ?? size) !== size) return undefined;
  // The first that has a place, as `readFile` tries them; whatever is wrong, that tells it.
  const place = unlessWrong(() => {
    for (const ekey of ekeys) {
      const found = build.locate(ekey, encodedSize);
      if (found !== undefined) return found;
    }
    return undefined;
  });
  return place && { place, ckey, size };
}

function openAll({ objects }: Build, places: readonly EntryPlace[]): ({ file: string; offset: number } | undefined)[] {
  if (objects.openMany !== undefined) return objects.openMany(places);
  return places.map((place) => unlessWrong(() => objects.open(place)));
}

function unlessWrong<Value>(work: () => Value): Value | undefined {
  return resultUnless(() => true, work);
}
