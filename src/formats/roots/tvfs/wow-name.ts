import { fromHex } from '../../../core/bytes.ts';

/*
 * World of Warcraft keeps its root as TVFS manifests too; the paths are numbers in hex:
 *
 *   8 digits locale flags, 4 or 8 digits content flags   the path in the outer manifest
 *   ":"                                                  where the nested manifest begins
 *   8 digits file data id, 32 digits ckey                the path in the nested manifest
 *
 * Content flags had 4 digits up to about build 46144 and have 8 from about 63728. In build 45779 the last digit of
 * every ckey is missing. Source: CascLib, and the names of real manifests.
 */

/** The numbers that a path of WoW's TVFS manifests is made of. */
export interface WowTvfsName {
  localeFlags: number;
  contentFlags: number;
  fileDataId: number;
  /** Absent when the name has lost its last digit; the span knows the ckey then. */
  ckey?: Uint8Array;
  /** The ckey as the name has it, lower-case hex: 32 digits, or 31 in build 45779. */
  ckeyDigits: string;
}

const pattern = /^([0-9a-f]{8})([0-9a-f]{4}|[0-9a-f]{8}):([0-9a-f]{8})([0-9a-f]{31,32})$/;

/** Reads a full path, outer and nested one joined with ':'. Gives undefined for any other path, such as `.root`. */
export function parseWowTvfsName(path: string): WowTvfsName | undefined {
  const parts = pattern.exec(path.toLowerCase());
  if (parts === null) return undefined;
  const [, locale, content, id, ckeyDigits] = parts as unknown as [string, string, string, string, string];
  const name: WowTvfsName = {
    localeFlags: Number.parseInt(locale, 16),
    contentFlags: Number.parseInt(content, 16),
    fileDataId: Number.parseInt(id, 16),
    ckeyDigits,
  };
  if (ckeyDigits.length === 32) name.ckey = fromHex(ckeyDigits);
  return name;
}
