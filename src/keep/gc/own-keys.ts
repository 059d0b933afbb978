import type { Build } from '../../builds/build.ts';
import { compareKeys } from '../../core/bytes.ts';
import { sortRecords } from '../../core/sorting/sort-records.ts';
import { prefixAt, prefixStarts } from '../../core/tables/prefix-starts.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { manifestEntries, selectEntries } from '../../fetch/plan/selection.ts';

const keySize = 16;

/** The ekeys that a build names. */
export interface OwnKeys {
  /** Sorted, each once. */
  keys: RecordTable;
  /** False where a list of it could not be read. */
  isWhole: boolean;
}

/**
 * The ekeys that a build names itself, whatever its archives hold beside: what encoding and download list, and its manifests. An encoding file is in
 * order already, and lists nearly all: nothing is sorted but the rest.
 * @throws E_OFFLINE when the download manifest is not held
 */
export async function ownKeys(build: Build): Promise<OwnKeys> {
  const download = await build.download();
  const isWhole = download !== undefined || build.config.download === undefined;
  const keys = await build.lookUp(() => {
    const listed = encodingKeys(build);
    const has = finderOf(listed);
    const isNew = (rows: RecordTable): RecordTable => rows.where((row) => !has(rows.bytes, row * rows.stride));
    const fromDownload = Array.from(download?.parts() ?? [], ({ rows }) => isNew(rows));
    const rest = [isNew(manifestEntries(build)), ...fromDownload];
    return mergeKeys(listed, sortedKeys(rest.flatMap((rows) => Array.from(rows, (_, row) => keyAt(rows, row)))));
  });
  return { keys, isWhole };
}

/** The keys of all that the CDN has for a build. */
export async function everyKey(build: Build): Promise<RecordTable> {
  const selection = { tags: [], include: [], all: true };
  const rows = await build.lookUp(() => selectEntries(build, selection));
  return sortedKeys(Array.from(rows, (_, row) => keyAt(rows, row)));
}

function keyAt({ bytes, stride }: RecordTable, row: number): Uint8Array {
  return bytes.subarray(row * stride, row * stride + keySize);
}

function encodingKeys({ encoding }: Build): RecordTable {
  const { ekeyPageCount, ekeyPageSize } = encoding.layout;
  const keys = new Uint8Array(ekeyPageCount * ekeyPageSize);
  let size = 0;
  let isSorted = true;
  for (const { bytes, stride, count } of encoding.ekeyPages()) {
    for (let row = 0; row < count; row++, size += keySize) {
      for (let i = 0; i < keySize; i++) keys[size + i] = bytes[row * stride + i]!;
      isSorted &&= size === 0 || compareKeys(keys, size - keySize, keys, size) < 0;
    }
  }
  const listed = keys.subarray(0, size);
  return isSorted ? new RecordTable(listed, keySize) : onceEach(sortRecords(listed, keySize, keySize));
}

/** Tells whether a key at an offset of some bytes is in a sorted table; keys are hashes, and few share their first two bytes. */
function finderOf({ bytes: keys, count }: RecordTable): (bytes: Uint8Array, at: number) => boolean {
  const starts = prefixStarts(keys.subarray(0, count * keySize), keySize);
  return (bytes, at) => {
    const prefix = prefixAt(bytes, at);
    let [low, high] = [starts[prefix]!, starts[prefix + 1]!];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareKeys(keys, middle * keySize, bytes, at);
      if (order === 0) return true;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return false;
  };
}

function sortedKeys(keys: readonly Uint8Array[]): RecordTable {
  return onceEach(sortRecords(Buffer.concat(keys), keySize, keySize));
}

/** @param sorted keys one after the other */
function onceEach(sorted: Uint8Array): RecordTable {
  const rows = new RecordTable(sorted, keySize);
  return rows.where((row) => row === 0 || compareKeys(sorted, (row - 1) * keySize, sorted, row * keySize) < 0);
}

/** Two sorted tables that have no key in common as one. */
function mergeKeys(some: RecordTable, more: RecordTable): RecordTable {
  const merged = new Uint8Array((some.count + more.count) * keySize);
  let from = 0;
  let at = 0;
  const append = (bytes: Uint8Array): void => {
    merged.set(bytes, at);
    at += bytes.length;
  };
  for (const key of more) {
    const end = some.lowerBound(key);
    append(some.bytes.subarray(from * keySize, end * keySize));
    append(key);
    from = end;
  }
  append(some.bytes.subarray(from * keySize, some.count * keySize));
  return new RecordTable(merged, keySize);
}
