import { nameParts } from '../../files/output/output-folder.ts';

/** The parts of a name that its output name has. */
export interface OutputNaming {
  /** Parts that are taken off the front; a name that has no more parts than that is left out. */
  strip?: number | undefined;
  /** Only the last part is kept. */
  flat?: boolean | undefined;
}

/** The output name for a name, not yet safe; undefined when it is left out. */
export function outputName(name: string, { strip = 0, flat = false }: OutputNaming): string | undefined {
  // A file that is asked for by a key has a colon, which file names cannot have.
  const parts = nameParts(name.replace(/^(fdid|ckey|ekey):/, '$1-'));
  if (flat) return parts.at(-1);
  return parts.length > strip ? parts.slice(strip).join('/') : undefined;
}
