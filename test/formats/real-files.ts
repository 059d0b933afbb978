import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { expect } from '@jest/globals';
import { equalBytes, toHex } from '../../src/core/bytes.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { hashLittle } from '../../src/core/jenkins.ts';
import { decodeBlte } from '../../src/formats/blte/decode.ts';
import { parseEspec, printEspec } from '../../src/formats/blte/espec.ts';
import { decodeBlteHeader, decodeBltePrefix, ekeyOfBlte } from '../../src/formats/blte/header.ts';
import { decodeLocalHeader, encodeLocalHeader, localHeaderSize } from '../../src/formats/local/local-header.ts';
import { decodeShmem } from '../../src/formats/local/local-shmem.ts';
import { decodePatchIndex, encodePatchIndex } from '../../src/formats/patches/patch-index.ts';
import { decodePatchManifest, encodePatchManifest } from '../../src/formats/patches/patch-manifest.ts';
import { applyZbsdiff, makeZbsdiff } from '../../src/formats/patches/zbsdiff.ts';
import { decodeTvfs } from '../../src/formats/roots/tvfs/decode.ts';
import { encodeTvfs } from '../../src/formats/roots/tvfs/encode.ts';
import { decodeWowRoot, fillFileDataIds, rowCkey, rowNameHash } from '../../src/formats/roots/wow/decode.ts';
import { conformanceBytes } from '../support/conformance.ts';

/** Facts about a file, by the names that the manifest of the real files uses. */
export type Facts = Record<string, unknown>;

/** What is known of a file; `peer` holds what only other tools' tests name. */
export interface Found {
  checked: Facts;
  peer?: Facts;
}

const hex32 = (value: number): string => `0x${value.toString(16)}`;
const maxSize = 1 << 24;

function describeWowRoot(bytes: Uint8Array): Found {
  const root = decodeWowRoot(bytes);
  const hash = rowNameHash(root, 0);
  const forms = { headerless: 'MFST (headerless)', tsfm0: 'TSFM v0', tsfm1: 'TSFM v1', tsfm2: 'TSFM v2' };
  return {
    checked: {
      blocks: root.blocks.map((block) => [block.count, hex32(block.contentFlags), hex32(block.localeFlags)]),
      first: [fillFileDataIds(root)[0], toHex(rowCkey(root, 0)), hash === undefined ? null : toHex(hash)],
      format: forms[root.form],
      named: root.named ?? null,
      total: root.total ?? null,
    },
    peer: { blocks: root.blocks.map(({ count }) => count) },
  };
}

function describeTvfs(bytes: Uint8Array): Found {
  const tvfs = decodeTvfs(bytes);
  const { header, especs } = tvfs;
  const files = [...tvfs.files];
  expect(md5Hex(encodeTvfs(tvfs))).toBe(md5Hex(bytes));
  return {
    checked: {
      cft: [header.containerTable.offset, header.containerTable.size],
      depth: header.maxDepth,
      ekey_size: header.ekeySize,
      espec_table: especs,
      files: files.length,
      first: files[0]!.path,
      flags: header.flags,
      header_size: header.headerSize,
      md5: md5Hex(bytes),
      spans_max: Math.max(...files.map(({ spans }) => spans.length)),
      version: header.version,
    },
    peer: { ckey: md5Hex(bytes) },
  };
}

function blteFacts(bytes: Uint8Array): Facts {
  const prefixSize = decodeBltePrefix(bytes.subarray(0, 8));
  const header = decodeBlteHeader(bytes.subarray(0, Math.max(prefixSize, 8)), bytes.length);
  const modes = Array.from({ length: header.count }, (_, i) => String.fromCharCode(bytes[header.chunk(i).offset]!));
  const decoded = decodeBlte(bytes, { ekey: ekeyOfBlte(bytes) });
  const last = header.chunk(header.count - 1);
  return {
    all_chunk_md5_ok: true, // or decodeBlte would have thrown
    chunks: header.count,
    ckey: md5Hex(decoded),
    decoded_size: decoded.length,
    ekey: ekeyOfBlte(bytes),
    header_size: header.headerSize,
    modes: [...new Set(modes)].join(''),
    trailing_bytes: bytes.length - last.offset - last.encodedSize,
  };
}

function describePatchManifest(bytes: Uint8Array, path: string): Found {
  const manifest = decodePatchManifest(bytes);
  const files = [...manifest.files];
  const { ckey, ekey, size, encodedSize, espec } = manifest.encoding!;
  const { fileCount, key } = manifest;
  expect(md5Hex(encodePatchManifest(manifest))).toBe(md5Hex(bytes));
  const headerEnd = Array.from({ length: 300 }, (_, end) => end).find((end) => md5Hex(bytes.subarray(0, end)) === key);
  return {
    checked: {
      blocks: new DataView(bytes.buffer, bytes.byteOffset).getUint16(7),
      encoding: [toHex(ckey), toHex(ekey), size, encodedSize, espec],
      files: fileCount,
      flags: manifest.flags,
      header_end: headerEnd,
      header_md5_is_file_name: key === basename(path, '.bin'),
      patches: files.reduce((sum, { patches }) => sum + patches.length, 0),
      version: manifest.version,
      zero_bytes_after_block: manifest.padding,
    },
    peer: { file_entries: fileCount, header_region: headerEnd },
  };
}

function describePatchIndex(bytes: Uint8Array): Found {
  const index = decodePatchIndex(bytes);
  const entries = [...index.entries];
  const headerSize = index.blocks[0]!.bytes.byteOffset - bytes.byteOffset;
  expect(md5Hex(encodePatchIndex(index))).toBe(md5Hex(bytes));
  return {
    checked: {
      header_size: headerSize,
      md5: md5Hex(bytes),
      size_field_is_file_size: true, // or decodePatchIndex would have thrown
      version: 1,
    },
    peer: {
      block_types: index.blocks.map(({ type }) => type),
      ckey: md5Hex(bytes),
      entries: entries.length,
      header_size: headerSize,
      key_size: index.keySize,
      // What other readers take for the patch is the target.
      unique_patch_keys: new Set(entries.map(({ targetEkey }) => toHex(targetEkey))).size,
    },
  };
}

function describeZbsdiff(bytes: Uint8Array, path: string): Found {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const sizes = [8, 16, 24].map((at) => Number(view.getBigInt64(at, true)));
  const old = optionalBytes(path.replace('.zbsdiff', '.old'));
  const wanted = optionalBytes(path.replace('.zbsdiff', '.new'));
  const made = old && applyZbsdiff(old, bytes, { maxSize });
  // A patch of our own leads to the same file.
  if (old && wanted) expect(equalBytes(applyZbsdiff(old, makeZbsdiff(old, wanted), { maxSize }), wanted)).toBe(true);
  return {
    checked: {
      ...(made && wanted && { apply_old_gives_new: equalBytes(made, wanted), new_md5: md5Hex(made) }),
      control_z: sizes[0],
      diff_z: sizes[1],
      md5: md5Hex(bytes),
      md5_is_file_name: md5Hex(bytes) === basename(path, '.zbsdiff'),
      new_size: sizes[2],
    },
    peer: { ...(old && { old_size: old.length }), new_size: sizes[2], ...(made && { target_ckey: md5Hex(made) }) },
  };
}

function optionalBytes(path: string): Uint8Array | undefined {
  try {
    return conformanceBytes('tact', path);
  } catch {
    return undefined;
  }
}

/** The two segments cut out of a data.NNN: each a header and the entry behind it. */
function describeLocalData(bytes: Uint8Array): Found {
  const segments: [offset: number, size: number][] = [];
  for (let at = 0; at < bytes.length; ) {
    const { size } = decodeLocalHeader(bytes.subarray(at));
    segments.push([at, size]);
    at += size;
  }
  const header = decodeLocalHeader(bytes);
  const blte = bytes.subarray(localHeaderSize, header.size);
  expect(header.isIntact).toBe(true);
  return {
    checked: {
      blte: blteFacts(blte),
      blte_md5: md5Hex(blte),
      checksum_computed: toHex(encodeLocalHeader(header, 0).subarray(26)),
      checksum_field: toHex(bytes.subarray(26, 30)),
      ekey_reversed_in_header: header.ekey,
      flags: toHex(bytes.subarray(20, 22)),
      jenkins_computed_le: toHex(littleEndian(hashLittle(bytes.subarray(0, 22), 0x3d6be971))),
      jenkins_field: toHex(bytes.subarray(22, 26)),
      segments,
      size_field: header.size,
    },
  };
}

function littleEndian(value: number): Uint8Array {
  return Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24);
}

function describeShmem(bytes: Uint8Array): Found {
  const { version, headerSize, dataFolder } = decodeShmem(bytes);
  return { checked: { block_size: headerSize, block_type: version, path: dataFolder } };
}

function describeEspecs(bytes: Uint8Array): Found {
  const { by_category } = JSON.parse(new TextDecoder().decode(bytes)) as { by_category: Record<string, string[]> };
  const specs = Object.values(by_category).flat();
  expect(specs.length).toBe(50);
  expect(specs.map((spec) => printEspec(parseEspec(spec)))).toEqual(specs);
  return { checked: {} };
}

/** Contents that are of no format of ours, and a list of specs. */
function describeOther(bytes: Uint8Array, path: string): Found {
  const checked = { head: toHex(bytes.subarray(0, 16)) };
  if (basename(path) === 'encodings.txt') {
    const specs = new TextDecoder().decode(bytes).split('\n').filter(Boolean);
    expect([specs.length, specs.filter((spec) => printEspec(parseEspec(spec)) !== spec)]).toEqual([2966, []]);
    return { checked };
  }
  const isNew = path.endsWith('.new');
  expect(isNew || path.endsWith('.old')).toBe(true);
  return { checked, peer: isNew ? { new_size: bytes.length, target_ckey: md5Hex(bytes) } : { old_size: bytes.length } };
}

/** How the formats of real files are described, by the names that their manifest has for them. */
export const moreDescribers: Record<string, (bytes: Uint8Array, path: string) => Found> = {
  'wow-root': describeWowRoot,
  tvfs: describeTvfs,
  blte: (bytes) => ({ checked: blteFacts(bytes), peer: { ekey: ekeyOfBlte(bytes) } }),
  'patch-manifest': describePatchManifest,
  'patch-index': describePatchIndex,
  zbsdiff: describeZbsdiff,
  'data.NNN (local archive)': describeLocalData,
  shmem: describeShmem,
  'peer-manifest': describeEspecs,
  other: describeOther,
};

/** The same formats, to be tried with bad bytes; those that are none of ours are left out. */
export const moreDecoders: Record<string, (bytes: Uint8Array) => unknown> = {
  'wow-root': (bytes) => fillFileDataIds(decodeWowRoot(bytes)),
  tvfs: (bytes) => [...decodeTvfs(bytes).entries],
  blte: decodeBlte,
  'patch-manifest': (bytes) => [...decodePatchManifest(bytes).files],
  'patch-index': (bytes) => [...decodePatchIndex(bytes).entries],
  zbsdiff: (bytes) => applyZbsdiff(new Uint8Array(0), bytes, { maxSize }),
  'data.NNN (local archive)': (bytes) => decodeLocalHeader(bytes),
  shmem: decodeShmem,
};

/** SHA-256 of a file, as the manifest has it. */
export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
