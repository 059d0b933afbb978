import type { ByteSource } from '../../../core/byte-source.ts';
import { PakratError } from '../../../core/errors.ts';
import { openNadeoPak } from '../open.ts';
import type { PackInfo } from '../write/write.ts';
import { type IncludedPack, noAuthor, type PublicHeader } from './public-header.ts';

/** The versions that have a field; version 6 keeps its author elsewhere, but has one. */
const versionsOf: Readonly<Record<keyof PackInfo, readonly [first: number, last: number]>> = {
  author: [6, 18],
  comment: [7, 18],
  buildInfo: [8, 18],
  authorUrl: [8, 8],
  manialink: [9, 18],
  time: [9, 18],
  usageFolder: [9, 18],
  includedPacks: [10, 18],
  xml: [12, 18],
  titleId: [12, 18],
  downloadUrl: [13, 18],
};

/** Throws E_USAGE when something is told that a pack of this version has no place for. */
export function checkPackInfo(info: PackInfo, version: number): void {
  for (const field of Object.keys(info) as (keyof PackInfo)[]) {
    const [first, last] = versionsOf[field];
    if (info[field] === undefined || (version >= first && version <= last)) continue;
    throw new PakratError('E_USAGE', `a NadeoPak of version ${version} has no place for ${wordsOf[field] ?? field}`, {
      hint: first === last ? `Only version ${first} has one.` : `Versions ${first} to ${last} have one.`,
      data: { field, version },
    });
  }
}

const wordsOf: Partial<Record<keyof PackInfo, string>> = {
  author: 'an author',
  comment: 'a comment',
  buildInfo: 'a build text',
  authorUrl: 'the URL of an author',
  manialink: 'a manialink',
  time: 'a time',
  usageFolder: 'a usage folder',
  includedPacks: 'included packs',
  xml: 'XML',
  titleId: 'a title',
  downloadUrl: 'a download URL',
};

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
