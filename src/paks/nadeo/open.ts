/*
 * NadeoPak: the packs of TrackMania (.pak, version 3) and of ManiaPlanet and later games (.Pack.Gbx and .pak,
 * versions 6 to 18).
 */
import type { ByteSource } from '../../core/byte-source.ts';
import { formatError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import type { PakFamily } from '../pak.ts';
import { newestVersion } from './header/header-v6.ts';
import { type NadeoOptions, type NadeoPak, openPack } from './nadeo-pak.ts';

export type { NadeoEntry } from './directory/entry-list.ts';
export type { MetadataEntry } from './directory/metadata.ts';
export { decodeNameList } from './directory/names.ts';
export type { KnownMix } from './entries/entry-reader.ts';
export { knownDictionarySha256 } from './entries/lz4-blocks.ts';
export { decodeKeyFile, type NamedKey, packlistKeys } from './keys/keys.ts';
export { decodePacklist, encodePacklist, type Packlist, type PacklistEntry, productCrc } from './keys/packlist.ts';
export type { NadeoOptions, NadeoPak } from './nadeo-pak.ts';
export { type NadeoWriteOptions, type PackInfo, writeNadeoPak } from './write/write.ts';
export type { NadeoPackFile } from './write/write-files.ts';

const magic = 'NadeoPak';
const startSize = 12;

/** A family whose packs can do more than every PAK. */
export interface NadeoFamily extends PakFamily {
  open(source: ByteSource, options?: NadeoOptions): Promise<NadeoPak>;
}

/** The family of NadeoPak files. */
export const nadeo: NadeoFamily = {
  name: 'nadeo',
  probe(head) {
    return head.length >= magic.length && [...magic].every((letter, i) => head[i] === letter.charCodeAt(0));
  },
  async open(source, options = {}) {
    const start = await source.read(0, Math.min(startSize, source.size));
    const reader = new ByteReader(start, magic);
    if (options.ignoreMagic) reader.skip(magic.length);
    else reader.magic(magic);
    const version = options.forceVersion ?? reader.u32le();
    if (version < 1 || version > newestVersion) {
      throw formatError('E_FORMAT_VERSION', magic, 'unknown version', {
        offset: magic.length,
        expected: `1 to ${newestVersion}`,
        found: version,
      });
    }
    const pak = await openPack(source, version, options);
    // A directory that cannot be read is taken for one only where the magic says that it is there.
    if (pak.locked !== undefined && !nadeo.probe(start, start, source.size)) throw pak.locked;
    return pak;
  },
};
