/** A format, and how an object of it is told from others. */
export interface Format {
  /** Its name, as messages have it. */
  readonly name: string;
  /**
   * Whether an object is of this format, as far as a cheap look tells. Never throws; an object that matches may still be damaged.
   * @param head the first {@link headSize} bytes of the object, or all of it when it is shorter; all of it where {@link needsAll} says so
   */
  matches(head: Uint8Array): boolean;
  /** Whether the head is not enough: the size or the end of an object tells, or nothing less than reading it. */
  readonly needsAll?: boolean;
}

/** Bytes of an object that formats look at. */
export const headSize = 4096;

/** Tells objects that start with one of these texts, a character a byte. */
export function startsWith(...starts: readonly string[]): Format['matches'] {
  return (head) => starts.some((start) => [...start].every((character, i) => head[i] === character.charCodeAt(0)));
}

/** Tells objects of eight bytes or more that start with this little-endian number. */
export function startsWithU32le(value: number): Format['matches'] {
  return (head) => head.length >= 8 && new DataView(head.buffer, head.byteOffset, 4).getUint32(0, true) === value;
}

/** Tells objects that can be read. @param isSound what the value must be besides */
export function canBeRead<Value>(
  decode: (bytes: Uint8Array) => Value,
  isSound: (value: Value) => boolean = () => true,
): Format['matches'] {
  return (bytes) => {
    try {
      return isSound(decode(bytes));
    } catch {
      return false;
    }
  };
}
