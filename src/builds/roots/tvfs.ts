import * as fs from 'node:fs';
import { join } from 'node:path';
import { toHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { nameHash, normalizeName } from '../../core/jenkins.ts';
import { RecordTable } from '../../core/record-table.ts';
import { sortRecords } from '../../core/sort-records.ts';
import type { ManifestKeys } from '../../formats/build-config.ts';
import { decodeTvfs, type TvfsSpan } from '../../formats/roots/tvfs.ts';
import { makeFolderDurable, moveDurable, temporaryName } from '../../store/durable.ts';
import type { StoreLayout } from '../../store/layout.ts';
import { LookupFile, writeLookupFile } from '../../store/lookup-file.ts';
import { readAt } from '../positional.ts';
import type { FilePart, FileVariant, Root } from './root.ts';

/*
 * The files of a TVFS with its nested manifests, flattened once, under names/<ckey of vfs-root>:
 *
 *   .files   a line of JSON for each file, in tree order: [name, [[ekey, ckey or 0, size], …]]
 *   .paths   u64 name hash, u40 offset of the line, u32 its bytes    sorted by hash
 */
const pathStride = 17;
const allLocales = 0xffffffff;
/** Manifests nest two deep in real builds. */
const maxDepth = 8;

type FileLine = [name: string, parts: [ekey: string, ckey: string | 0, size: number][]];

/** What a TVFS is opened with. */
export interface TvfsPlace {
  layout: StoreLayout;
  root: ManifestKeys;
  /** The nested manifests that the build config names: vfs-1, vfs-2 … */
  nested: readonly ManifestKeys[];
  /** The decoded bytes of a manifest. */
  load: (manifest: ManifestKeys) => Promise<Uint8Array>;
}

/** Opens the TVFS of a build; nested manifests are joined to it. Needs `close`. */
export async function openTvfs(place: TvfsPlace): Promise<Root> {
  const base = join(place.layout.names, place.root.ckey);
  if (!fs.existsSync(`${base}.paths`)) await writeLookups(place, base);
  return new TvfsFileTable(base);
}

async function writeLookups(place: TvfsPlace, base: string): Promise<void> {
  const { layout } = place;
  makeFolderDurable(layout.temporary);
  const name = temporaryName(layout.temporary);
  const fd = fs.openSync(name, 'wx');
  const records: Buffer[] = [];
  let offset = 0;
  let lines: Buffer[] = [];
  const flush = (): void => {
    fs.writeSync(fd, Buffer.concat(lines));
    lines = [];
  };
  try {
    for await (const [path, spans] of walk(place)) {
      const line = Buffer.from(`${JSON.stringify(fileLine(path, spans))}\n`);
      const record = Buffer.alloc(pathStride);
      record.set(nameHash(comparable(path)));
      record.writeUIntBE(offset, 8, 5);
      record.writeUInt32BE(line.length, 13);
      records.push(record);
      lines.push(line);
      offset += line.length;
      if (lines.length === 4096) flush();
    }
    flush();
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
  moveDurable(name, `${base}.files`);
  const sorted = sortRecords(Buffer.concat(records), pathStride, 13);
  writeLookupFile(`${base}.paths`, new RecordTable(sorted, pathStride), layout.temporary);
}

/** Every file of the tree with its spans; a file that is a nested manifest gives way to the files in it, joined with `/`. */
async function* walk(place: TvfsPlace): AsyncGenerator<[path: string, spans: TvfsSpan[]]> {
  const nested = new Map(
    place.nested.flatMap((manifest) => (manifest.ekey === undefined ? [] : [[manifest.ekey.slice(0, 18), manifest]])),
  );
  async function* files(manifest: ManifestKeys, prefix: string, depth: number): AsyncGenerator<[string, TvfsSpan[]]> {
    if (depth > maxDepth) throw formatError('E_FORMAT_RANGE', 'TVFS', `manifests nest deeper than ${maxDepth}`);
    for (const { path, spans } of decodeTvfs(await place.load(manifest)).files()) {
      const only = spans.length === 1 ? spans[0] : undefined;
      const inner = only === undefined ? undefined : nested.get(toHex(only.ekey.subarray(0, 9)));
      if (inner === undefined) yield [prefix + path, spans];
      else yield* files(inner, `${prefix}${path}/`, depth + 1);
    }
  }
  yield* files(place.root, '', 0);
}

/** Other readers write `:` where one manifest nests in another; both forms find the file. */
function comparable(name: string): string {
  return name.replaceAll(':', '/');
}

function fileLine(path: string, spans: readonly TvfsSpan[]): FileLine {
  return [path, spans.map((span) => [toHex(span.ekey), span.ckey === undefined ? 0 : toHex(span.ckey), span.size])];
}

class TvfsFileTable implements Root {
  readonly kind = 'tvfs';
  readonly #fd: number;
  readonly #paths: LookupFile;

  constructor(base: string) {
    this.#fd = fs.openSync(`${base}.files`, 'r');
    this.#paths = new LookupFile(`${base}.paths`);
  }

  close(): void {
    fs.closeSync(this.#fd);
    this.#paths.close();
  }

  find(name: string): FileVariant[] {
    const wanted = normalizeName(comparable(name));
    return [...this.#paths.find(nameHash(comparable(name)))].flatMap((record) => {
      const view = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
      const variant = parseLine(asText(readAt(this.#fd, view.readUIntBE(8, 5), view.readUInt32BE(13), 'names')));
      return normalizeName(comparable(variant.name!)) === wanted ? [variant] : [];
    });
  }

  findId(): FileVariant[] {
    return [];
  }

  *list(matches: (name: string) => boolean): Generator<FileVariant> {
    const step = 1 << 20;
    let rest = '';
    const { size } = fs.fstatSync(this.#fd);
    for (let offset = 0; offset < size; offset += step) {
      // A line is cut by bytes: keep the cut part as latin1 so that no character is split, and read whole lines as UTF-8.
      rest += Buffer.from(readAt(this.#fd, offset, Math.min(step, size - offset), 'names')).toString('latin1');
      const end = rest.lastIndexOf('\n') + 1;
      for (const line of rest.slice(0, end).split('\n')) {
        if (line === '') continue;
        const variant = parseLine(Buffer.from(line, 'latin1').toString('utf8'));
        if (matches(variant.name!)) yield variant;
      }
      rest = rest.slice(end);
    }
  }
}

function asText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function parseLine(line: string): FileVariant {
  const [name, spans] = JSON.parse(line) as FileLine;
  const parts: FilePart[] = spans.map(([ekey, ckey, size]) => ({ ekey, ckey: ckey === 0 ? undefined : ckey, size }));
  return { name, localeFlags: allLocales, contentFlags: 0, parts };
}
