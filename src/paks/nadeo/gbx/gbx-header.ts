/*
 * The start of a GBX file, as far as packs need it: where the body begins, and what other files are referred to.
 * Little-endian.
 *
 *   magic             3    "GBX"
 *   version           u16  3 to 6
 *   format            3 letters, from version 4 on 4: B(inary) or T(ext) · reference table: U or C(ompressed) ·
 *                     body: U or C · R or E
 *   class id          u32
 *   [6+] user data    u32 size, bytes
 *   node count        u32
 *   -- a "dataless" GBX, as the metadata section has it, ends here --
 *   external count    u32, and only when it is not 0:
 *     ancestor level  u32  folders to go up from the file's own, before the folders below
 *     folders         u32 count, each: name string, then its folders in the same way
 *     externals       flags u32 · name string, or with flag 4 a resource index u32 · node index u32 ·
 *                     [5+ use file u32] · without flag 4: folder u32 (1 is the first of the list, 0 none)
 *   body
 *
 * (Mania Tech Wiki, GBX)
 */
import { formatError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import { startsWith } from '../../names.ts';
import { readString } from '../directory/strings.ts';

const maxNameBytes = 0x1000;
const maxFolderDepth = 32;
const maxCount = 0x4000;
const minFolderBytes = 8;
const minExternalBytes = 12;
const isResource = 4;

/** Another file, or a resource of the game, that a GBX refers to. */
interface GbxExternal {
  /** Path below the ancestor folder, with backslashes; undefined for a resource of the game. */
  path: string | undefined;
  nodeIndex: number;
}

/** The start of a GBX up to its body. */
export interface GbxHeader {
  version: number;
  /** "BUUR" and the like. */
  format: string;
  classId: number;
  nodeCount: number;
  /** Bytes up to and with the node count: all there is of a dataless GBX. */
  datalessSize: number;
  ancestorLevel: number;
  externals: GbxExternal[];
  bodyOffset: number;
}

/** True for bytes that start as a GBX does. */
export function looksLikeGbx(bytes: Uint8Array): boolean {
  const [low = 0, high] = bytes.subarray(3);
  return bytes.length >= 6 && startsWith(bytes, 'GBX') && high === 0 && low >= 3 && low <= 6;
}

/** Size of the dataless GBX at the start of some bytes. Throws E_FORMAT_MAGIC, E_FORMAT_VERSION, E_FORMAT_TRUNCATED. */
export function datalessGbxSize(bytes: Uint8Array): number {
  return readStart(new ByteReader(bytes, 'GBX')).datalessSize;
}

/**
 * Decodes the start of a GBX up to its body.
 * @throws E_FORMAT_MAGIC, E_FORMAT_VERSION, E_FORMAT_RANGE; E_FORMAT_TRUNCATED when there are not enough bytes yet,
 *   with the least number that may do as `data.expected` where that is known
 */
export function decodeGbxHeader(bytes: Uint8Array): GbxHeader {
  const reader = new ByteReader(bytes, 'GBX');
  const start = readStart(reader);
  const externalCount = limited(reader, maxCount);
  const header: GbxHeader = { ...start, ancestorLevel: 0, externals: [], bodyOffset: 0 };
  if (externalCount > 0) {
    header.ancestorLevel = limited(reader, maxFolderDepth);
    const folders = [''];
    readFolders(reader, folders, { path: '', depth: 0 });
    for (let left = externalCount; left > 0; left--) {
      demand(reader, left * minExternalBytes);
      header.externals.push(readExternal(reader, header.version, folders));
    }
  }
  header.bodyOffset = reader.pos;
  return header;
}

type GbxStart = Pick<GbxHeader, 'version' | 'format' | 'classId' | 'nodeCount' | 'datalessSize'>;

function readStart(reader: ByteReader): GbxStart {
  reader.magic('GBX');
  const version = reader.version('u16le', 3, 4, 5, 6);
  const format = reader.latin1(version >= 4 ? 4 : 3);
  const classId = reader.u32le();
  if (version >= 6) {
    const userDataSize = reader.u32le();
    demand(reader, userDataSize);
    reader.skip(userDataSize);
  }
  const nodeCount = reader.u32le();
  return { version, format, classId, nodeCount, datalessSize: reader.pos };
}

function readFolders(reader: ByteReader, folders: string[], at: { path: string; depth: number }): void {
  if (at.depth > maxFolderDepth)
    throw formatError('E_FORMAT_RANGE', 'GBX', 'folders nest too deep', { offset: reader.pos });
  const count = limited(reader, maxCount);
  for (let left = count; left > 0; left--) {
    demand(reader, left * minFolderBytes);
    const path = `${at.path}${readString(reader, maxNameBytes)}\\`;
    if (folders.push(path) > maxCount) {
      throw formatError('E_FORMAT_RANGE', 'GBX', 'too many folders', { offset: reader.pos });
    }
    readFolders(reader, folders, { path, depth: at.depth + 1 });
  }
}

function readExternal(reader: ByteReader, version: number, folders: readonly string[]): GbxExternal {
  const isFile = (reader.u32le() & isResource) === 0;
  const name = isFile ? readString(reader, maxNameBytes) : undefined;
  if (!isFile) reader.skip(4);
  const nodeIndex = reader.u32le();
  if (version >= 5) reader.skip(4);
  const folder = isFile ? folders[reader.u32le()] : undefined;
  return { path: name === undefined || folder === undefined ? undefined : folder + name, nodeIndex };
}

/** Tells how much is missing before it is found out piece by piece. */
function demand(reader: ByteReader, size: number): void {
  if (reader.remaining >= size) return;
  const facts = { offset: reader.pos, expected: reader.pos + size, found: reader.bytes.length };
  throw formatError('E_FORMAT_TRUNCATED', 'GBX', 'ends inside its header', facts);
}

function limited(reader: ByteReader, limit: number): number {
  const offset = reader.pos;
  const value = reader.u32le();
  if (value > limit)
    throw formatError('E_FORMAT_RANGE', 'GBX', `a count of ${value}`, { offset, expected: `at most ${limit}` });
  return value;
}
