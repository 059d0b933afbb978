import type { SharedOptions } from '../pak.ts';

/** How an Unreal PAK, or a folder of them, is opened. Keys have 32 bytes. */
export interface UnrealOptions extends SharedOptions {
  /** Path of a module that decodes Oodle, in place of the optional package. */
  oodle?: string;
}
