import { toHex } from '../../../core/bytes.ts';
import { formatError, isPakratError, isStoreTrouble, messageOf, PakratError } from '../../../core/errors.ts';
import { decodeChunk } from '../../../formats/blte/chunk.ts';
import type { KeyRing } from '../../../formats/blte/keys.ts';
import type { BuildConfig, ManifestKeys } from '../../../formats/configs/build-config.ts';
import { configKey, configSize } from '../../../formats/configs/config-file.ts';
import { Sqlite } from '../../../store/ledger/sqlite.ts';
import type { NameRow } from '../name-table.ts';

/*
 * The file database of a containerless build (`build-file-db = ckey ekey`): an SQLite database as an object of the CDN, which says what lies where
 * on the disk of a player.
 *
 *   meta    id 1, entry_count
 *   tags    id 1, data                  which files are of which tag; not read
 *   files   file_index, ekey, ckey      blobs of 16 bytes
 *           encoded_size, decoded_size, flags, relative_path
 *
 * One whose first byte is 0x45, `E`, is encrypted; it is read as the encrypted chunk of a BLTE object that begins so.
 * (known from cascette-py only: no database of a game was at hand)
 */
const what = 'build-file-db';
const magic = 'SQLite format 3\0';
const headerSize = 100;
/** Two keys, at least. */
const leastRow = 32;
const columns = ['relative_path', 'ekey', 'ckey', 'encoded_size', 'decoded_size'] as const;

/** The keys of the file database that a build config names, or undefined. @throws E_FORMAT for a key or size that is none */
export function fileDbKeys({ config }: BuildConfig): ManifestKeys | undefined {
  const [ckey, ekey] = (config.get('build-file-db') ?? []).map((value) => configKey(value, 'build-file-db'));
  if (ckey === undefined) return undefined;
  const sizes = (config.get('build-file-db-size') ?? []).map((value) => configSize(value, 'build-file-db-size'));
  return { ckey, ekey, size: sizes[0], encodedSize: sizes[1] };
}

/**
 * The files of a database, in its order.
 * @throws E_KEY_MISSING when it is encrypted and its key is not known, E_FORMAT… when it is no database or not one of files
 */
export function* fileDbRows(bytes: Uint8Array, keys: KeyRing): Generator<NameRow> {
  const plain = isDatabase(bytes) ? bytes : decrypt(bytes, keys);
  // The format's read and write version: 2 asks for a log, which a database in memory cannot have.
  if (plain.length < headerSize) throw formatError('E_FORMAT_TRUNCATED', what, `it has ${plain.length} bytes only`);
  const copy = Buffer.from(plain);
  copy.fill(1, 18, 20);
  let db: Sqlite | undefined;
  try {
    db = new Sqlite(what, { bytes: copy, readonly: true });
    demandFiles(db);
    let left = Math.floor(plain.length / leastRow);
    for (const row of db.iterate<Record<string, unknown>>(`SELECT ${columns.join(', ')} FROM files ORDER BY rowid`)) {
      // Pages that are pointed to from many others would make rows without end.
      if (left-- === 0) throw formatError('E_FORMAT', what, `it has more files than ${plain.length} bytes can hold`);
      yield nameRow(row);
    }
  } catch (error) {
    // A database of a build is no store: what is wrong with it is its own fault.
    throw isStoreTrouble(error) ? formatError('E_FORMAT', what, messageOf(error.cause)) : error;
  } finally {
    db?.close();
  }
}

function isDatabase(bytes: Uint8Array): boolean {
  return new TextDecoder('latin1').decode(bytes.subarray(0, magic.length)) === magic;
}

function decrypt(bytes: Uint8Array, keys: KeyRing): Uint8Array {
  if (bytes[0] !== 0x45)
    throw formatError('E_FORMAT_MAGIC', what, 'it is no database', { expected: 'SQLite format 3' });
  try {
    const plain = decodeChunk(bytes, { index: 0, keys });
    if (isDatabase(plain)) return plain;
  } catch (error) {
    if (!isPakratError(error) || error.code === 'E_KEY_MISSING') throw error;
  }
  throw new PakratError(
    'E_KEY_MISSING',
    'the file database of the build is encrypted, and nothing tells with which key',
    {
      hint: 'Files can be had by their content keys: ckey:HEX.',
    },
  );
}

/** A plain table with plain columns: views and computed columns could be anything, and run for ever. */
function demandFiles(db: Sqlite): void {
  const table = db.get<{ sql: string }>("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'files'");
  if (table === undefined || /^\s*create\s+virtual/i.test(table.sql)) {
    throw formatError('E_FORMAT', what, 'it has no table of files');
  }
  const names = db.all<{ name: string }>('PRAGMA table_info(files)').map(({ name }) => name);
  const missing = columns.filter((name) => !names.includes(name));
  if (missing.length > 0) throw formatError('E_FORMAT', what, `its files have no ${missing.join(', ')}`);
}

function nameRow(row: Record<string, unknown>): NameRow {
  const { relative_path: path, ekey, ckey, encoded_size: encodedSize, decoded_size: size } = row;
  if (typeof path !== 'string' || path === '' || typeof encodedSize !== 'number' || typeof size !== 'number') {
    throw formatError('E_FORMAT', what, 'a file without path or sizes');
  }
  const part = { ekey: keyOf(ekey), ckey: keyOf(ckey), size, encodedSize };
  return { name: path.replaceAll('\\', '/'), parts: [part] };
}

function keyOf(blob: unknown): string {
  if (!ArrayBuffer.isView(blob) || blob.byteLength !== 16)
    throw formatError('E_FORMAT', what, 'a key that is no 16 bytes');
  return toHex(new Uint8Array(blob.buffer, blob.byteOffset, blob.byteLength));
}
