import type { Build } from '../../builds/build.ts';
import { isNotFound, PakratError, valueUnless } from '../../core/errors.ts';
import type { HeldSpans } from '../../fetch/held-spans.ts';
import { type BuildEntry, buildSource } from '../build-source.ts';

/** A file of a build, to be compared with that of another. */
export interface FoundFile {
  /** The same text for the same contents. */
  contents: string;
  /** Of a file that is one content, where the root tells it; else null. */
  ckey: string | null;
  /** Decoded size; null where nothing tells. */
  size: number | null;
  /** True when all of it is held. */
  held: boolean;
}

/**
 * Finds a file in a build with what is held of that alone; undefined when the build does not have it.
 * @throws E_OFFLINE when what would tell is not held, else as findFile
 */
export async function findInBuild(
  build: Build,
  name: string,
  { locale, spans }: { locale: string; spans: HeldSpans },
): Promise<FoundFile | undefined> {
  const source = buildSource(build, { locale, hasEntry: (place) => spans.hasEntry(place) });
  const entry = await valueUnless(isNotFound, source.get(name));
  if (entry !== undefined) {
    const held = await build.lookUp(() => source.isHeld?.(entry) === true);
    return { contents: contentsOf(entry), ckey: entry.md5 ?? null, size: entry.size ?? null, held };
  }
  // It may have names that the root does not.
  if (build.config.install !== undefined && (await build.install()) === undefined)
    throw new PakratError('E_OFFLINE', 'its install manifest is not held');
  return undefined;
}

function contentsOf({ file: { parts } }: BuildEntry): string {
  const [only, another] = parts;
  if (another === undefined && only?.ckey !== undefined) return only.ckey;
  return parts.map(({ ckey, ekey, size }) => `${ckey ?? ekey} ${size}`).join();
}
