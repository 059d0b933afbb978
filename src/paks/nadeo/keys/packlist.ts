/*
 * packlist.dat: the keys of the packs of TrackMania United, Nations and Virtual Skipper 5. Little-endian.
 *
 *   version       u8     1
 *   count         u8     number of packs
 *   product CRC   u32    CRC-32 of the product's name in lower case, 0 when no entry is bound to a product
 *   salt          u32    used as its decimal text
 *   entries       flags u8 (bit 0: bound to the product) · name size u8 (1 to 31) · name · key, 32 hex digits;
 *                 name and key are xored with hashes of salt and secret, the key's hash also of the name
 *   signature     16     HMAC-MD5 over everything in front of it
 *
 * (Mania Tech Wiki and wiki.xaseco.org; product binding and the secrets of Virtual Skipper from one source each.
 * The signature secret of Virtual Skipper is not known: its lists are told by what they decrypt to.)
 */
import { createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { concatBytes, equalBytes } from '../../../core/bytes.ts';
import { formatError, PakratError } from '../../../core/errors.ts';
import { md5 } from '../../../core/hash.ts';
import { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';

const what = 'packlist.dat';
const headerSize = 10;
const signatureSize = 16;
const keyDigits = 32;
const maxNameSize = 31;
const boundToProduct = 1;

/** The games whose lists are known; they differ in their secrets. */
type PacklistGame = 'trackmania' | 'skipper';

interface Secrets {
  name: string;
  key: string;
  productKey: string;
  signature: string | undefined;
}

const productKeySecret = '1FCF6EFCF41CAAAD0B810C656DF2DE33';
const secretsOf: Record<PacklistGame, Secrets> = {
  trackmania: {
    name: '6611992868945B0B59536FC3226F3FD0',
    key: 'B97C1205648A66E04F86A1B5D5AF9862',
    productKey: productKeySecret,
    signature: 'E3554B5828AF14F11AA42A5EAF0AEFC8',
  },
  skipper: {
    name: '33751203003810C43D169A5B608FC820',
    key: '5A8BFF30451E627EAB838DADFB120FB6',
    productKey: productKeySecret,
    signature: undefined,
  },
};

/** One pack of the list. */
export interface PacklistEntry {
  /** Name of the pack without ".pak", as stored. */
  name: string;
  /** As stored; bit 0: the key can be read only with the name of the product. */
  flags: number;
  /** The base key as 32 hex digits, or undefined when the product's name is needed and was not given. */
  keyString: string | undefined;
}

/** A decoded packlist.dat. */
export interface Packlist {
  version: number;
  game: PacklistGame;
  /** CRC-32 of the product's name in lower case; 0 when no entry is bound. */
  productCrc: number;
  salt: number;
  /** True when the signature was checked; Virtual Skipper's cannot be. */
  signed: boolean;
  entries: PacklistEntry[];
}

/**
 * Decodes a packlist.dat.
 * @param product name of the game's product, for entries that are bound to it
 * @throws E_FORMAT_VERSION, E_FORMAT_TRUNCATED, E_FORMAT_RANGE, E_FORMAT, E_FORMAT_CHECKSUM for a wrong signature,
 *   E_USAGE when `product` is not the product that the list is bound to
 */
export function decodePacklist(bytes: Uint8Array, product?: string): Packlist {
  const reader = new ByteReader(bytes, what);
  const version = reader.version('u8', 1);
  const count = reader.u8();
  const listCrc = reader.u32le();
  const salt = reader.u32le();
  const entriesSize = reader.remaining - signatureSize;
  if (entriesSize < 0)
    throw formatError('E_FORMAT_TRUNCATED', what, 'no room for the signature', { offset: reader.pos });
  if (product !== undefined && listCrc !== 0 && productCrc(product) !== listCrc) {
    throw new PakratError('E_USAGE', `${what} is bound to another product than ${JSON.stringify(product)}`);
  }
  const rows = splitRows(reader.sub(entriesSize), count);
  const game = isSigned(bytes, secretsOf.trackmania, salt) ? 'trackmania' : 'skipper';
  const entries = decodeRows(rows, { game, salt, product });
  if (game === 'skipper' && !entries?.some(({ keyString }) => keyString !== undefined)) {
    const facts = { offset: bytes.length - signatureSize };
    throw formatError('E_FORMAT_CHECKSUM', what, 'the signature does not match', facts);
  }
  if (entries === undefined) {
    throw formatError('E_FORMAT', what, 'its entries do not decrypt to names and keys', { offset: headerSize });
  }
  return { version, game, productCrc: listCrc, salt, signed: game === 'trackmania', entries };
}

/** Encodes a list; `product` is for entries bound to it. Throws E_USAGE for keys or names that cannot be stored. */
export function encodePacklist(list: Packlist, product?: string): Uint8Array {
  const secrets = secretsOf[list.game];
  const writer = new ByteWriter().u8(list.version).u8(list.entries.length).u32le(list.productCrc).u32le(list.salt);
  for (const { name, flags, keyString } of list.entries) {
    const nameBytes = latin1Bytes(name);
    if (nameBytes.length < 1 || nameBytes.length > maxNameSize || !isKeyString(keyString)) {
      const problem = `${JSON.stringify(name)} needs a name of 1 to 31 characters and a key of 32 hex digits`;
      throw new PakratError('E_USAGE', problem);
    }
    const pad = keyPad(secrets, { name, flags, salt: list.salt, product });
    if (pad === undefined) throw new PakratError('E_USAGE', `${name} is bound to a product, and none is given`);
    writer.u8(flags).u8(nameBytes.length);
    writer.raw(xored(nameBytes, namePad(secrets, list.salt))).raw(xored(latin1Bytes(keyString), pad));
  }
  const body = writer.bytes();
  return concatBytes([body, sign(body, secrets, list.salt)]);
}

interface Row {
  flags: number;
  name: Uint8Array;
  key: Uint8Array;
}

function splitRows(reader: ByteReader, count: number): Row[] {
  const rows: Row[] = [];
  for (let i = 0; i < count; i++) {
    const flags = reader.u8();
    const nameSize = reader.u8();
    if (nameSize < 1 || nameSize > maxNameSize) {
      const facts = { offset: headerSize + reader.pos - 1 };
      throw formatError('E_FORMAT_RANGE', what, `entry ${i} has a name of ${nameSize} bytes`, facts);
    }
    rows.push({ flags, name: reader.take(nameSize), key: reader.take(keyDigits) });
  }
  reader.end();
  return rows;
}

/** The entries in plain, or undefined when they are not names and keys with this game's secrets. */
function decodeRows(
  rows: readonly Row[],
  { game, salt, product }: { game: PacklistGame; salt: number; product: string | undefined },
): PacklistEntry[] | undefined {
  const secrets = secretsOf[game];
  const entries: PacklistEntry[] = [];
  for (const row of rows) {
    const name = latin1Text(xored(row.name, namePad(secrets, salt)));
    if (!/^[!-~]+$/.test(name)) return undefined;
    const pad = keyPad(secrets, { name, flags: row.flags, salt, product });
    const keyString = pad === undefined ? undefined : latin1Text(xored(row.key, pad));
    if (keyString !== undefined && !isKeyString(keyString)) return undefined;
    entries.push({ name, flags: row.flags, keyString });
  }
  return entries;
}

function namePad(secrets: Secrets, salt: number): Uint8Array {
  return md5(latin1Bytes(secrets.name + salt));
}

function keyPad(
  secrets: Secrets,
  { name, flags, salt, product }: { name: string; flags: number; salt: number; product: string | undefined },
): Uint8Array | undefined {
  if ((flags & boundToProduct) === 0) return md5(latin1Bytes(name + salt + secrets.key));
  if (product === undefined) return undefined;
  return md5(latin1Bytes(name + salt + secrets.productKey + product.toLowerCase()));
}

function isSigned(bytes: Uint8Array, secrets: Secrets, salt: number): boolean {
  const end = bytes.length - signatureSize;
  return equalBytes(sign(bytes.subarray(0, end), secrets, salt), bytes.subarray(end));
}

/** The signature of a list. Virtual Skipper's secret is unknown; its lists get zeros. */
function sign(body: Uint8Array, { signature: secret }: Secrets, salt: number): Uint8Array {
  if (secret === undefined) return new Uint8Array(signatureSize);
  const hmac = createHmac('md5', md5(latin1Bytes(secret + salt)));
  return hmac.update(body).digest();
}

function isKeyString(text: string | undefined): text is string {
  return text !== undefined && /^[0-9A-Fa-f]{32}$/.test(text);
}

function xored(bytes: Uint8Array, pad: Uint8Array): Uint8Array {
  return bytes.map((byte, i) => byte ^ pad[i % pad.length]!);
}

function latin1Bytes(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}

function latin1Text(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** CRC-32 of a product's name as a list stores it. */
export function productCrc(product: string): number {
  return crc32(latin1Bytes(product.toLowerCase()));
}
