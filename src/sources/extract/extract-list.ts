import { isKeyHex } from '../../core/bytes.ts';
import type { PakratError } from '../../core/errors.ts';
import { decodeList, readList } from '../../files/given/text-list.ts';

/*
 * A list of files to extract: UTF-8 text, a file a line, with the name to write it under behind a semicolon where it is to have another.
 *
 *   interface/icons/a.blp            a name                       interface/icons/a.blp;a.blp
 *   801575, fdid:801575              a file data id               801575;DBFilesClient/BattlePet.db2
 *   ckey:HEX, ekey:HEX               a content or encoding key    ckey:7fa7faa0fdece01a838af3c4005f7f69;a.db2
 *   index:N                          a number in a PAK
 *   # text                           a remark; blank lines and a byte order mark are passed over, too
 *
 * The lines of TACTTool's lists mean what they mean there: ckey;HEX, chash;HEX, ekey;HEX, ehash;HEX, install;NAME, each with ;OUTPUT or without.
 */

/** A line of a list. */
export interface ListEntry {
  /** A name, or `fdid:N`, `ckey:HEX`, `ekey:HEX`. */
  name: string;
  /** The name to write it under; not safe before output-path has seen it. */
  output?: string | undefined;
}

/** The first field of a line of TACTTool, and what it means. */
const modes: Readonly<Record<string, string>> = {
  ckey: 'ckey:',
  chash: 'ckey:',
  ekey: 'ekey:',
  ehash: 'ekey:',
  install: '',
};

/**
 * Reads a list of files to extract.
 * @throws E_FORMAT that names the line which is none
 */
export function decodeExtractList(bytes: Uint8Array): ListEntry[] {
  return decodeList(bytes, entryOf);
}

function entryOf([first = '', ...rest]: readonly string[], refused: (problem: string) => PakratError): ListEntry {
  const mode = rest.length > 0 ? modes[first.toLowerCase()] : undefined;
  const [name = '', output, ...more] = mode === undefined ? [first, ...rest] : [`${mode}${rest[0]}`, ...rest.slice(1)];
  const problem = problemOf(name, output) ?? (more.length > 0 ? 'it has too many fields' : undefined);
  if (problem !== undefined) throw refused(problem);
  return { name: /^\d+$/.test(name) ? `fdid:${name}` : name, output };
}

function problemOf(name: string, output: string | undefined): string | undefined {
  const [, scheme, value = ''] = /^(?:(fdid|ckey|ekey):)?(.*)$/i.exec(name) ?? [];
  const isKey = /^[ce]key$/i.test(scheme ?? '');
  if (value === '') return 'it names no file';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no name has them, other files do
  if (/[\u0000-\u001f]/.test(name + (output ?? ''))) return 'it has a control character';
  if (isKey && !isKeyHex(value)) return 'a key has 32 hex digits';
  const isId = scheme?.toLowerCase() === 'fdid' || /^\d+$/.test(name);
  if (isId && !(/^\d{1,10}$/.test(value) && Number(value) <= 0xffffffff)) return 'a file data id is a 32-bit number';
  return output === '' ? 'there is nothing behind its semicolon' : undefined;
}

/** Reads a list from a file, or from pieces of one. @throws E_USAGE for one that is too large, E_FORMAT, E_NOT_FOUND */
export async function readExtractList(list: string | AsyncIterable<Uint8Array>): Promise<ListEntry[]> {
  return decodeExtractList(await readList(list));
}
