import * as fs from 'node:fs';
import { basename } from 'node:path';
import { PakratError } from '../../core/errors.ts';
import { fileSource } from '../../files/file-source.ts';
import { checkPackInfo, describeIncluded, fileTime } from '../../paks/nadeo/header/pack-info.ts';
import type { PackInfo } from '../../paks/nadeo/write/write.ts';

/** What the header of a NadeoPak may tell of it, as people write it; the versions that have a place for it are in the help of the flags. */
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
  const { author, authorNick: nick, authorZone: zone, authorExtra: extra, created, include, xml } = options;
  const hasAuthor = [author, nick, zone, extra].some((part) => part !== undefined);
  const info: PackInfo = {
    ...(hasAuthor && {
      author: { version: 0, login: author ?? '', nick: nick ?? '', zone: zone ?? '', extra: extra ?? '' },
    }),
    ...given('titleId', options.title),
    ...given('xml', xml === undefined ? undefined : fs.readFileSync(xml, 'utf8')),
    ...given('comment', options.comment),
    ...given('manialink', options.manialink),
    ...given('downloadUrl', options.downloadUrl),
    ...given('authorUrl', options.authorUrl),
    ...given('usageFolder', options.usageFolder),
    ...given('buildInfo', options.buildInfo),
    ...(created !== undefined && { time: fileTime(parseDate(created)) }),
    ...(include !== undefined && { includedPacks: await includedPacks(include) }),
  };
  checkPackInfo(info, version);
  return info;
}

function given<Name extends string>(name: Name, value: string | undefined): { [Key in Name]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: string });
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
