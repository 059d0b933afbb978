import { startsWith } from '../names.ts';
import type { PakFamily } from '../pak.ts';
import type { NadeoOptions } from './options.ts';
import type { NadeoWriteOptions } from './write/write.ts';

/** NadeoPak: the packs of TrackMania (.pak, version 3), ManiaPlanet and later games (.Pack.Gbx, .pak, 6 to 18). */
export const nadeo: PakFamily<NadeoOptions, NadeoWriteOptions> = {
  name: 'nadeo',
  extensions: ['.pak', '.pack.gbx'],
  matches: (head) => startsWith(head, 'NadeoPak'),
  open: async (source, options) => (await import('./open.ts')).openNadeoPak(source, options),
  // The oldest versions cannot be without a key, and the newest not compressed.
  pack: async (files, sink, options = { version: 12 }) =>
    (await import('./write/write.ts')).writeNadeoPak(files, sink, options),
};
