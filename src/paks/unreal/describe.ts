import { isPakratError, type PakratError } from '../../core/errors.ts';
import type { EntryRecord } from './entry-record.ts';
import { type Footer, newestVersion } from './footer.ts';
import { methodName } from './methods.ts';
import type { OpenedIndex } from './open.ts';

/** Versions of the engine that wrote a version of the format. */
const engines: Readonly<Record<string, string>> = {
  1: 'before 4.0',
  2: '4.0 to 4.2',
  3: '4.3 to 4.15',
  4: '4.16 to 4.19',
  5: '4.20',
  7: '4.21',
  '8A': '4.22',
  '8B': '4.23 or 4.24',
  9: '4.25',
  11: '4.26 to 5.7',
  12: '5.8',
  15: '6.0',
};

/** What `info` tells of a PAK. Without its index that is what the footer says. */
export function unrealFacts(footer: Footer, index: OpenedIndex | PakratError): Record<string, unknown> {
  return {
    game: 'Unreal Engine',
    engine: engines[footer.label] ?? null,
    encryption: encryptionOf(footer, index),
    encryptedIndex: footer.encryptedIndex,
    keyGuid: footer.keyGuid,
    locked: isPakratError(index),
    indexOffset: footer.indexOffset,
    indexSize: footer.indexSize,
    ...(footer.pakchunkIndex === undefined ? {} : { pakchunkIndex: footer.pakchunkIndex }),
    ...(isPakratError(index) ? { methods: namedMethods(footer) } : indexFacts(footer, index)),
  };
}

function encryptionOf(footer: Footer, index: OpenedIndex | PakratError): string {
  const isEncrypted =
    footer.encryptedIndex || (!isPakratError(index) && index.rows.some(({ record }) => record.encrypted));
  return isEncrypted ? footer.encryption : 'none';
}

function namedMethods({ methodNames }: Footer): string[] {
  return methodNames.filter((name) => name !== '').map((name) => name.toLowerCase());
}

function indexFacts(footer: Footer, { rows, mountPoint, seed, findRow }: OpenedIndex): Record<string, unknown> {
  const counted = (matches: (record: EntryRecord) => boolean): number =>
    rows.filter(({ record }) => matches(record)).length;
  const methods = new Set(rows.map(({ record }) => record.method));
  return {
    mountPoint,
    methods: [...methods].sort((a, b) => a - b).map((method) => methodName(method, footer)),
    encryptedEntries: counted(({ encrypted }) => encrypted),
    deleteRecords: counted(({ deleted }) => deleted),
    ...(footer.version < 10
      ? {}
      : { pathHashSeed: seed.toString(), names: findRow === undefined ? 'listed' : 'hashed' }),
  };
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
