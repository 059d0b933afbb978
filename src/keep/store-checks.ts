import * as fs from 'node:fs';
import { basename } from 'node:path';
import { toHex } from '../core/bytes.ts';
import { codeOf, isPakratError, messageOf, PakratError } from '../core/errors.ts';
import { md5Hasher, md5Hex } from '../core/hash.ts';
import { readAt } from '../files/read-at.ts';
import { decodeArchiveIndex } from '../formats/indices/archive-index.ts';
import { patchManifestKey } from '../formats/patches/patch-manifest.ts';
import type { ObjectName } from '../store/layout.ts';
import { heldUntil, type Span } from '../store/spans.ts';
import { EntryVerifier } from '../verify/entry-verifier.ts';
import { type Stage, StageRoom, type VerifiedSink } from '../verify/hash-buffer.ts';

/** An entry of an object that is to be checked, as far as it is held. */
export interface CheckedEntry {
  /** Hex. */
  ekey: string;
  offset: number;
  size: number;
  /** A patch: no BLTE, its key is the MD5 of its bytes. */
  raw: boolean;
}

/** What is wrong with an entry: its bytes from `start` to `end` in the object are not what they should be. */
export interface DamagedEntry extends CheckedEntry {
  start: number;
  end: number;
  code: string;
  message: string;
}

const pieceSize = 1 << 20;

/** Nothing is kept: only the hashes matter. */
const nowhere: VerifiedSink = { write() {}, spool: () => ({ append() {}, replay() {}, close() {} }) };

/** Throws E_INTEGRITY or E_FORMAT… when a small object (config, index) is not what its name says. */
export function checkSmallObject(name: ObjectName, bytes: Uint8Array): void {
  if (name.suffix === '.index') {
    decodeArchiveIndex(bytes, name.hash);
    return;
  }
  const found = md5Hex(bytes);
  if (found !== name.hash) {
    throw new PakratError('E_INTEGRITY', `${name.kind} ${name.hash} has MD5 ${found}`, { data: { found } });
  }
}

/** The entries of an archive, by its index, in the order in which they lie in it. Throws E_FORMAT…, E_INTEGRITY. */
export function archiveEntries(indexBytes: Uint8Array, name: ObjectName): CheckedEntry[] {
  const index = decodeArchiveIndex(indexBytes, name.hash);
  const raw = name.kind === 'patch';
  const entries = Array.from({ length: index.count }, (_, i): CheckedEntry => {
    const { ekey, offset, size } = index.entry(i);
    return { ekey: toHex(ekey), offset, size, raw };
  });
  return entries.sort((a, b) => a.offset - b.offset);
}

/** How the entries of an object are checked. */
export interface EntryCheck {
  /** What the ledger holds of it, merged and in order. */
  spans: readonly Span[];
  /** Told of every entry that is checked, with the bytes that are held of it. */
  onEntry: (bytes: number) => void;
  /** For bytes of an object that may be encrypted as a whole, and their offset in it. */
  decrypt?: ((bytes: Uint8Array, offset: number) => Uint8Array) | undefined;
}

/**
 * Checks those entries of an object of which something is held.
 * @returns what is wrong
 */
export function checkEntries(
  file: string,
  entries: readonly CheckedEntry[],
  { spans, onEntry, decrypt }: EntryCheck,
): DamagedEntry[] {
  const damaged: DamagedEntry[] = [];
  const fd = openIfThere(file);
  const stage = new StageRoom().open(nowhere);
  const waiting: Fed[] = [];
  const judge = (): void => {
    stage.settle();
    damaged.push(...waiting.splice(0).flatMap((fed) => damageOf(fed) ?? []));
  };
  try {
    for (const entry of entries) {
      const held = Math.min(heldUntil(spans, entry.offset) - entry.offset, entry.size);
      if (held <= 0) continue;
      waiting.push(feed(entry, held, { fd, stage, decrypt }));
      if (waiting.length === mostWaiting) judge();
      onEntry(held);
    }
    judge();
  } finally {
    stage.close();
    if (fd !== undefined) fs.closeSync(fd);
  }
  return damaged;
}

/** Entries that are judged together: their chunks are hashed many at a time. */
const mostWaiting = 256;

/** An entry whose bytes were given to its verifier, and what was wrong already. */
interface Fed {
  entry: CheckedEntry;
  held: number;
  verifier: EntryVerifier | undefined;
  error: PakratError | undefined;
}

/** Gives the first `held` bytes of an entry to a verifier of its own. */
function feed(
  entry: CheckedEntry,
  held: number,
  { fd, stage, decrypt }: Pick<EntryCheck, 'decrypt'> & { fd: number | undefined; stage: Stage },
): Fed {
  const fed: Fed = { entry, held, verifier: undefined, error: undefined };
  try {
    if (fd === undefined) throw new PakratError('E_INTEGRITY', `entry ${entry.ekey}: its file is gone`);
    fed.verifier = new EntryVerifier(entry, stage);
    for (let done = 0; done < held; done += pieceSize) {
      const size = Math.min(pieceSize, held - done);
      const at = entry.offset + done;
      const bytes = readAt(fd, at, size, `entry ${entry.ekey}`);
      fed.verifier.push(decrypt?.(bytes, at) ?? bytes);
    }
  } catch (error) {
    if (!isPakratError(error)) throw error;
    fed.error = error;
  } finally {
    fed.verifier?.close();
  }
  return fed;
}

/** What is wrong with an entry that was settled. A chunk that is held in part cannot be right. */
function damageOf({ entry, held, verifier, error }: Fed): DamagedEntry | undefined {
  const right = verifier?.verified ?? 0;
  const found = error ?? verifier?.failure;
  if (found === undefined && right === held) return undefined;
  const code = found?.code ?? 'E_INTEGRITY';
  const message = found?.message ?? `entry ${entry.ekey}: ${held - right} bytes have no hash yet`;
  return { ...entry, start: entry.offset + right, end: entry.offset + held, code, message };
}

/** Throws E_INTEGRITY for a patch of its own whose bytes have another MD5, and which is not the patch manifest of that name either. */
export function checkPatch({ hash }: ObjectName, bytes: Uint8Array): void {
  if (md5Hex(bytes) === hash || isManifest(bytes, hash)) return;
  throw new PakratError('E_INTEGRITY', `patch ${hash} has another MD5`);
}

function isManifest(bytes: Uint8Array, hash: string): boolean {
  try {
    return patchManifestKey(bytes) === hash;
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return false;
  }
}

/** Checks a file that was made of other objects and is named after its MD5. */
export function checkNamedFile(file: string): void {
  const found = fileMd5(file);
  if (found !== basename(file)) throw new PakratError('E_INTEGRITY', `${basename(file)} has MD5 ${found}`);
}

function fileMd5(file: string): string {
  const fd = fs.openSync(file, 'r');
  try {
    const hash = md5Hasher();
    const { size } = fs.fstatSync(fd);
    for (let done = 0; done < size; done += pieceSize)
      hash.update(readAt(fd, done, Math.min(pieceSize, size - done), file));
    return toHex(hash.digest());
  } finally {
    fs.closeSync(fd);
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
