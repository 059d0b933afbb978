import * as fs from 'node:fs';
import { basename } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { PakratError } from '../core/errors.ts';
import type { PackInfo } from '../paks/nadeo/write/write.ts';

const helpGroup = 'HEADER';
const text = (summary: string, helpValue = 'TEXT') => Flags.string({ summary, helpGroup, helpValue });

/** What the header of a NadeoPak may tell of it, from version 6 on. */
export const packInfoFlags = {
  author: text('Login of the author.', 'LOGIN'),
  'author-nick': text('Nick name of the author.'),
  'author-zone': text('Where the author comes from, such as World|Europe.'),
  'author-extra': text('More about the author.'),
  title: text('Title id, such as TMStadium@nadeo (12 and above).', 'ID'),
  xml: text('File whose text is the XML of the pack (12 and above).', 'FILE'),
  comment: text('Comment (7 and above).'),
  manialink: text('Manialink (9 and above).', 'LINK'),
  'download-url': text('Where the pack can be had (13 and above).', 'URL'),
  'author-url': text('URL of the author (8).', 'URL'),
  'usage-folder': text('Folder that the pack is for (9 and above).', 'NAME'),
  'build-info': text('What built it (8 and above).'),
  created: text(
    'When it was made (9 and above). Default: no time, so that the same files give the same bytes.',
    'DATE',
  ),
  include: Flags.string({
    summary: 'Pack that this one includes (10 and above). Repeatable.',
    helpGroup,
    helpValue: 'FILE',
    multiple: true,
    multipleNonGreedy: true,
  }),
};

/** The flags as oclif parses them. */
export type PackInfoFlags = {
  [Name in keyof typeof packInfoFlags]?: (Name extends 'include' ? string[] : string) | undefined;
};

/**
 * What the flags come to.
 * @throws E_USAGE for what this version has no place for, and for a date that is none; as opening an included pack does
 */
export async function packInfo(flags: PackInfoFlags, version: number): Promise<PackInfo> {
  const { checkPackInfo, fileTime } = await import('../paks/nadeo/header/pack-info.ts');
  const { author, 'author-nick': nick, 'author-zone': zone, 'author-extra': extra, created } = flags;
  const hasAuthor = [author, nick, zone, extra].some((part) => part !== undefined);
  const info: PackInfo = {
    ...(hasAuthor && {
      author: { version: 0, login: author ?? '', nick: nick ?? '', zone: zone ?? '', extra: extra ?? '' },
    }),
    ...given('titleId', flags.title),
    ...given('xml', flags.xml === undefined ? undefined : fs.readFileSync(flags.xml, 'utf8')),
    ...given('comment', flags.comment),
    ...given('manialink', flags.manialink),
    ...given('downloadUrl', flags['download-url']),
    ...given('authorUrl', flags['author-url']),
    ...given('usageFolder', flags['usage-folder']),
    ...given('buildInfo', flags['build-info']),
    ...(created !== undefined && { time: fileTime(parseDate(created)) }),
    ...(flags.include !== undefined && { includedPacks: await includedPacks(flags.include) }),
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
  const { describeIncluded } = await import('../paks/nadeo/header/pack-info.ts');
  const { fileSource } = await import('../files/file-source.ts');
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
