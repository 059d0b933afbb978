import { toHex } from '../../core/bytes.ts';
import type { PakratError } from '../../core/errors.ts';
import { cleanName } from '../names.ts';
import { unusedSpace } from '../unused-space.ts';
import type { NadeoEntry } from './directory/entry-list.ts';
import { storedSize } from './entries/entry-reader.ts';
import type { OpenedHeader } from './header/open-header.ts';
import type { PrivateHeader } from './header/private-header.ts';
import { type PackAuthor, type PublicHeader, packTime } from './header/public-header.ts';
import { headerFlag, type KeyCandidate } from './keys/keys.ts';

/** The facts that `info` shows of a pack, as plain JSON; fields that are not set are left out. */
export function packFacts(
  header: OpenedHeader,
  known: {
    packKey: KeyCandidate | undefined;
    entries: readonly NadeoEntry[];
    locked: PakratError | undefined;
    fileSize: number;
  },
): Record<string, unknown> {
  const { publicPart, privatePart } = header;
  const { packKey, entries, locked, fileSize } = known;
  const facts: Record<string, unknown> = {
    headerEncryption: headerEncryption(publicPart),
    key: packKey === undefined ? undefined : keyText(packKey),
    locked: locked?.message,
    ...(publicPart === undefined ? {} : publicFacts(publicPart)),
  };
  if (privatePart === undefined) return withoutUnset(facts);
  const hashed = entries.filter(({ isHashed }) => isHashed);
  return withoutUnset({
    ...facts,
    author: authorFacts(privatePart.author) ?? facts.author,
    headerMd5: toHex(privatePart.md5),
    headerMd5Right: header.isMd5Right,
    files: entries.length,
    folders: privatePart.folders.length,
    encryptedFiles: entries.filter(({ encrypted }) => encrypted).length,
    methods: [...new Set(entries.map(({ method }) => method))],
    hashedNames: hashed.length || undefined,
    resolvedNames: hashed.filter(({ name, storedPath }) => name !== cleanName(storedPath)).length || undefined,
    dataOffset: privatePart.dataOffset,
    metadataOffset: privatePart.metadataOffset,
    metadataSize: privatePart.metadataSize,
    ...unusedSpace(usedParts(privatePart, header.version, fileSize), fileSize),
  });
}

function* usedParts(
  { dataOffset, metadataOffset, files }: PrivateHeader,
  version: number,
  fileSize: number,
): Generator<[number, number]> {
  yield [0, dataOffset];
  yield [metadataOffset, fileSize];
  for (const file of files) {
    const start = dataOffset + file.offset;
    yield [start, start + Math.max(storedSize(file, version), file.slotSize ?? 0)];
  }
}

function publicFacts(header: PublicHeader): Record<string, unknown> {
  return {
    headerFlags: flagNames(header.headerFlags),
    contentsChecksum: toHex(header.contentsChecksum),
    author: authorFacts(header.author),
    title: header.titleId || undefined,
    comment: header.comment || undefined,
    created: packTime(header.time)?.toISOString(),
    manialink: header.manialink || undefined,
    downloadUrl: header.downloadUrl || undefined,
    authorUrl: header.authorUrl || undefined,
    usageFolder: header.usageFolder || undefined,
    buildInfo: header.buildInfo || undefined,
    xml: header.xml || undefined,
    includedPacks:
      header.includedPacks.length === 0
        ? undefined
        : header.includedPacks.map((pack) => ({
            name: pack.name,
            contentsChecksum: toHex(pack.contentsChecksum),
            author: authorFacts(pack.author),
            manialink: pack.manialink || undefined,
            created: packTime(pack.time)?.toISOString(),
            secondName: pack.secondName || undefined,
            depth: pack.depth,
          })),
  };
}

function authorFacts(author: PackAuthor | undefined): Record<string, unknown> | undefined {
  if (author === undefined) return undefined;
  const { login, nick, zone, extra } = author;
  if (login === '' && nick === '' && zone === '' && extra === '') return undefined;
  return withoutUnset({ login, nick: nick || undefined, zone: zone || undefined, extra: extra || undefined });
}

function headerEncryption(header: PublicHeader | undefined): string {
  if (header === undefined) return 'pack key';
  const isPrivate = (header.headerFlags & headerFlag.isHeaderPrivate) !== 0;
  const usesDefault = (header.headerFlags & headerFlag.useDefaultHeaderKey) !== 0;
  if (isPrivate) return usesDefault ? 'pack key and default header key' : 'pack key';
  return usesDefault ? 'default header key' : 'none';
}

function flagNames(flags: number): string[] {
  return Object.entries(headerFlag).flatMap(([name, bit]) => ((flags & bit) === 0 ? [] : [name]));
}

function keyText({ kind, packName }: KeyCandidate): string {
  return packName === undefined ? kind : `${kind} of ${packName}`;
}

function withoutUnset(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
