import { startsWith } from '../names.ts';
import type { PakFamily } from '../pak.ts';
import type { QuakeOptions } from './options.ts';

/** The PAKs of Quake and of the games built on it, SiN and Daikatana among them, and their game directories. */
export const quake: PakFamily<QuakeOptions> = {
  name: 'quake',
  extensions: ['.pak', '.sin'],
  matches: (head) => startsWith(head, 'PACK') || startsWith(head, 'SPAK'),
  open: async (source, options) => (await import('./quake-pak.ts')).openQuakePak(source, options),
  folders: {
    name: 'quake-folder',
    what: 'a game directory of Quake (with pak0.pak, or id1 or baseq2 in it)',
    matches: async (path, options) => (await import('./folder.ts')).isQuakeFolder(path, options),
    open: async (path, options) => (await import('./folder.ts')).openQuakeFolder(path, options),
  },
  pack: async (files, sink) => (await import('./write.ts')).writeQuakePak(files, sink),
};
