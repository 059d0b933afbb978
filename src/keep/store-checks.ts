import * as fs from 'node:fs';
import { toHex } from '../core/bytes.ts';
import { codeOf, messageOf, PakratError } from '../core/errors.ts';
import { readAt } from '../files/read-at.ts';
import { decodeArchiveIndex } from '../formats/indices/archive-index.ts';
import type { ObjectName } from '../store/layout.ts';
import { heldUntil, type Span } from '../store/spans.ts';
import { checkEntries } from '../verify/check-entries.ts';
import type { HashBuffer } from '../verify/hash-buffer.ts';

/** An entry of an object, as its index lists it. */
export interface ArchiveEntry {
  /** Hex. */
  ekey: string;
  offset: number;
  size: number;
  /** A patch: no BLTE, its key is the MD5 of its bytes. */
  raw: boolean;
}

/** The fault of an entry: its bytes from `start` to `end` in the object are not those that they should be. */
export interface DamagedEntry extends ArchiveEntry {
  start: number;
  end: number;
  code: string;
  message: string;
}

/** The entries of an archive, by its index, in the order in which they lie in it. Throws E_FORMAT…, E_INTEGRITY. */
export function archiveEntries(indexBytes: Uint8Array, name: ObjectName): ArchiveEntry[] {
  const index = decodeArchiveIndex(indexBytes, name.hash);
  const raw = name.kind === 'patch';
  const entries = Array.from(index, ({ ekey, offset, size }) => ({ ekey: toHex(ekey), offset, size, raw }));
  return entries.sort((a, b) => a.offset - b.offset);
}

interface EntryCheck {
  /** The spans that the ledger holds of it, merged and in order. */
  spans: readonly Span[];
  /** For bytes of an object that may be encrypted as a whole, and their offset in it. */
  decrypt: (bytes: Uint8Array, offset: number) => Uint8Array;
  buffer?: HashBuffer;
  signal?: AbortSignal | undefined;
}

/** Checks those entries of an object of which something is held: gives the held bytes of each, and what is wrong with it. */
export async function* checkHeldEntries(
  file: string,
  entries: readonly ArchiveEntry[],
  { spans, decrypt, buffer, signal }: EntryCheck,
): AsyncGenerator<{ bytes: number; damage: DamagedEntry | undefined }> {
  const fd = openIfThere(file);
  const read = ({ ekey, offset }: ArchiveEntry, from: number, size: number): Uint8Array => {
    if (fd === undefined) throw new PakratError('E_INTEGRITY', `entry ${ekey}: its file is gone`);
    return decrypt(readAt(fd, offset + from, size, `entry ${ekey}`), offset + from);
  };
  try {
    const checked = checkEntries(heldEntries(entries, spans), read, { buffer, signal });
    for await (const { entry, right, problem } of checked) {
      const { held, ...rest } = entry;
      const start = entry.offset + right;
      const end = entry.offset + held;
      yield { bytes: held, damage: problem === undefined ? undefined : { ...rest, start, end, ...problem } };
    }
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

function* heldEntries(
  entries: readonly ArchiveEntry[],
  spans: readonly Span[],
): Generator<ArchiveEntry & { held: number }> {
  for (const entry of entries) {
    const held = Math.min(heldUntil(spans, entry.offset) - entry.offset, entry.size);
    if (held > 0) yield { ...entry, held };
  }
}

function openIfThere(file: string): number | undefined {
  try {
    return fs.openSync(file, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new PakratError('E_STORE', messageOf(error), { data: { path: file }, cause: error });
  }
}
