/*
 * The tar format as POSIX has it (ustar, and pax records where ustar has no room). A file is a header of 512 bytes, its
 * content, and zeros up to a multiple of 512; two blocks of zeros end it.
 *
 *   0    name 100      100  mode 8       108  uid 8        116  gid 8
 *   124  size 12       136  mtime 12     148  checksum 8   156  type: '0' file, 'x' pax records for the next file
 *   157  link 100      257  "ustar\0"    263  "00"         265  user name 32, group name 32
 *   329  device 8, 8   345  prefix 155
 *
 * Numbers are octal digits with a NUL behind. The checksum is the sum of the header's bytes, its own field taken as blanks.
 * A pax record is "LENGTH KEY=VALUE\n", where LENGTH counts itself. (IEEE Std 1003.1, pax.)
 */
import { concatBytes } from '../../core/bytes.ts';

const blockSize = 512;
const maxName = 100;
/** Eleven octal digits. */
const maxOctal = 0o77777777777;
const encoder = new TextEncoder();

/** The header of a file. @param name relative, with `/` @param mtime default 1970 */
export function tarHeader(name: string, size: number, mtime?: Date): Uint8Array {
  const records: string[] = [];
  if (Buffer.byteLength(name) > maxName || /[^ -~]/.test(name)) records.push(paxRecord('path', name));
  if (size > maxOctal) records.push(paxRecord('size', String(size)));
  const time = Math.max(0, Math.floor((mtime?.getTime() ?? 0) / 1000));
  const own = header({ name, size: size > maxOctal ? 0 : size, time: Math.min(time, maxOctal), type: '0' });
  if (records.length === 0) return own;
  const body = encoder.encode(records.join(''));
  const pax = header({ name: 'pax-header', size: body.length, time: 0, type: 'x' });
  return concatBytes([pax, body, tarPadding(body.length), own]);
}

/** Zeros behind a content of this size. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((blockSize - (size % blockSize)) % blockSize);
}

/** The end of a tar. */
export function tarEnd(): Uint8Array {
  return new Uint8Array(2 * blockSize);
}

function header({ name, size, time, type }: { name: string; size: number; time: number; type: string }): Uint8Array {
  const block = Buffer.alloc(blockSize);
  const rights = `${octal(0o644, 8)}${octal(0, 8)}${octal(0, 8)}`;
  block.write(name, 0, maxName);
  block.write(`${rights}${octal(size, 12)}${octal(time, 12)}${' '.repeat(8)}${type}`, 100);
  block.write('ustar\x0000', 257);
  let checksum = 0;
  for (let i = 0; i < blockSize; i++) checksum += block[i]!;
  block.write(octal(checksum, 7), 148);
  return block;
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}

function paxRecord(key: string, value: string): string {
  const rest = encoder.encode(` ${key}=${value}\n`).length;
  let length = rest;
  // The number of digits counts, and may grow by counting.
  while (String(length).length + rest !== length) length = String(length).length + rest;
  return `${length} ${key}=${value}\n`;
}
