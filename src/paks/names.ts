import { PakratError } from '../core/errors.ts';
import { nameParts } from '../files/output/output-path.ts';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** Turns the bytes from `start` to `end` of a directory into text. */
export interface NameDecoder {
  (bytes: Uint8Array, start: number, end: number): string;
  /** True when it makes of each byte of ASCII the character that it is, whatever stands around it. */
  readonly keepsAscii?: true | undefined;
}

/**
 * The decoder of names: UTF-8, or Latin-1 when the bytes are no UTF-8; or of the encoding that is asked for.
 * @throws E_USAGE for an encoding that does not exist
 */
export function nameDecoder(encoding?: string): NameDecoder {
  if (encoding === undefined) return utf8OrLatin1Decoder();
  try {
    const decoder = new TextDecoder(encoding);
    return (bytes, start, end) => decoder.decode(bytes.subarray(start, end));
  } catch (cause) {
    throw new PakratError('E_USAGE', `${JSON.stringify(encoding)} is no text encoding`, {
      hint: 'Use a name such as utf-8, windows-1252 or shift_jis.',
      cause,
    });
  }
}

function utf8OrLatin1Decoder(): NameDecoder {
  // One view of a whole directory, not one for each of its thousands of names.
  let known: Uint8Array | undefined;
  let buffer: Buffer = Buffer.alloc(0);
  const decode = (bytes: Uint8Array, start: number, end: number): string => {
    if (bytes !== known) buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    known = bytes;
    const text = buffer.toString('utf8', start, end);
    // A replacement character is rare enough to look twice: it may also stand in the name itself.
    return text.includes('\ufffd') && !isUtf8(bytes.subarray(start, end))
      ? buffer.toString('latin1', start, end)
      : text;
  };
  return Object.assign(decode, { keepsAscii: true as const });
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictUtf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * A stored name as it is listed and asked for: with `/` between its parts, without `.` and without slashes in front. u4pak's
 * `pack x.pak .` stores `./a`, and means `a`. What leads out of the folder stays, so that it is refused where files are written.
 */
export function cleanName(stored: string): string {
  const name = stored.includes('\\') ? stored.replaceAll('\\', '/') : stored;
  return /^\/|(?:^|\/)\.\//.test(name) ? nameParts(name).join('/') : name;
}

/** Names as engines that ignore case compare them. */
export function foldName(name: string): string {
  return cleanName(name).toLowerCase();
}

/** True when bytes start with these letters. */
export function startsWith(bytes: Uint8Array, letters: string): boolean {
  return [...letters].every((letter, i) => bytes[i] === letter.charCodeAt(0));
}
