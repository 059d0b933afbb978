import type { SharedOptions } from '../pak.ts';

/** The options of Unreal PAKs, and of folders of them. Keys have 32 bytes. */
export interface UnrealOptions extends SharedOptions {
  /** Path of a module that decodes Oodle, in place of the optional package. */
  oodle?: string;
}
