import { PakratError } from '../../core/errors.ts';
import { type Espec, type EspecBlock, parseEspec, printEspec } from '../../formats/blte/espec.ts';
import { reverseName, type TactKey } from '../../formats/configs/key-list.ts';

/** How contents are encoded: as the first spec says; as the second, where there is one and the first makes nothing smaller. */
export type EspecChoice = readonly [first: Espec, second?: Espec];

/**
 * Every object gets a chunk table, for there are readers that know none without; a chunk is what a broken transfer can cost. Level 6 is three
 * times as fast as 9 and one part in a hundred larger.
 */
const chunkSize = '256K';
/** The usual choice: deflated when that makes it smaller. */
export const usualEspecs: EspecChoice = [parseEspec(`b:${chunkSize}*=z:6`), parseEspec(`b:${chunkSize}*=n`)];

/** A chunk is in memory as a whole, and so it is with whoever reads it. */
export const maxChunkBytes = 64 << 20;

/** Reads what a person chose; what has no blocks gets some of 256 KiB. @throws E_USAGE for what is no spec for files of any size */
export function parseEspecChoice(text: string): EspecChoice {
  const spec = parsed(text);
  const cut: Espec =
    spec.type === 'b' ? spec : { type: 'b', blocks: [{ size: 256, unit: 'K', repeat: 'fit', spec }], braced: false };
  const { blocks } = cut as Extract<Espec, { type: 'b' }>;
  if (!blocks.some(({ size, repeat }) => size === undefined || repeat === 'fit'))
    throw refused(text, 'its blocks fit files of one size only', 'Let the last block repeat: b:{256K*=z}.');
  for (const { spec: inner } of blocks) checkBlock(inner, text);
  return [cut];
}

function parsed(text: string): Espec {
  try {
    return parseEspec(text);
  } catch (error) {
    throw refused(text, (error as Error).message, 'Write z, n, z:9, or blocks: b:{256K*=z}.');
  }
}

function checkBlock(spec: Espec, text: string): void {
  if (spec.type === 'e') throw refused(text, 'keys are not named here', 'Give them with --keys.');
  if (spec.type === 'n' || (spec.type === 'z' && spec.bits !== 'lz4hc')) return;
  throw refused(text, 'files can be encoded with n and z only', 'Write z, n, z:9, or blocks: b:{256K*=z}.');
}

function refused(text: string, problem: string, hint: string): PakratError {
  return new PakratError('E_USAGE', `${JSON.stringify(text)} cannot be the encoding of files: ${problem}`, { hint });
}

/**
 * The specs of a content as the encoding file has them.
 * @param ckey of the content. The IV is taken from it: a key stream that served two contents would give both away.
 */
export function especsFor(choice: EspecChoice, ckey: string, key?: TactKey): readonly string[] {
  if (key !== undefined) return specsOf(choice).map((spec) => printEspec(encrypted(spec, ckey, key)));
  const known = plain.get(choice) ?? specsOf(choice).map(printEspec);
  plain.set(choice, known);
  return known;
}

/** The texts of choices without a key, which are the same for every content. */
const plain = new WeakMap<EspecChoice, readonly string[]>();

function specsOf(choice: EspecChoice): Espec[] {
  return choice.filter((spec) => spec !== undefined);
}

function encrypted(spec: Espec, ckey: string, { name }: TactKey): Espec {
  const lock = { type: 'e', key: reverseName(name).toUpperCase(), iv: ckey.slice(0, 8).toUpperCase() } as const;
  if (spec.type !== 'b') return { ...lock, spec };
  const blocks = spec.blocks.map((block): EspecBlock => ({ ...block, spec: { ...lock, spec: block.spec } }));
  return { type: 'b', blocks, braced: true };
}
