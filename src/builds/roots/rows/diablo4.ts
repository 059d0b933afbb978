import { codeOf } from '../../../core/errors.ts';
import { decodeDiablo4Toc } from '../../../formats/roots/diablo4/core-toc.ts';
import {
  type Diablo4Path,
  diablo4Namer,
  parseDiablo4Path,
  printDiablo4Path,
} from '../../../formats/roots/diablo4/names.ts';
import {
  decodeEncryptedNames,
  decodeEncryptedSnos,
  decodeSharedPayloads,
} from '../../../formats/roots/diablo4/side-tables.ts';
import type { NameRow, Note } from '../name-table.ts';
import type { FilePart } from '../root.ts';

/** The decoded bytes of a part of a file. */
export type LoadPart = (part: FilePart) => Promise<Uint8Array>;

const tables = /^base\/(coretoc|encryptedsnos|coretocsharedpayloadsmapping|encryptednamedict-0x[0-9a-f]{1,16})\.dat$/i;

/**
 * Diablo IV names its files by numbers, and keeps the names of the numbers in tables of its own. Gives back what makes rows of rows:
 * each under its name, found under its numbers as well, and once more for every asset that shares its payload.
 * Undefined for a build without such tables.
 * @param rows all rows of the build @throws E_FORMAT… for a damaged table
 */
export async function diablo4Naming(
  rows: AsyncIterable<NameRow>,
  load: LoadPart,
  note: Note,
): Promise<((row: NameRow) => NameRow[]) | undefined> {
  const files = new Map<string, Uint8Array>();
  for await (const { name, parts } of rows) {
    const table = tables.exec(name)?.[1]?.toLowerCase();
    const [part, more] = parts;
    if (table === undefined || part === undefined || more !== undefined) continue;
    const bytes = await loadTable(part, load, (forNow) =>
      note(`${name} cannot be opened: some names are missing`, forNow),
    );
    if (bytes !== undefined) files.set(table, bytes);
  }
  const toc = files.get('coretoc');
  if (toc === undefined) return undefined;
  const encrypted = files.get('encryptedsnos');
  const shared = files.get('coretocsharedpayloadsmapping');
  const dictionaries = [...files].filter(([name]) => name.startsWith('encryptednamedict'));
  const nameOf = diablo4Namer({
    toc: decodeDiablo4Toc(toc),
    encrypted: encrypted && decodeEncryptedSnos(encrypted),
    encryptedNames: dictionaries.flatMap(([, bytes]) => decodeEncryptedNames(bytes)),
  });
  const sharers = groupSharers(shared);
  return (row) => {
    const path = parseDiablo4Path(row.name);
    if (path === undefined) return [row];
    return [path, ...sharersOf(path, sharers)].map((each) => {
      const numbers = printDiablo4Path(each);
      const name = nameOf(each);
      return name === undefined ? { ...row, name: numbers } : { ...row, name, otherName: numbers };
    });
  };
}

async function loadTable(
  part: FilePart,
  load: LoadPart,
  missing: (forNow?: 'forNow') => void,
): Promise<Uint8Array | undefined> {
  try {
    return await load(part);
  } catch (error) {
    const code = codeOf(error) ?? '';
    // Tables of locked names open with their key only, which may come later.
    if (!['E_KEY_MISSING', 'E_OFFLINE', 'E_NOT_FOUND'].includes(code)) throw error;
    missing(code === 'E_NOT_FOUND' ? undefined : 'forNow');
    return undefined;
  }
}

/** Who shares a payload, by the path of the payload without its folders. */
type Sharers = ReadonlyMap<string, Pick<Diablo4Path, 'snoId' | 'subId'>[]>;

function groupSharers(bytes: Uint8Array | undefined): Sharers {
  const groups = new Map<string, Pick<Diablo4Path, 'snoId' | 'subId'>[]>();
  const add = (key: string, sharer: Pick<Diablo4Path, 'snoId' | 'subId'>): void => {
    groups.set(key, [...(groups.get(key) ?? []), sharer]);
  };
  const { payloads, children = [] } = bytes === undefined ? { payloads: [] } : decodeSharedPayloads(bytes);
  for (const { snoId, payloadOf } of payloads) add(String(payloadOf), { snoId });
  for (const { child, payloadOf } of children) add(`${payloadOf.snoId}-${payloadOf.subId}`, child);
  return groups;
}

function sharersOf(path: Diablo4Path, sharers: Sharers): Diablo4Path[] {
  const { set, kind, snoId, subId } = path;
  if (kind.toLowerCase() === 'meta') return [];
  const key = subId === undefined ? String(snoId) : `${snoId}-${subId}`;
  return (sharers.get(key) ?? []).map((sharer) => ({ set, kind, ...sharer }));
}
