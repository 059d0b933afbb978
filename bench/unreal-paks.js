// Unreal PAKs with a million tiny files, in each form of the index, written here by the format's description alone.
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { deflateSync } from 'node:zlib';

const magic = 0x5a6f12e1;
const mountPoint = '../../../Game/';

/** Every form: version, and from version 10 on which parts the index has besides the primary one. */
export const forms = {
  'version 3': { version: 3 },
  'version 8': { version: 8 },
  'version 11': { version: 11, hashes: true, directory: true },
  'version 11, hashes only': { version: 11, hashes: true },
  'version 12, directory only': { version: 12, directory: true },
};

/** Path of a file below the mount point: some thousand directories, as a game has them. */
export function nameOf(i) {
  const group = Math.floor(i / 400);
  return `Content/Maps/Area${Math.floor(group / 50)}/SubLevel${group}/Asset_Texture_${String(i).padStart(7, '0')}.uasset`;
}

/** Writes a PAK of `count` files; every eighth is compressed. */
export function writeUnrealPak(file, { version, hashes = false, directory = false }, count) {
  const fd = fs.openSync(file, 'w');
  const out = new Out(fd);
  const rows = [];
  for (let i = 0; i < count; i++) rows.push(writeEntry(out, i, version));
  if (version < 10) writeLegacy(out, rows, version);
  else writePrimary(out, rows, { version, hashes, directory });
  out.flush();
  fs.closeSync(fd);
}

/** Takes numbers and bytes; writes them out in pieces of some megabytes, or keeps all of them when it has no file. */
class Out {
  constructor(fd) {
    this.fd = fd;
    this.bytes = Buffer.alloc(8 << 20);
    this.size = 0;
    this.position = 0;
  }
  room(count) {
    if (this.size + count <= this.bytes.length) return;
    if (this.fd !== undefined) this.flush();
    const need = this.size + count;
    if (need > this.bytes.length) this.bytes = Buffer.concat([this.bytes], Math.max(need, this.bytes.length * 2));
  }
  flush() {
    fs.writeSync(this.fd, this.bytes, 0, this.size);
    this.size = 0;
  }
  u8(value) {
    this.room(1);
    this.bytes[this.size++] = value;
    this.position += 1;
  }
  u32(value) {
    this.room(4);
    this.size = this.bytes.writeUInt32LE(value >>> 0, this.size);
    this.position += 4;
  }
  u64(value) {
    this.u32(value % 2 ** 32);
    this.u32(value / 2 ** 32);
  }
  raw(bytes) {
    this.room(bytes.length);
    this.bytes.set(bytes, this.size);
    this.size += bytes.length;
    this.position += bytes.length;
  }
  string(text) {
    this.u32(text.length + 1);
    this.raw(Buffer.from(`${text}\0`));
  }
  whole() {
    return this.bytes.subarray(0, this.size);
  }
}

function writeEntry(out, i, version) {
  const content = Buffer.from(`file ${i} `.repeat(2 + (i % 23)));
  const isCompressed = i % 8 === 0;
  const stored = isCompressed ? deflateSync(content) : content;
  const row = {
    offset: out.position,
    size: content.length,
    stored: stored.length,
    isCompressed,
    sha1: createHash('sha1').update(stored).digest(),
    name: nameOf(i),
  };
  writeRecord(out, { ...row, offset: 0, at: row.offset }, version);
  out.raw(stored);
  return row;
}

function writeRecord(out, { offset, size, stored, isCompressed, sha1, at = offset }, version) {
  out.u64(offset);
  out.u64(stored);
  out.u64(size);
  out.u32(isCompressed ? 1 : 0);
  out.raw(sha1);
  if (isCompressed) {
    const start = 48 + 4 + 16 + 5 + (version < 5 ? at : 0);
    out.u32(1);
    out.u64(start);
    out.u64(start + stored);
  }
  out.u8(0);
  out.u32(isCompressed ? size : 0);
}

function writeLegacy(out, rows, version) {
  const index = new Out();
  index.string(mountPoint);
  index.u32(rows.length);
  for (const row of rows) {
    index.string(row.name);
    writeRecord(index, row, version);
  }
  const offset = out.position;
  out.raw(index.whole());
  writeFooter(out, { version, offset, bytes: index.whole() });
}

function writePrimary(out, rows, { version, hashes, directory }) {
  const encoded = new Out();
  for (const row of rows) {
    row.location = encoded.position;
    writeEncoded(encoded, row);
  }
  const parts = [hashes && hashPart(rows, { isWhole: !directory }), directory && directoryPart(rows, version)];
  const offset = out.position;
  const primaryFor = (start) => {
    const primary = new Out();
    primary.string(mountPoint);
    primary.u32(rows.length);
    primary.u64(0);
    for (const part of parts) {
      primary.u32(part ? 1 : 0);
      if (!part) continue;
      primary.u64(start);
      primary.u64(part.length);
      primary.raw(createHash('sha1').update(part).digest());
      start += part.length;
    }
    primary.u32(encoded.position);
    primary.raw(encoded.whole());
    primary.u32(0);
    return primary.whole();
  };
  const bytes = primaryFor(offset + primaryFor(0).length);
  out.raw(bytes);
  for (const part of parts) if (part) out.raw(part);
  writeFooter(out, { version, offset, bytes });
}

function writeEncoded(out, { offset, size, stored, isCompressed }) {
  const isSmall = offset < 2 ** 32 ? 0x8000_0000 : 0;
  out.u32(0x6000_0000 + isSmall + (isCompressed ? 0x80_0000 + 64 : 0));
  if (isSmall) out.u32(offset);
  else out.u64(offset);
  out.u32(size);
  if (isCompressed) out.u32(stored);
}

function hashPart(rows) {
  const out = new Out();
  out.u32(rows.length);
  for (const { name, location } of rows) {
    const [low, high] = pathHash(name);
    out.u32(low);
    out.u32(high);
    out.u32(location);
  }
  out.u32(0);
  return out.whole();
}

/** FNV-1a of 64 bits over the UTF-16LE bytes of the lower-case path, in halves of 32 bits. */
function pathHash(path) {
  let [low, high] = [0x84222325, 0xcbf29ce4];
  for (const byte of Buffer.from(path.toLowerCase(), 'utf16le')) {
    low = (low ^ byte) >>> 0;
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
    low = product % 2 ** 32;
  }
  return [low, high];
}

function directoryPart(rows, version) {
  const directories = new Map([['/', []]]);
  for (const { name, location } of rows) {
    const split = name.lastIndexOf('/') + 1;
    const files = directories.get(name.slice(0, split)) ?? [];
    directories.set(name.slice(0, split), files);
    files.push([name.slice(split), location]);
  }
  const out = new Out();
  out.u32(directories.size);
  for (const [directory, files] of directories) {
    out.string(directory);
    out.u32(files.length);
    for (const [name, location] of files) {
      if (version < 12) out.string(name);
      else {
        out.u32(name.length);
        out.raw(Buffer.from(name));
      }
      out.u32(location);
    }
  }
  return out.whole();
}

function writeFooter(out, { version, offset, bytes }) {
  if (version >= 4) out.raw(Buffer.alloc(17));
  out.u32(magic);
  out.u32(version);
  out.u64(offset);
  out.u64(bytes.length);
  out.raw(createHash('sha1').update(bytes).digest());
  if (version < 8) return;
  const names = Buffer.alloc(160);
  names.write('Zlib');
  out.raw(names);
}
