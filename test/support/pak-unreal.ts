import { createCipheriv, createHash } from 'node:crypto';

/*
 * Unreal PAKs put together by hand, from the description and not with our own encoders. Only what the versions that have
 * no real file, or the odd cases, need.
 */

const sha1 = (bytes: Uint8Array): Buffer => createHash('sha1').update(bytes).digest();
export const i32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value | 0);
  return bytes;
};
export const i64 = (value: number | bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt.asIntN(64, BigInt(value)));
  return bytes;
};
export const fstring = (text: string): Buffer => Buffer.concat([i32(text.length + 1), Buffer.from(`${text}\0`)]);
const counted = (text: string): Buffer => Buffer.concat([i32(Buffer.byteLength(text)), Buffer.from(text)]);
const pad16 = (bytes: Buffer, fill = bytes): Buffer => {
  const missing = (16 - (bytes.length % 16)) % 16;
  return Buffer.concat([bytes, Buffer.from(Array.from({ length: missing }, (_, i) => fill[i % fill.length]!))]);
};

/** AES-256-ECB without padding. */
export function ecb(bytes: Buffer, key: Uint8Array): Buffer {
  return createCipheriv('aes-256-ecb', key, null).setAutoPadding(false).update(bytes);
}

/** AES-256-CTR with a 12-byte IV and the counter from 0. */
export function ctr(bytes: Buffer, key: Uint8Array, iv: Buffer): Buffer {
  return createCipheriv('aes-256-ctr', key, Buffer.concat([iv, Buffer.alloc(4)])).update(bytes);
}

/** FNV-1a as version 10 and as the later ones have it, written out once more. */
export function fnv(path: string, seed: bigint, version: number): bigint {
  const mask = (1n << 64n) - 1n;
  const [start, prime] = version === 10 ? [0x100000001b3n, 0xcbf29ce484222325n] : [0xcbf29ce484222325n, 0x100000001b3n];
  let hash = (start + seed) & mask;
  for (const character of path.toLowerCase()) {
    const code = character.charCodeAt(0);
    for (const byte of [code & 0xff, code >> 8]) hash = ((hash ^ BigInt(byte)) * prime) & mask;
  }
  return hash;
}

/** A file of a hand-made PAK. */
export interface UnrealRow {
  name: string;
  /** Blocks as they are stored before encryption; one that holds the content when it is not compressed. */
  blocks?: Buffer[];
  content: Buffer;
  /** 0 for none. */
  method?: number;
  blockSize?: number;
  /** As a plain record in the index, not in the short form. */
  isPlain?: boolean;
  isDeleted?: boolean;
}

export interface UnrealShape {
  version: number;
  key?: Uint8Array;
  encryptIndex?: boolean;
  encryptData?: boolean;
  /** AES-CTR; version 15. */
  isCtr?: boolean;
  methods?: string[];
  seed?: bigint;
  mountPoint?: string;
  hasDirectory?: boolean;
  hasPathHashes?: boolean;
  isFlat?: boolean;
  /** Names to list although there is no full directory. */
  pruned?: string[];
}

interface Stored {
  row: UnrealRow;
  offset: number;
  storedSize: number;
  sizes: number[];
  hash: Buffer;
  iv: Buffer;
  header: Buffer;
}

const ivOf = (label: string): Buffer => sha1(Buffer.from(label)).subarray(0, 12);

/** A PAK of version 10 to 15. */
export function unrealPak(rows: readonly UnrealRow[], shape: UnrealShape): Uint8Array {
  const { version, key, seed = 0x12345678n, mountPoint = '../../../Game/Content/', hasDirectory = true } = shape;
  const parts: Buffer[] = [];
  let at = 0;
  const put = (bytes: Buffer): void => {
    parts.push(bytes);
    at += bytes.length;
  };
  const stored = rows.flatMap((row) => {
    if (row.isDeleted) return [];
    const entry = storeEntry(row, at, shape);
    put(entry.header);
    put(entry.data);
    return [entry];
  });
  const encoded: Buffer[] = [];
  let encodedSize = 0;
  const plain: Buffer[] = [];
  const locations = new Map<string, number>(rows.map(({ name }) => [name, -0x80000000]));
  for (const entry of stored) {
    if (entry.row.isPlain) locations.set(entry.row.name, -plain.push(record(entry, entry.offset, shape)));
    else {
      locations.set(entry.row.name, encodedSize);
      encodedSize += encoded[encoded.push(encodedEntry(entry, shape)) - 1]!.length;
    }
  }
  const plainIvs = shape.isCtr ? stored.filter(({ row }) => row.isPlain).map(({ iv }) => iv) : [];
  const seal = (bytes: Buffer, label: string): { bytes: Buffer; hash: Buffer } => {
    if (!shape.encryptIndex) return { bytes, hash: sha1(bytes) };
    const whole = pad16(bytes);
    return { bytes: shape.isCtr ? ctr(whole, key!, ivOf(label)) : ecb(whole, key!), hash: sha1(whole) };
  };
  const listed = [...locations].map(([name, location]) => ({ name, location }));
  const prunedNames = listed.filter(({ name }) => shape.pruned?.includes(name));
  const hashes = seal(
    Buffer.concat([
      i32(listed.length),
      ...listed.flatMap(({ name, location }) => [i64(fnv(name, seed, version)), i32(location)]),
      directory(prunedNames, shape),
    ]),
    'hashes',
  );
  const full = seal(shape.isFlat ? flatDirectory(listed, seed, version) : directory(listed, shape), 'directory');
  const hasHashes = shape.hasPathHashes !== false;
  const primary = (start: number): { bytes: Buffer; hash: Buffer } =>
    seal(
      Buffer.concat([
        fstring(mountPoint),
        i32(rows.length),
        i64(seed),
        i32(hasHashes ? 1 : 0),
        ...(hasHashes ? [i64(start), i64(hashes.bytes.length), hashes.hash] : []),
        i32(hasDirectory ? 1 : 0),
        ...(hasDirectory
          ? [i64(start + (hasHashes ? hashes.bytes.length : 0)), i64(full.bytes.length), full.hash]
          : []),
        i32(Buffer.concat(encoded).length),
        ...encoded,
        i32(plain.length),
        ...plain,
        ...plainIvs,
      ]),
      'index',
    );
  const indexOffset = at;
  const index = primary(at + primary(0).bytes.length);
  put(index.bytes);
  if (hasHashes) put(hashes.bytes);
  if (hasDirectory) put(full.bytes);
  put(footer({ indexOffset, indexSize: index.bytes.length, indexHash: index.hash }, shape));
  return new Uint8Array(Buffer.concat(parts));
}

function storeEntry(row: UnrealRow, offset: number, shape: UnrealShape): Stored & { data: Buffer } {
  const isEncrypted = shape.encryptData === true;
  const iv = ivOf(row.name);
  const blocks = row.blocks ?? [row.content];
  const padded = isEncrypted ? blocks.map((block) => pad16(block, row.method ? block : row.content)) : blocks;
  const plain = Buffer.concat(padded);
  const data = !isEncrypted ? plain : shape.isCtr ? ctr(plain, shape.key!, iv) : ecb(plain, shape.key!);
  const storedSize = row.method ? data.length : row.content.length;
  const hash = sha1(data.subarray(0, storedSize));
  const sizes = row.method ? blocks.map(({ length }) => length) : [];
  const entry: Stored = { row, offset, storedSize, sizes, hash, iv, header: Buffer.alloc(0) };
  return { ...entry, header: record(entry, 0, shape), data };
}

function record({ row, storedSize, sizes, hash }: Stored, offset: number, shape: UnrealShape): Buffer {
  const method = row.method ?? 0;
  const blocks: Buffer[] = [];
  let start = 53 + (method ? 4 + sizes.length * 16 : 0);
  for (const size of sizes) {
    blocks.push(i64(start), i64(start + size));
    start += shape.encryptData ? Math.ceil(size / 16) * 16 : size;
  }
  return Buffer.concat([
    i64(offset),
    i64(storedSize),
    i64(row.content.length),
    i32(method),
    hash,
    ...(method ? [i32(sizes.length), ...blocks] : []),
    Buffer.of(shape.encryptData ? 1 : 0),
    i32(method ? (row.blockSize ?? row.content.length) : 0),
  ]);
}

function encodedEntry({ row, offset, storedSize, sizes, iv }: Stored, shape: UnrealShape): Buffer {
  const method = row.method ?? 0;
  const isEncrypted = shape.encryptData === true;
  const blockSize = row.blockSize ?? 0;
  const code = blockSize % 2048 === 0 && blockSize >> 11 < 63 ? blockSize >> 11 : 63;
  const bits = (code | (sizes.length << 6) | (isEncrypted ? 1 << 22 : 0) | (method << 23) | (7 << 29)) >>> 0;
  return Buffer.concat([
    i32(bits),
    ...(code === 63 ? [i32(blockSize)] : []),
    i32(offset),
    i32(row.content.length),
    ...(isEncrypted && shape.isCtr ? [iv] : []),
    ...(method ? [i32(storedSize), ...(sizes.length > 1 || isEncrypted ? sizes.map(i32) : [])] : []),
  ]);
}

type Listed = readonly { name: string; location: number }[];

function byFolder(listed: Listed): Map<string, { name: string; location: number }[]> {
  const folders = new Map<string, { name: string; location: number }[]>();
  for (const { name, location } of listed) {
    const split = name.lastIndexOf('/') + 1;
    const folder = split === 0 ? '/' : name.slice(0, split);
    folders.set(folder, [...(folders.get(folder) ?? []), { name: name.slice(split), location }]);
  }
  return folders;
}

function directory(listed: Listed, { version }: UnrealShape): Buffer {
  const folders = byFolder(listed);
  const parts = [i32(folders.size)];
  for (const [folder, files] of folders) {
    parts.push(fstring(folder), i32(files.length));
    for (const { name, location } of files) parts.push(version >= 12 ? counted(name) : fstring(name), i32(location));
  }
  return Buffer.concat(parts);
}

function flatDirectory(listed: Listed, seed: bigint, version: number): Buffer {
  const folders = [...byFolder(listed)].sort(([a], [b]) => (a < b ? -1 : 1));
  const files = folders.flatMap(([, inside]) => inside);
  const interval = 3;
  const names = files.map(({ name }) => Buffer.from(name));
  const dirParts: Buffer[] = [];
  const anchors: number[] = [];
  let before = '';
  for (const [i, [folder]] of folders.entries()) {
    if (i % interval === 0) anchors.push(Buffer.concat(dirParts).length);
    let shared = 0;
    while (i % interval !== 0 && shared < before.length && before[shared] === folder[shared]) shared++;
    dirParts.push(i32(shared), counted(folder.slice(shared)));
    before = folder;
  }
  const dirBlob = Buffer.concat(dirParts);
  const nameBlob = Buffer.concat(names);
  const sums = (sizes: number[]): number[] => {
    const all = [0];
    for (const size of sizes) all.push(all.at(-1)! + size);
    return all;
  };
  const hashes = listed.map(({ name, location }) => ({ hash: fnv(name, seed, version), location }));
  hashes.sort((a, b) => (a.hash < b.hash ? -1 : 1));
  return Buffer.concat([
    ...[0x50464451, folders.length, files.length, interval, dirBlob.length, nameBlob.length, hashes.length, 0].map(i32),
    ...hashes.map(({ hash }) => i64(hash)),
    ...hashes.map(({ location }) => i32(location)),
    ...[...anchors, dirBlob.length].map(i32),
    ...sums(folders.map(([, inside]) => inside.length)).map(i32),
    ...sums(names.map(({ length }) => length)).map(i32),
    ...files.map(({ location }) => i32(location)),
    dirBlob,
    nameBlob,
  ]);
}

interface IndexPlace {
  indexOffset: number;
  indexSize: number;
  indexHash: Buffer;
}

/** A footer of version 9 to 15. */
export function footer(
  { indexOffset, indexSize, indexHash }: IndexPlace,
  shape: UnrealShape & { isFrozen?: boolean },
): Buffer {
  const { version, methods = [] } = shape;
  const name = (text: string): Buffer => Buffer.concat([Buffer.from(text), Buffer.alloc(32 - text.length)]);
  return Buffer.concat([
    Buffer.alloc(16, 0xab),
    Buffer.of(shape.encryptIndex ? 1 : 0),
    i32(0x5a6f12e1),
    i32(version),
    i64(indexOffset),
    i64(indexSize),
    indexHash,
    ...(version === 9 ? [Buffer.of(shape.isFrozen ? 1 : 0)] : []),
    ...Array.from({ length: 5 }, (_, i) => name(methods[i] ?? '')),
    ...(version >= 14 ? [i32(7)] : []),
    ...(version >= 15 ? [Buffer.of(shape.isCtr ? 2 : 1), ivOf('index'), ivOf('hashes'), ivOf('directory')] : []),
  ]);
}

/** A file of a frozen index. */
export interface FrozenRow {
  name: string;
  content: Buffer;
}

/** A PAK of version 9 with a frozen index: the engine's structures as they lie in memory. */
export function frozenPak(rows: readonly FrozenRow[], mountPoint: string): Uint8Array {
  const parts: Buffer[] = [];
  const offsets: number[] = [];
  for (const { content } of rows) {
    offsets.push(Buffer.concat(parts).length);
    parts.push(
      Buffer.concat([i64(0), i64(content.length), i64(content.length), i32(0), sha1(content), Buffer.alloc(5)]),
      content,
    );
  }
  const indexOffset = Buffer.concat(parts).length;
  const image = Buffer.alloc(1 << 16);
  let free = 96;
  const room = (size: number): number => {
    const at = free;
    free += Math.ceil(size / 8) * 8;
    return at;
  };
  const point = (at: number, target: number): void => void image.writeBigInt64LE(BigInt(target - at) * 2n + 1n, at);
  const array = (at: number, target: number, count: number): void => {
    point(at, target);
    image.writeInt32LE(count, at + 8);
    image.writeInt32LE(count, at + 12);
  };
  const text = (at: number, value: string): void => {
    const bytes = Buffer.from(`${value}\0`, 'utf16le');
    const target = room(bytes.length);
    bytes.copy(image, target);
    array(at, target, value.length + 1);
  };
  // One element more than is in use, so that the bits matter.
  const map = (at: number, count: number, elementSize: number): number => {
    const elements = room((count + 1) * elementSize);
    const bits = room(4);
    for (let i = 1; i <= count; i++) image[bits + (i >> 3)]! |= 1 << (i & 7);
    array(at, elements, count + 1);
    array(at + 16, bits, count + 1);
    return elements + elementSize;
  };
  text(0, mountPoint);
  const entries = room(rows.length * 80);
  array(16, entries, rows.length);
  for (const [i, { content }] of rows.entries()) {
    const at = entries + i * 80;
    Buffer.concat([i64(offsets[i]!), i64(content.length), i64(content.length), sha1(content)]).copy(image, at);
  }
  const folders = [...byFolder(rows.map(({ name }, location) => ({ name, location })))];
  const directories = map(32, folders.length, 80);
  for (const [i, [folder, files]] of folders.entries()) {
    text(directories + i * 80, folder);
    const elements = map(directories + i * 80 + 16, files.length, 32);
    for (const [k, { name, location }] of files.entries()) {
      text(elements + k * 32, name);
      image.writeInt32LE(location, elements + k * 32 + 16);
    }
  }
  const index = image.subarray(0, free);
  const end = footer({ indexOffset, indexSize: index.length, indexHash: sha1(index) }, { version: 9, isFrozen: true });
  return new Uint8Array(Buffer.concat([...parts, index, end]));
}

/** A PAK of version 1 to 7, with every number of a row as it is given. @param shape.key encrypts the index; from version 4 on */
export function legacyPak(
  rows: readonly LegacyRow[],
  { version, mountPoint = '../../../', key }: { version: number; mountPoint?: string; key?: Uint8Array },
): Uint8Array {
  const parts: Buffer[] = [];
  const index: Buffer[] = [fstring(mountPoint), i32(rows.length)];
  let at = 0;
  for (const row of rows) {
    const blocks = row.blocks ?? [row.content];
    const data = row.isDeleted ? Buffer.alloc(0) : Buffer.concat(blocks);
    const header = legacyRecord(row, { version, base: at, data, blocks });
    index.push(fstring(row.name), i64(row.isDeleted ? 0 : at), header.subarray(8));
    if (row.isDeleted) continue;
    parts.push(header, data);
    at += header.length + data.length;
  }
  const bytes = key === undefined ? Buffer.concat(index) : pad16(Buffer.concat(index));
  const flag = Buffer.of(key === undefined ? 0 : 1);
  const lead = [...(version >= 7 ? [Buffer.alloc(16)] : []), ...(version >= 4 ? [flag] : [])];
  const end = [...lead, i32(0x5a6f12e1), i32(version), i64(at), i64(bytes.length), sha1(bytes)];
  return new Uint8Array(Buffer.concat([...parts, key === undefined ? bytes : ecb(bytes, key), ...end]));
}

export interface LegacyRow {
  name: string;
  content: Buffer;
  blocks?: Buffer[];
  /** Bits. */
  method?: number;
  blockSize?: number;
  /** Decoded size, when it is to be another than it is. */
  size?: number;
  time?: bigint;
  /** Zeros in place of the SHA-1. */
  hasNoHash?: boolean;
  isDeleted?: boolean;
  /** Starts and ends of blocks, when they are to be others than they are. */
  ranges?: [number | bigint, number | bigint][];
}

function legacyRecord(
  row: LegacyRow,
  { version, base, data, blocks }: { version: number; base: number; data: Buffer; blocks: Buffer[] },
): Buffer {
  const method = row.method ?? 0;
  let start = 53 + 4 + (row.ranges ?? blocks).length * 16 + (version >= 5 ? 0 : base);
  const ranges =
    row.ranges ??
    blocks.map(({ length }): [number, number] => {
      start += length;
      return [start - length, start];
    });
  return Buffer.concat([
    i64(0),
    i64(data.length),
    i64(row.size ?? row.content.length),
    i32(method),
    ...(version === 1 ? [i64(row.time ?? 0)] : []),
    row.hasNoHash ? Buffer.alloc(20) : sha1(data),
    ...(version >= 3 && method ? [i32(ranges.length), ...ranges.flat().map(i64)] : []),
    ...(version >= 3 ? [Buffer.of(row.isDeleted ? 2 : 0), i32(row.blockSize ?? row.content.length)] : []),
  ]);
}
