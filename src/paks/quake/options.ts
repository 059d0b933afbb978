import type { SharedOptions } from '../pak.ts';

/** Whose rules apply to a game directory. */
export type QuakeEngine = 'quake' | 'quakespasm' | 'quake2';

/** The options of PAKs and game directories of the Quake family. */
export interface QuakeOptions extends Pick<SharedOptions, 'encoding' | 'ignoreMagic'> {
  /** Whose search path a game directory has. Default: Quake II for a folder that is, or has, baseq2; Quake otherwise. */
  engine?: QuakeEngine | undefined;
  /** Game directories beside the first: rogue, hipnotic, quoth, or a mod. */
  games?: readonly string[] | undefined;
}
