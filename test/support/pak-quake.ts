/** A record as a test wants it; numbers are written as they are, right or wrong. */
export interface QuakeRow {
  name: string | Uint8Array;
  content?: Uint8Array | string;
  offset?: number;
  size?: number;
  storedSize?: number;
  isCompressed?: number;
  /** Bytes to fill the name field with, behind the NUL. */
  garbage?: number;
}

export interface QuakeShape {
  magic?: string;
  nameSize?: number;
  isDaikatana?: boolean;
  directorySize?: number;
  directoryOffset?: number;
  /** Bytes between header and data. */
  gap?: number;
  tail?: Uint8Array;
}

const bytesOf = (value: Uint8Array | string): Uint8Array =>
  typeof value === 'string' ? new TextEncoder().encode(value) : value;

/** A PAK put together by hand, byte by byte. */
export function quakePak(rows: readonly QuakeRow[], shape: QuakeShape = {}): Uint8Array {
  const { magic = 'PACK', nameSize = 56, isDaikatana = false, gap = 0, tail = new Uint8Array(0) } = shape;
  const data: number[] = new Array<number>(gap).fill(0xee);
  const directory: number[] = [];
  const i32 = (value: number): number[] => [
    value & 0xff,
    (value >> 8) & 0xff,
    (value >> 16) & 0xff,
    (value >> 24) & 0xff,
  ];
  for (const row of rows) {
    const content = bytesOf(row.content ?? '');
    const name = bytesOf(row.name);
    const field = new Array<number>(nameSize).fill(row.garbage ?? 0);
    if (name.length < nameSize) field[name.length] = 0;
    for (const [i, byte] of name.entries()) field[i] = byte;
    directory.push(...field, ...i32(row.offset ?? 12 + data.length), ...i32(row.size ?? content.length));
    if (isDaikatana) directory.push(...i32(row.storedSize ?? content.length), ...i32(row.isCompressed ?? 0));
    data.push(...content);
  }
  const offset = shape.directoryOffset ?? 12 + data.length;
  const header = [...bytesOf(magic), ...i32(offset), ...i32(shape.directorySize ?? directory.length)];
  return Uint8Array.from([...header, ...data, ...directory, ...tail]);
}
