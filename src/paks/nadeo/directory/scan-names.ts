/*
 * Finds the names behind hashes in a pack itself: the reference tables of its GBX files, and its scripts, name other
 * files.
 */

import { concatBytes } from '../../../core/bytes.ts';
import { codeOf, isPakratError, resultUnless, valueUnless } from '../../../core/errors.ts';
import { contentSize, type EntryContext, isEncrypted, startPieces } from '../entries/entry-reader.ts';
import { decodeGbxHeader, looksLikeGbx } from '../gbx/gbx-header.ts';
import { isCounted } from '../header/checksums.ts';
import type { FileRecord } from './directory.ts';
import { type NameBook, scriptReferences } from './names.ts';

const maxHeaderBytes = 4 << 20;
const maxScriptBytes = 1 << 20;
/** A hostile pack must not keep the scan busy for ever. */
const maxReferences = 200_000;
const maxHashes = 2_000_000;
const maxRounds = 8;
const scriptClass = 0x09054000;

interface ScannedFile {
  file: FileRecord;
  /** Its path with backslashes: the real one where the hash is resolved. Asked again in each round. */
  path: () => string;
}

interface References {
  path: () => string;
  /** Folders above the file's own in which the paths may start. */
  ancestorLevel: number;
  paths: string[];
  /** Path of the file when its references were added. */
  addedAt?: string;
}

/**
 * Reads the start of every GBX and the scripts, and adds what they name to the book. Files that cannot be read are
 * passed over.
 * @returns the number of files that named others
 */
export async function scanNames(context: EntryContext, files: readonly ScannedFile[], book: NameBook): Promise<number> {
  const found: References[] = [];
  let count = 0;
  for (const scanned of files) {
    if (isEncrypted(scanned.file) && context.key === undefined) continue;
    const references = await referencesOf(context, scanned);
    if (references === undefined || references.paths.length === 0) continue;
    count += references.paths.length;
    if (count > maxReferences) break;
    found.push(references);
  }
  // A name that was found may tell in which folder a file really stands, and so where its references start.
  let hashes = 0;
  for (let round = 0, before = -1; round < maxRounds && book.size !== before; round++) {
    before = book.size;
    for (const references of found) {
      const path = references.path();
      if (path === references.addedAt) continue;
      references.addedAt = path;
      hashes += addReferences(references, path, { book, limit: maxHashes - hashes });
    }
  }
  return found.length;
}

async function referencesOf(context: EntryContext, scanned: ScannedFile): Promise<References | undefined> {
  const { file, path } = scanned;
  const isScript = file.classId === scriptClass || /\.script\.txt$/i.test(path());
  if (!isScript) return valueUnless(isPakratError, gbxReferences(context, scanned));
  const paths = await valueUnless(isPakratError, scriptPaths(context, file));
  return paths && { path, ancestorLevel: 0, paths };
}

async function scriptPaths(context: EntryContext, file: FileRecord): Promise<string[]> {
  if (file.size > maxScriptBytes) return [];
  const bytes = await startOf(context, file, (start) => (start.length >= file.size ? start : undefined));
  const paths = scriptReferences(new TextDecoder().decode(bytes ?? new Uint8Array(0)));
  return paths.flatMap((path) => [path, `Scripts\\${path}`]);
}

async function gbxReferences(context: EntryContext, { file, path }: ScannedFile): Promise<References | undefined> {
  const header = await startOf(context, file, (start) => {
    if (start.length >= 6 && !looksLikeGbx(start)) return 'none';
    const isCut = (error: unknown): boolean => codeOf(error) === 'E_FORMAT_TRUNCATED';
    return resultUnless(isCut, () => decodeGbxHeader(start));
  });
  if (header === undefined || header === 'none') return undefined;
  const paths = header.externals.flatMap((external) => (external.path === undefined ? [] : [external.path]));
  return { path, ancestorLevel: header.ancestorLevel, paths };
}

/** Gives more and more of a file's start to `look` until it finds something; undefined when it never does. */
async function startOf<T>(
  context: EntryContext,
  file: FileRecord,
  look: (start: Uint8Array) => T | undefined,
): Promise<T | undefined> {
  if (contentSize(file, context.version) === 0) return undefined;
  const parts: Uint8Array[] = [];
  let size = 0;
  let lookedAt = 0;
  for await (const piece of startPieces(context, file, await isCounted(context, file))) {
    parts.push(piece);
    size += piece.length;
    const isWhole = size >= file.size;
    // Looking only when there is a quarter more keeps long headers from being parsed over and over.
    if (!isWhole && size < lookedAt * 1.25) continue;
    lookedAt = size;
    const found = look(concatBytes(parts));
    if (found !== undefined) return found;
    if (isWhole || size > maxHeaderBytes) return undefined;
  }
  return undefined;
}

/**
 * Adds every place that a reference may mean: from the file's own folder up to as many folders above as it says.
 * @returns the number of hashes made
 */
function addReferences(
  { ancestorLevel, paths }: References,
  path: string,
  { book, limit }: { book: NameBook; limit: number },
): number {
  const folders = path.split('\\').slice(0, -1);
  let hashes = 0;
  for (const reference of paths) {
    for (let up = 0; up <= Math.min(ancestorLevel, folders.length) && hashes < limit; up++) {
      hashes += book.add([...folders.slice(0, folders.length - up), reference].join('\\'));
    }
    if (ancestorLevel > folders.length && hashes < limit) hashes += book.add(reference);
  }
  return hashes;
}
