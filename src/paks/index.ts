import type { ByteSource } from '../core/byte-source.ts';
import { codeOf, PakratError } from '../core/errors.ts';
import { fileSource } from '../files/file-source.ts';
import type { Pak, PakFamily, PakOptions } from './pak.ts';
import { hasFooterMagic } from './unreal/footer.ts';

const probeSize = 4096;

/**
 * Every family, in the order in which they are asked: the one whose mark is hardest to have by chance comes first. The rest of
 * its code is loaded for a file that is its own.
 */
export const pakFamilies: readonly PakFamily[] = [
  {
    name: 'nadeo',
    probe: startsWith('NadeoPak'),
    open: async (...given) => (await import('./nadeo/open.ts')).nadeo.open(...given),
  },
  {
    name: 'unreal',
    probe: (_head, tail) => hasFooterMagic(tail),
    open: async (...given) => (await import('./unreal/open.ts')).openUnrealPak(...given),
  },
  {
    name: 'quake',
    probe: startsWith('PACK', 'SPAK'),
    open: async (...given) => (await import('./quake/quake-pak.ts')).openQuakePak(...given),
  },
];

function startsWith(...magics: string[]): (head: Uint8Array) => boolean {
  return (head) => magics.some((magic) => [...magic].every((letter, i) => head[i] === letter.charCodeAt(0)));
}

/** The family that claims a file by its bytes, or undefined. Reads at most 4 KiB from both ends. */
export async function findPakFamily(source: ByteSource): Promise<PakFamily | undefined> {
  const { head, tail } = await readEnds(source);
  return pakFamilies.find((family) => family.probe(head, tail, source.size));
}

/**
 * Opens a PAK of whatever family it is. The source belongs to the PAK from then on; after an error it is still yours.
 * @throws E_FORMAT_MAGIC with what the file looks like when no family claims it, and as the family does
 */
export async function openPak(source: ByteSource, options: PakOptions = {}): Promise<Pak> {
  const { head, tail } = await readEnds(source);
  const family = pakFamilies.find((one) => one.probe(head, tail, source.size));
  if (family !== undefined) return family.open(source, options);
  const forced = options.ignoreMagic === true ? await openAnyway(source, options) : undefined;
  if (forced !== undefined) return forced;
  const { identify } = await import('./identify.ts');
  const looks = identify(head, tail, source.size);
  throw new PakratError('E_FORMAT_MAGIC', `${source.name} is no PAK of a known family: it looks like ${looks}`, {
    hint: `Known families: ${pakFamilies.map(({ name }) => name).join(', ')}.`,
    data: { looksLike: looks, size: source.size },
  });
}

/** Opens a PAK file. Throws as {@link openPak}, and E_NOT_FOUND or E_STORE when the file cannot be opened. */
export async function openPakFile(path: string, options: PakOptions = {}): Promise<Pak> {
  const source = await fileSource(path);
  try {
    return await openPak(source, options);
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** With a wrong magic nothing is certain: the first family that can read the whole directory has it. */
async function openAnyway(source: ByteSource, options: PakOptions): Promise<Pak | undefined> {
  for (const family of pakFamilies) {
    try {
      return await family.open(source, options);
    } catch (error) {
      if (codeOf(error)?.startsWith('E_') !== true) throw error;
    }
  }
  return undefined;
}

async function readEnds(source: ByteSource): Promise<{ head: Uint8Array; tail: Uint8Array }> {
  const size = Math.min(probeSize, source.size);
  const head = await source.read(0, size);
  return { head, tail: source.size <= probeSize ? head : await source.read(source.size - size, size) };
}
