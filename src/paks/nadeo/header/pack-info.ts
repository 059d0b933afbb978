import type { ByteSource } from '../../../core/byte-source.ts';
import { PakratError } from '../../../core/errors.ts';
import { openNadeoPak } from '../open.ts';
import type { PackInfo } from '../write/write.ts';
import { type IncludedPack, noAuthor, type PublicHeader } from './public-header.ts';

/** The versions that have a field, and the field in words; version 6 keeps its author elsewhere, but has one. */
const places: Readonly<Record<keyof PackInfo, readonly [first: number, last: number, words: string]>> = {
  author: [6, 18, 'an author'],
  comment: [7, 18, 'a comment'],
  buildInfo: [8, 18, 'a build text'],
  authorUrl: [8, 8, 'the URL of an author'],
  manialink: [9, 18, 'a manialink'],
  time: [9, 18, 'a time'],
  usageFolder: [9, 18, 'a usage folder'],
  includedPacks: [10, 18, 'included packs'],
  xml: [12, 18, 'XML'],
  titleId: [12, 18, 'a title'],
  downloadUrl: [13, 18, 'a download URL'],
};

/** Throws E_USAGE when something is told that a pack of this version has no place for. */
export function checkPackInfo(info: PackInfo, version: number): void {
  for (const field of Object.keys(info) as (keyof PackInfo)[]) {
    const [first, last, words] = places[field];
    if (info[field] === undefined || (version >= first && version <= last)) continue;
    throw new PakratError('E_USAGE', `a NadeoPak of version ${version} has no place for ${words}`, {
      hint: first === last ? `Only version ${first} has one.` : `Versions ${first} to ${last} have one.`,
      data: { field, version },
    });
  }
}

/**
 * A pack as another one tells of it that includes it. Reads its header; no key is needed.
 * @param name what the pack is called by
 * @throws E_USAGE for a pack that has no checksum of its contents, and as opening does
 */
export async function describeIncluded(source: ByteSource, name: string): Promise<IncludedPack> {
  const { publicPart } = (await openNadeoPak(source)).header;
  if (publicPart === undefined) {
    throw new PakratError('E_USAGE', `${source.name} cannot be included: packs below version 6 have no checksum`);
  }
  const { contentsChecksum, author, manialink, time } = publicPart satisfies PublicHeader;
  return { contentsChecksum, name, author: author ?? noAuthor(), manialink, time, secondName: '', depth: 0 };
}

/** A date as the format has times: steps of 100 nanoseconds since 1601. */
export function fileTime(date: Date): bigint {
  return (BigInt(date.getTime()) + 11_644_473_600_000n) * 10_000n;
}
