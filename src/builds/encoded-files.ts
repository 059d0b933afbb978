import type { ResolvedPart } from './files.ts';
import { type EntryPlace, heldFiles, type Objects } from './objects.ts';

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

/** A file: its parts, and the first place of each. */
interface PlacedFile {
  parts(): readonly ResolvedPart[];
  places: readonly EntryPlace[];
}

/** Where files lie that are held, of one content, and wanted whole. Undefined for others: they take what `readFile` knows. */
export function encodedFiles(objects: Objects, files: readonly PlacedFile[]): (EncodedFile | undefined)[] {
  const simple = files.map(simpleFile);
  const opened = heldFiles(
    objects,
    simple.flatMap((found) => found?.place ?? []),
  ).values();
  return simple.map((found) => {
    const held = found === undefined ? undefined : opened.next().value;
    if (found === undefined || held === undefined) return undefined;
    const { place, ckey, size } = found;
    const { file, offset } = held;
    return { file, offset, encodedSize: place.size, ekey: place.ekey, ckey, size };
  });
}

function simpleFile(file: PlacedFile): { place: EntryPlace; ckey: string | undefined; size: number } | undefined {
  const [place] = file.places;
  const [only, another] = place === undefined ? [] : file.parts();
  if (place === undefined || only === undefined || another !== undefined) return undefined;
  const { ckey, size, contentSize } = only;
  return size === undefined || (contentSize ?? size) !== size ? undefined : { place, ckey, size };
}
