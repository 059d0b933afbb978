import * as Flags from '@oclif/core/flags';
import { repeatable } from './shared-flags.ts';

const helpGroup = 'HEADER';
const text = (summary: string, helpValue = 'TEXT') => Flags.string({ summary, helpGroup, helpValue });

/** The flags for facts in the header of a NadeoPak, from version 6 on. */
export const headerFlags = {
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
    ...repeatable,
  }),
};
