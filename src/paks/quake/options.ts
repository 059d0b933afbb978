import type { SharedOptions } from '../pak.ts';

/** Whose rules apply to a game directory. */
export type QuakeEngine = 'quake' | 'quakespasm' | 'quake2';

/** How a PAK of the Quake family, or a game directory, is opened. */
export interface QuakeOptions extends Pick<SharedOptions, 'encoding' | 'ignoreMagic'> {
  /** Whose search path a game directory has. Default: Quake II for a folder that is, or has, baseq2; Quake otherwise. */
  engine?: QuakeEngine | undefined;
  /** Game directories beside the first: rogue, hipnotic, quoth, or a mod. */
  games?: readonly string[] | undefined;
}
