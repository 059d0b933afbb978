import engines from '../../../data/unreal-engines.json' with { type: 'json' };
import { toHex } from '../../core/bytes.ts';
import { isPakratError, type PakratError } from '../../core/errors.ts';
import { unusedSpace } from '../unused-space.ts';
import { dataOffset, dataSize } from './entries/entry-record.ts';
import { methodName } from './entries/method-names.ts';
import { type Footer, newestVersion } from './footer.ts';
import type { OpenedIndex } from './opened-index.ts';

/** Below it a game has one key, and no GUID for it. */
const keyGuidVersion = 7;

/** The facts that `info` shows of a PAK. Without its index they are those of the footer. */
export function unrealFacts(
  footer: Footer,
  index: OpenedIndex | PakratError,
  fileSize: number,
): Record<string, unknown> {
  const isLocked = isPakratError(index);
  const counts = isLocked ? undefined : countRows(index);
  const isEncrypted = footer.encryptedIndex || (counts?.encryptedEntries ?? 0) > 0;
  return {
    game: 'Unreal Engine',
    engine: (engines as Record<string, string>)[footer.label] ?? null,
    mountPoint: isLocked ? null : index.mountPoint,
    encryption: isEncrypted ? footer.encryption : 'none',
    encryptedIndex: footer.encryptedIndex,
    ...(footer.version < keyGuidVersion ? {} : { keyGuid: footer.keyGuid }),
    locked: isLocked,
    methods: counts === undefined ? namedMethods(footer) : methodsOf(counts.methods, footer),
    encryptedEntries: counts?.encryptedEntries ?? null,
    deleteRecords: counts?.deleteRecords ?? null,
    indexOffset: footer.indexOffset,
    indexSize: footer.indexSize,
    indexHash: toHex(footer.indexHash),
    ...(isLocked ? {} : unusedSpace(usedParts(footer, index, fileSize), fileSize)),
    ...(footer.pakchunkIndex === undefined ? {} : { pakchunkIndex: footer.pakchunkIndex }),
    ...(isLocked || footer.version < 10 ? {} : pathHashFacts(index)),
  };
}

function countRows({ rows }: OpenedIndex): { methods: Set<number>; encryptedEntries: number; deleteRecords: number } {
  const counts = { methods: new Set<number>(), encryptedEntries: 0, deleteRecords: 0 };
  for (let row = 0; row < rows.count; row++) {
    const record = rows.recordAt(row);
    counts.methods.add(record.method);
    if (record.encrypted) counts.encryptedEntries += 1;
    if (record.deleted) counts.deleteRecords += 1;
  }
  return counts;
}

/** Entries with the records in front of them; the parts of the index lie behind each other, with the footer at the end. */
function* usedParts({ indexOffset }: Footer, { rows }: OpenedIndex, fileSize: number): Generator<[number, number]> {
  yield [indexOffset, fileSize];
  for (let row = 0; row < rows.count; row++) {
    const record = rows.recordAt(row);
    if (!record.deleted) yield [record.offset, dataOffset(record) + dataSize(record)];
  }
}

function namedMethods({ methodNames }: Footer): string[] {
  return methodNames.filter((name) => name !== '').map((name) => name.toLowerCase());
}

function methodsOf(methods: ReadonlySet<number>, footer: Footer): string[] {
  return [...methods].sort((a, b) => a - b).map((method) => methodName(method, footer));
}

function pathHashFacts({ seed, findRow }: OpenedIndex): Record<string, unknown> {
  return { pathHashSeed: seed.toString(), names: findRow === undefined ? 'listed' : 'hashed' };
}

/** Oddities of a PAK that are no errors. */
export function unrealNotes(footer: Footer, index: OpenedIndex | PakratError): string[] {
  const notes: string[] = [];
  if (!footer.hasMagic) notes.push(`the magic in the footer is wrong; read as version ${footer.label} all the same`);
  if (footer.version === 10 || footer.version >= newestVersion - 2) {
    notes.push(`version ${footer.label} is read by its description: no PAK of it was there to check`);
  }
  if (isPakratError(index)) return notes;
  for (const { message } of index.problems) notes.push(message);
  if (index.findRow !== undefined)
    notes.push('paths are not listed, only their hashes: files can be asked for by path');
  return notes;
}
