import { basename } from 'node:path';
import { PakratError } from '../../../core/errors.ts';
import { fileSource } from '../../../files/file-source.ts';
import { readGiven } from '../../../files/given/given-file.ts';
import { checkPackInfo, describeIncluded, fileTime } from '../../../paks/nadeo/header/pack-info.ts';
import type { PackInfo } from '../../../paks/nadeo/write/write.ts';
import { defined } from '../given-keys.ts';

/** Facts in the header of a NadeoPak, as people write them; the help of the flags says which versions have them. */
export interface NadeoHeaderOptions {
  /** Login, nick name, place and more of the author. */
  author?: string | undefined;
  authorNick?: string | undefined;
  authorZone?: string | undefined;
  authorExtra?: string | undefined;
  title?: string | undefined;
  /** File whose text is the XML of the pack. */
  xml?: string | undefined;
  comment?: string | undefined;
  manialink?: string | undefined;
  downloadUrl?: string | undefined;
  authorUrl?: string | undefined;
  usageFolder?: string | undefined;
  buildInfo?: string | undefined;
  /** A date. Absent: no time, so that the same files give the same bytes. */
  created?: string | undefined;
  /** Files of packs that this one includes. */
  include?: readonly string[] | undefined;
}

/**
 * Reads what the header of a pack is to tell.
 * @throws E_USAGE for what this version has no place for, and for a date that is none; as opening an included pack does
 */
export async function readHeaderOptions(options: NadeoHeaderOptions, version: number): Promise<PackInfo> {
  const { title, xml, created, include } = options;
  const { comment, manialink, downloadUrl, authorUrl, usageFolder, buildInfo } = options;
  const info: PackInfo = defined({
    author: authorOf(options),
    titleId: title,
    xml: xml === undefined ? undefined : new TextDecoder().decode(await readGiven(xml)),
    comment,
    manialink,
    downloadUrl,
    authorUrl,
    usageFolder,
    buildInfo,
    time: created === undefined ? undefined : fileTime(parseDate(created)),
    includedPacks: include === undefined ? undefined : await includedPacks(include),
  });
  checkPackInfo(info, version);
  return info;
}

function authorOf({ author, authorNick, authorZone, authorExtra }: NadeoHeaderOptions): PackInfo['author'] {
  if ([author, authorNick, authorZone, authorExtra].every((part) => part === undefined)) return undefined;
  return { version: 0, login: author ?? '', nick: authorNick ?? '', zone: authorZone ?? '', extra: authorExtra ?? '' };
}

function parseDate(given: string): Date {
  const date = new Date(given);
  if (!Number.isNaN(date.getTime())) return date;
  throw new PakratError('E_USAGE', `${JSON.stringify(given)} is no date`, {
    hint: 'Write 2026-01-31 or 2026-01-31T12:00Z.',
  });
}

async function includedPacks(paths: readonly string[]) {
  const packs: Awaited<ReturnType<typeof describeIncluded>>[] = [];
  for (const path of paths) {
    const source = await fileSource(path);
    try {
      packs.push(await describeIncluded(source, basename(path)));
    } finally {
      await source.close();
    }
  }
  return packs;
}
