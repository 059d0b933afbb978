import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { toHex } from '../../src/core/bytes.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { decodeBuildConfig } from '../../src/formats/configs/build-config.ts';
import { decodeConfig } from '../../src/formats/configs/config-file.ts';
import { decodeKeyList, decodeKeyRing, encodeKeyList, reverseName } from '../../src/formats/configs/key-list.ts';
import { decodeArchiveIndex, encodeArchiveIndex } from '../../src/formats/indices/archive-index.ts';
import { type DownloadContent, decodeDownload, encodeDownload } from '../../src/formats/manifests/download.ts';
import { decodeEncoding } from '../../src/formats/manifests/encoding/decode.ts';
import { encodeEncoding } from '../../src/formats/manifests/encoding/encode.ts';
import { ekeyRecords } from '../../src/formats/manifests/encoding/pages.ts';
import { decodeInstall, encodeInstall } from '../../src/formats/manifests/install.ts';
import { hasTag, type Tag } from '../../src/formats/manifests/tags.ts';
import { decodeBpsv } from '../../src/formats/services/bpsv.ts';
import { type Found, moreDecoders, moreDescribers, sha256Hex } from '../formats/real-files.ts';
import { conformanceBytes, conformancePath, describeConformance } from '../support/conformance.ts';
import { expectHostileSafe } from '../support/hostile.ts';

interface Described {
  format: string;
  size: number;
  sha256: string;
  /** Facts that were measured on the file; each must come out of our decoder. */
  checked?: Record<string, unknown>;
  /** What the tests of other tools expect. */
  peer_expects?: Record<string, unknown>;
}

function describeIndex(bytes: Uint8Array, path: string): Found {
  const name = basename(path, '.index');
  const index = decodeArchiveIndex(bytes, name);
  const { layout, count } = index;
  const entries = Array.from(index);
  const row = (i: number): unknown[] => [toHex(index.keyAt(i)), entries[i]!.size, entries[i]!.offset];
  for (const i of [0, 1, 169, 170, count - 1]) expect(index.find(index.keyAt(i).subarray(0, 9))).toEqual(entries[i]);
  const again = encodeArchiveIndex(entries, { offsetBytes: layout.offsetBytes });
  expect([again.name, md5Hex(again.bytes)]).toEqual([name, md5Hex(bytes)]);
  return {
    checked: {
      count,
      first: row(0),
      last: row(count - 1),
      footer_md5_is_file_name: index.name === name,
      max_end: Math.max(...entries.map((entry) => entry.offset + entry.size)),
      offset_bytes: layout.offsetBytes,
      page_hashes: true, // or decodeArchiveIndex would have thrown
      page_kb: layout.pageSize / 1024,
      pages: layout.pageCount,
      size_bytes: layout.sizeBytes,
      toc_hash: true,
    },
    peer: {
      entries: count,
      footer: {
        hash_bytes: layout.hashBytes,
        key_bytes: layout.keyBytes,
        offset_bytes: layout.offsetBytes,
        page_kb: layout.pageSize / 1024,
        size_bytes: layout.sizeBytes,
        version: layout.version,
      },
      sorted: entries.every((entry, i) => i === 0 || Buffer.compare(entries[i - 1]!.ekey, entry.ekey) < 0),
    },
  };
}

function describeConfig(bytes: Uint8Array, path: string): Found {
  const config = decodeConfig(bytes);
  const common = {
    keys: config.entries.length,
    md5: md5Hex(bytes),
    md5_is_file_name: md5Hex(bytes) === basename(path),
  };
  if (config.entries.every(({ key }) => key.startsWith('key-'))) {
    const ring = decodeKeyRing(bytes);
    // Other tools keep the wire order; ours is the printed one.
    const pair = (i: number): string[] => [reverseName(ring.at(i)!.name), ring.at(i)!.key];
    return { checked: { ...common, vfs: 0 }, peer: { entries: ring.length, first: pair(0), last: pair(-1) } };
  }
  const build = decodeBuildConfig(bytes);
  expect(build.install!.size).toBe(Number(config.get('install-size')![0]));
  return {
    checked: {
      ...common,
      'build-name': build.name,
      encoding: `${build.encoding.ckey} ${build.encoding.ekey}`,
      root: build.root?.ckey,
      vfs: build.vfs.length,
    },
    peer: {
      build: build.name,
      md5: md5Hex(bytes),
      install: build.install?.ekey === undefined ? `${build.install?.ckey} (no encoding key)` : 'has an encoding key',
    },
  };
}

function describeBpsv(bytes: Uint8Array): Found {
  const table = decodeBpsv(bytes);
  return {
    checked: {
      columns: table.columns.map(({ name, type, size }) => `${name}!${type}:${size}`),
      crlf: new TextDecoder().decode(bytes).includes('\r\n'),
      first: table.rows[0],
      rows: table.rows.length,
      seqn: table.seqn ?? null,
    },
    peer: { first: table.columns.map(({ name }) => table.rows[0]![name]), rows: table.rows.length },
  };
}

function describeKeyList(bytes: Uint8Array): Found {
  expect(new TextDecoder().decode(encodeKeyList(decodeKeyList(bytes)))).toBe(new TextDecoder().decode(bytes));
  return { checked: { keys: decodeKeyList(bytes).length } };
}

function describeEncoding(bytes: Uint8Array): Found {
  const encoding = decodeEncoding(bytes);
  const { layout, especs } = encoding;
  const [ckeys, ekeys] = [[...encoding.ckeys], [...encoding.ekeys]];
  for (const entry of ckeys) expect(encoding.findCkey(entry.ckey)).toEqual(entry);
  for (const entry of ekeys) expect(encoding.findEkey(entry.ekey)).toEqual(entry);
  const first = { ckey: ckeys[0]!, ekey: ekeys[0]! };
  const lastPageOffset = layout.ekeyPagesOffset + (layout.ekeyPageCount - 1) * layout.ekeyPageSize;
  const lastPage = bytes.subarray(lastPageOffset, lastPageOffset + layout.ekeyPageSize);
  const padding = lastPage.subarray(ekeyRecords(lastPage, layout).count * 25).subarray(0, 32);
  // A file that was not cut comes out of our encoder as it is.
  if (encoding.ownEspec !== '') expect(md5Hex(encodeEncoding({ ckeys, ekeys, especs }))).toBe(md5Hex(bytes));
  return {
    checked: {
      bad_pages: 0, // or decodeEncoding would have thrown
      ckey_pages: layout.ckeyPageCount,
      ckeys: ckeys.length,
      ekey_pages: layout.ekeyPageCount,
      ekeys: ekeys.length,
      especs: especs.length,
      first_ckey: [first.ckey.ckey, first.ckey.size, first.ckey.ekeys],
      first_ekey: [first.ekey.ekey, especs[first.ekey.especIndex], first.ekey.size],
      last_ekey_page_padding: toHex(padding),
      md5: md5Hex(bytes),
      multi_ekey_ckeys: ckeys.filter((entry) => entry.ekeys.length > 1).length,
      own_espec: encoding.ownEspec,
    },
    peer: {
      espec: encoding.ownEspec,
      espec_block_size: layout.especSize,
      pages: [layout.ckeyPageCount, layout.ekeyPageCount],
      first_ckey: [first.ckey.ckey, first.ckey.ekeys, first.ckey.size],
      first_ekey: [first.ekey.ekey, especs[first.ekey.especIndex]],
    },
  };
}

function describeTags(tags: readonly Tag[], count: number): unknown[] {
  return tags.map(({ name, type, mask }) => {
    const members = Array.from({ length: count }, (_, i) => hasTag(mask, i)).filter(Boolean).length;
    return [name, type, members];
  });
}

function describeInstall(bytes: Uint8Array): Found {
  const install = decodeInstall(bytes);
  const { tags, entries, version } = install;
  const [first] = entries;
  expect(md5Hex(encodeInstall(install))).toBe(md5Hex(bytes));
  return {
    checked: {
      entries: entries.length,
      first: [first!.path, first!.ckey, first!.size],
      tags: describeTags(tags, entries.length),
      total_size: entries.reduce((sum, entry) => sum + entry.size, 0),
      version,
    },
    peer: { entries: entries.length, has_tags: tags.map((tag) => tag.name), tags: tags.length },
  };
}

function describeDownload(bytes: Uint8Array): Found {
  const download = decodeDownload(bytes);
  const { version, count, tags, basePriority, hasChecksum, flagSize } = download;
  const entries = Array.from({ length: count }, (_, i) => download.entry(i));
  const content: DownloadContent = { version, hasChecksum, flagSize, basePriority, count, entries, tags };
  expect(md5Hex(encodeDownload(content))).toBe(md5Hex(bytes));
  const [first] = entries;
  return {
    checked: {
      base_priority: basePriority,
      checksum: Number(hasChecksum),
      entries: count,
      first: [toHex(first!.ekey), first!.size, first!.priority],
      flag_bytes: flagSize,
      tags: describeTags(tags, count),
      version,
    },
    peer: { entries: count, tags: tags.length, version },
  };
}

const describers: Record<string, (bytes: Uint8Array, path: string) => Found> = {
  'archive-index': describeIndex,
  config: describeConfig,
  bpsv: describeBpsv,
  'tact-keys': describeKeyList,
  encoding: describeEncoding,
  install: describeInstall,
  download: describeDownload,
  ...moreDescribers,
};

/** A part of these may be whole: texts, and what is read by its start alone. */
const partsFit = ['config', 'bpsv', 'tact-keys', 'data.NNN (local archive)', 'shmem', 'wow-root', 'zbsdiff'];

const manifestPath = conformancePath('tact', 'MANIFEST.json');
const manifest: Record<string, Described> = existsSync(manifestPath)
  ? JSON.parse(readFileSync(manifestPath, 'utf8'))
  : {};
const files = Object.entries(manifest);

const describersWithoutAsserts: Record<string, (bytes: Uint8Array) => unknown> = {
  'archive-index': (bytes) => Array.from(decodeArchiveIndex(bytes)),
  config: decodeConfig,
  bpsv: decodeBpsv,
  'tact-keys': decodeKeyList,
  encoding: (bytes) => {
    const encoding = decodeEncoding(bytes);
    return [[...encoding.ckeys], [...encoding.ekeys]];
  },
  install: decodeInstall,
  download: (bytes) => {
    const download = decodeDownload(bytes);
    return Array.from({ length: download.count }, (_, i) => download.entry(i));
  },
  ...moreDecoders,
};

/** Every file of the folder, the manifest aside. */
function filesOnDisk(): string[] {
  const root = conformancePath('tact');
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'MANIFEST.json')
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
}

describeConformance('real files', () => {
  test('there are some of every format', () => {
    expect([...new Set(files.map(([, { format }]) => format))].sort()).toEqual(Object.keys(describers).sort());
  });

  test('none of the folder is left out: each is in the manifest, and read below', () => {
    expect(filesOnDisk().sort()).toEqual(files.map(([path]) => path).sort());
    expect(files.filter(([, { format }]) => !(format in describers)).map(([path]) => path)).toEqual([]);
  });

  for (const [path, { format, checked = {}, peer_expects: peer = {}, size, sha256 }] of files) {
    test(`${path} decodes to what was measured on it`, () => {
      const bytes = conformanceBytes('tact', path);
      expect([bytes.length, sha256Hex(bytes)]).toEqual([size, sha256]);
      const found = describers[format]!(bytes, path);
      expect(found.checked).toMatchObject(checked);
      // has_tags names some of the tags; everything else must be equal, as far as it is a value and not a remark.
      const { has_tags: tagNames, ...values } = peer;
      if (tagNames !== undefined) expect(found.peer?.has_tags).toEqual(expect.arrayContaining(tagNames as string[]));
      for (const [key, value] of Object.entries(values)) {
        if (found.peer !== undefined && key in found.peer) expect([key, found.peer[key]]).toEqual([key, value]);
      }
    });

    if (!(format in describersWithoutAsserts)) continue;
    test(`${path}, cut or changed, is refused or read in time`, () => {
      const bytes = conformanceBytes('tact', path);
      const decode = (input: Uint8Array): unknown => describersWithoutAsserts[format]!(input);
      expectHostileSafe(decode, bytes, { samples: 60, prefixesFail: !partsFit.includes(format) });
    });
  }
});
