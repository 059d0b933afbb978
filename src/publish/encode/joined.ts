import { concatBytes } from '../../core/bytes.ts';

/**
 * Copies of some bytes that lie in one buffer, to be sent to another thread: each buffer costs as much as some KiB, and of a view all that it is a view of
 * would be sent. @param isOwn nobody looks at the bytes again: those that have a buffer of their own, and are alone, are sent as they are
 */
export function joined(parts: readonly Uint8Array[], isOwn = false): Uint8Array<ArrayBuffer>[] {
  if (isOwn && parts.length === 1 && hasOwnBuffer(parts[0]!)) return [parts[0] as Uint8Array<ArrayBuffer>];
  const all = concatBytes(parts) as Uint8Array<ArrayBuffer>;
  let end = 0;
  return parts.map(({ length }) => {
    end += length;
    return all.subarray(end - length, end);
  });
}

/** What is let go of when such copies are sent. */
export function transferOf([first]: readonly Uint8Array<ArrayBuffer>[]): ArrayBuffer[] {
  return first === undefined ? [] : [first.buffer];
}

/** True for bytes that are all of their buffer. */
export function hasOwnBuffer({ buffer, byteLength }: Uint8Array): boolean {
  return buffer.byteLength === byteLength;
}
