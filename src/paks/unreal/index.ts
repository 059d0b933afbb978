import type { PakFamily } from '../pak.ts';
import type { SharedStep } from '../search-path/search-path.ts';
import { hasFooterMagic } from './footer.ts';
import type { SharedIndex } from './opened-index.ts';
import type { UnrealOptions } from './options.ts';
import type { UnrealPackOptions } from './write/pack-plan.ts';

/** The PAKs of the Unreal Engine, and the Paks folders of its games. */
export const unreal: PakFamily<UnrealOptions, UnrealPackOptions> = {
  name: 'unreal',
  extensions: ['.pak'],
  matches: (_head, tail) => hasFooterMagic(tail),
  open: async (source, options, shared) =>
    (await import('./open.ts')).openUnrealPak(source, options, shared as SharedIndex | undefined),
  folders: {
    name: 'unreal-folder',
    what: 'a Paks folder of an Unreal game',
    matches: async (path) => (await import('./folder.ts')).isUnrealFolder(path),
    open: async (path, options, shared) =>
      (await import('./folder.ts')).openUnrealFolder(path, options, shared as SharedStep[] | undefined),
  },
  pack: async (files, sink, options) => (await import('./write/write.ts')).writeUnrealPak(files, sink, options),
};
