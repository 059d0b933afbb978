import signatures from '../../data/file-signatures.json' with { type: 'json' };
import { fromHex } from '../core/bytes.ts';

const unrealMagic = [0xe1, 0x12, 0x6f, 0x5a];
const footerReach = 512;

/**
 * The likely kind of a file that no PAK family claims, as it ends the sentence "it looks like …".
 * @param head up to 4 KiB from the start, @param tail up to 4 KiB from the end, @param size of the whole file
 */
export function identify(head: Uint8Array, tail: Uint8Array, size: number): string {
  if (size === 0) return 'an empty file';
  const known = signatures.find(({ bytes, offset = 0 }) =>
    fromHex(bytes).every((byte, i) => head[offset + i] === byte),
  );
  if (known !== undefined) return known.kind;
  const footer = findUnrealMagic(tail);
  if (footer !== undefined) {
    return `an Unreal PAK of a game that changed the footer: the magic is ${footer} bytes before the end, where no version has it`;
  }
  if (head.every((byte) => byte === 0))
    return 'a file that starts with zeros only, such as a download that was never finished';
  if (isText(head)) return /^\s*<(!doctype html|html)/i.test(latin1(head)) ? 'an HTML page' : 'text';
  if (tail.every((byte) => byte === 0)) {
    return 'no format that is known; it ends in zeros, as Unreal PAKs of games do that remove the footer';
  }
  return 'no format that is known (it may be encrypted)';
}

/** Distance from the end of the file to the last magic of an Unreal footer, in bytes; undefined when there is none. */
function findUnrealMagic(tail: Uint8Array): number | undefined {
  for (let fromEnd = unrealMagic.length; fromEnd <= Math.min(tail.length, footerReach); fromEnd++) {
    if (unrealMagic.every((byte, i) => tail[tail.length - fromEnd + i] === byte)) return fromEnd;
  }
  return undefined;
}

function isText(head: Uint8Array): boolean {
  return head.every((byte) => byte >= 0x20 || byte === 9 || byte === 10 || byte === 13);
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 64));
}
