import { toHex } from '../core/bytes.ts';
import { codeOf, isPakratError, messageOf, PakratError } from '../core/errors.ts';
import { md5Hex } from '../core/hash.ts';
import { emptyKeyRing, type KeyRing } from '../formats/blte/keys.ts';
import { isWowRoot } from '../formats/roots/wow.ts';
import type { Cell, Description, Fact } from './inspect/description.ts';
import { describeDownload, describeEncoding, describeInstall, describeSize } from './inspect/manifests.ts';
import { describeArchiveIndex, describeBlte, isArchiveIndex } from './inspect/objects.ts';
import { describePatchManifest, describeZbsdiff } from './inspect/patches.ts';
import { describeTvfs, describeWowRoot } from './inspect/roots.ts';
import * as texts from './inspect/texts.ts';

/** A format that `inspect` knows: how its bytes are told, and what is said of them. */
type KnownFormat = readonly [
  name: string,
  probe: (bytes: Uint8Array) => boolean,
  describe: (bytes: Uint8Array, keys: KeyRing) => Description,
];

/** The formats, in the order in which they are tried: those with a magic, then those told by their shape. A new one is a line. */
const formats: readonly KnownFormat[] = [
  ['BLTE', magic('BLTE'), describeBlte],
  ['encoding file', magic('EN\x01'), describeEncoding],
  ['install manifest', magic('IN\x01', 'IN\x02'), describeInstall],
  ['download manifest', magic('DL\x01', 'DL\x02', 'DL\x03'), describeDownload],
  ['size manifest', magic('DS\x01', 'DS\x02'), describeSize],
  ['TVFS manifest', magic('TVFS'), describeTvfs],
  ['WoW root', magic('TSFM'), describeWowRoot],
  ['patch manifest', magic('PA\x01', 'PA\x02'), describePatchManifest],
  ['ZBSDIFF1 patch', magic('ZBSDIFF1'), describeZbsdiff],
  ['Ribbit answer', texts.isRibbit, texts.describeRibbit],
  ['BPSV table', texts.isBpsv, texts.describeBpsv],
  ['key ring config', texts.isKeyRing, texts.describeKeyRing],
  ['build config', texts.isConfigWith('encoding', 'root'), texts.describeBuildConfig],
  ['CDN config', texts.isConfigWith('archives'), texts.describeCdnConfig],
  ['patch config', texts.isConfigWith('patch-entry'), texts.describePatchConfig],
  ['config', texts.isConfigWith(), texts.describeConfig],
  ['key list', texts.isKeyList, texts.describeKeyList],
  ['listfile', texts.isListfile, texts.describeListfile],
  ['product config', texts.isJsonObject, texts.describeProductConfig],
  ['archive index', isArchiveIndex, describeArchiveIndex],
  ['WoW root', isWowRoot, describeWowRoot],
];

/** Numbers of rows, from 0, both ends included. */
export interface RowRange {
  first: number;
  last: number;
}

/** What an object is, as plain JSON. */
export interface Inspection {
  /** `unknown` when nothing fits. */
  format: string;
  size: number;
  md5: string;
  facts: Record<string, Fact>;
  /** The rows asked for, and how many there are. */
  table?: { what: string; count: number; first: number; columns: readonly string[]; rows: Record<string, Cell>[] };
  /** What is wrapped in it. */
  inside?: Inspection;
  /** Why what is wrapped in it cannot be shown. */
  problem?: { code: string; message: string };
}

/** How to look. */
export interface InspectOptions {
  /** Keys for encrypted chunks. Default none. */
  keys?: KeyRing | undefined;
  /** Rows to show, of the innermost table. Default the first ten. */
  rows?: RowRange | undefined;
  /** Leave what is wrapped wrapped, and show the wrapping. */
  encoded?: boolean | undefined;
}

/** Wrappings inside wrappings that are opened. */
const maxDepth = 4;

/**
 * Guesses what some bytes are and describes them; what is wrapped in them, too.
 * @throws E_FORMAT…, E_INTEGRITY when they are of a known format and damaged
 */
export function inspectBytes(bytes: Uint8Array, options: InspectOptions = {}, depth = 0): Inspection {
  const [name, , describe] =
    formats.find(([, probe]) => probe(bytes)) ?? (['unknown', undefined, describeUnknown] as const);
  const { facts, table, inside } = describe(bytes, options.keys ?? emptyKeyRing);
  const result: Inspection = { format: name, size: bytes.length, md5: md5Hex(bytes), facts };
  const opened = inside !== undefined && options.encoded !== true && depth < maxDepth ? open(inside) : {};
  if (opened.problem !== undefined) result.problem = opened.problem;
  if (opened.bytes !== undefined) result.inside = inspectBytes(opened.bytes, options, depth + 1);
  else if (table !== undefined) result.table = rowsOf(table, options.rows ?? { first: 0, last: 9 });
  return result;
}

/** What the object at fault says, wherever it is wrapped: undefined when all could be shown. */
export function problemOf({ problem, inside }: Inspection): Inspection['problem'] {
  return problem ?? (inside && problemOf(inside));
}

/**
 * Numbers of rows as a person writes them: `7`, `10-19`, `1000-`.
 * @throws E_USAGE when they are none
 */
export function parseRows(text: string): RowRange {
  const match = /^(\d{1,10})(-(\d{0,10}))?$/.exec(text.trim());
  const first = Number(match?.[1]);
  const last = match?.[2] === undefined ? first : match[3] === '' ? Number.MAX_SAFE_INTEGER : Number(match[3]);
  if (match === null || last < first) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} are no rows`, {
      hint: 'Write them as 7, 10-19 or 1000-, counted from 0.',
    });
  }
  return { first, last };
}

function magic(...starts: readonly string[]): (bytes: Uint8Array) => boolean {
  return (bytes) => starts.some((start) => [...start].every((character, i) => bytes[i] === character.charCodeAt(0)));
}

function describeUnknown(bytes: Uint8Array): Description {
  const start = bytes.subarray(0, 32);
  const text = [...start].map((byte) => (byte > 0x1f && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
  return { facts: { start: toHex(start), text } };
}

function open(inside: () => Uint8Array): { bytes?: Uint8Array; problem?: { code: string; message: string } } {
  try {
    return { bytes: inside() };
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return { problem: { code: codeOf(error) ?? '', message: messageOf(error) } };
  }
}

function rowsOf(table: NonNullable<Description['table']>, { first, last }: RowRange): NonNullable<Inspection['table']> {
  const { what, columns, count } = table;
  const rows: Record<string, Cell>[] = [];
  if (first < count) {
    for (const cells of table.rows(first)) {
      rows.push(Object.fromEntries(columns.map((name, i) => [name, cells[i]])));
      if (first + rows.length > last) break;
    }
  }
  return { what, count, first, columns, rows };
}
