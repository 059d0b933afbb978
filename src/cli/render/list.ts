import { isListedFolder, type Listing, type ListingRow } from '../../app/list.ts';
import { padText, printable, textWidth } from '../terminal/text.ts';
import { writeEach } from '../terminal/write-each.ts';

/** The forms of a listing: `names` alone, `sizes` before them, `long` with all that is known, a `tree` of folders. */
export type ListForm = 'names' | 'sizes' | 'long' | 'tree';

const sizeWidth = 12;

/** A row of `ls --json`: name, size, and what the source knows beside; of a folder that it is one. */
export function listRow(row: ListingRow): Record<string, unknown> {
  if (isListedFolder(row)) return { name: row.name, folder: true };
  const { name, size, facts, held } = row;
  return { name, size: size ?? null, ...facts, ...(held !== undefined && { held }) };
}

/** Writes a line for each row. Lists of millions are written as they come. */
export async function writeList(
  stream: NodeJS.WritableStream,
  rows: Listing<ListingRow>,
  form: ListForm,
): Promise<void> {
  if (form === 'names') return writeEach(stream, rows, ({ name }) => `${printable(name)}\n`);
  if (form === 'tree') return writeEach(stream, rows, treeLines());
  if (form === 'sizes') return writeEach(stream, rows, (row) => `${sizeText(row)}  ${nameText(row)}\n`);
  const { first, all } = await peek(rows);
  const columns = longColumns.filter(({ cell }) => first.some((row) => cell(row) !== ''));
  const shown = columns.map(({ title, cell, right }) => {
    const width = Math.max(...first.map((row) => textWidth(cell(row))), title.length);
    return { cell, title, put: (text: string) => padText(text, width, right === true ? 'right' : 'left') };
  });
  const line = (cells: readonly string[], name: string): string => `${[...cells, name].join('  ')}\n`;
  let head =
    first.length === 0
      ? ''
      : line(
          shown.map(({ title, put }) => put(title)),
          'name',
        );
  await writeEach(stream, all, (row) => {
    const text =
      head +
      line(
        shown.map(({ cell, put }) => put(cell(row))),
        nameText(row),
      );
    head = '';
    return text;
  });
}

interface LongColumn {
  title: string;
  right?: boolean;
  /** Empty where a row has nothing there. */
  cell: (row: ListingRow) => string;
}

/** A column of a fact that the source gives. */
function factColumn(title: string, fact: string, right = true): LongColumn {
  const cell = (row: ListingRow): string =>
    isListedFolder(row) || row.facts[fact] === undefined ? '' : printable(String(row.facts[fact]));
  return { title, right, cell };
}

/** The columns of `--long`, of which those are shown that a source fills. */
const longColumns: readonly LongColumn[] = [
  { title: 'index', right: true, cell: (row) => (isListedFolder(row) ? '' : String(row.index ?? '')) },
  { title: 'size', right: true, cell: (row) => (isListedFolder(row) ? '' : String(row.size ?? '')) },
  factColumn('stored', 'storedSize'),
  factColumn('offset', 'offset'),
  {
    title: 'method',
    cell(row) {
      if (isListedFolder(row)) return '';
      return [row.facts.method, row.facts.encrypted === true ? 'enc' : ''].filter(Boolean).join(' ');
    },
  },
  {
    title: 'time',
    cell: (row) => (isListedFolder(row) ? '' : (row.mtime?.toISOString().slice(0, 16).replace('T', ' ') ?? '')),
  },
  factColumn('fdid', 'fileDataId'),
  factColumn('locale', 'locale', false),
  {
    title: 'held',
    cell: (row) => (isListedFolder(row) || row.held === undefined ? '' : row.held ? 'held' : 'missing'),
  },
  {
    title: 'from',
    cell: (row) => (isListedFolder(row) || row.origin === undefined ? '' : printable(row.origin)),
  },
];

/** Rows that decide the columns and their widths: a source of millions has its first line soon. */
const peekedRows = 1000;

/** The first rows, and all. */
async function peek(rows: Listing<ListingRow>): Promise<{ first: ListingRow[]; all: AsyncGenerator<ListingRow> }> {
  const iterator = Symbol.iterator in rows ? rows[Symbol.iterator]() : rows[Symbol.asyncIterator]();
  const first: ListingRow[] = [];
  let next = await iterator.next();
  for (; next.done !== true; next = await iterator.next()) if (first.push(next.value) === peekedRows) break;
  async function* all(): AsyncGenerator<ListingRow> {
    yield* first;
    if (next.done === true) return;
    for (next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  }
  return { first, all: all() };
}

/** A function that gives the lines of a file in a tree: those of folders that begin with it, then its own. */
function treeLines(): (row: ListingRow) => string {
  let open: readonly string[] = [];
  return (row) => {
    const folders = row.name.split('/');
    const name = folders.pop() ?? '';
    const changed = open.findIndex((folder, i) => folder !== folders[i]);
    const kept = changed < 0 ? open.length : changed;
    open = folders;
    const lines = folders.slice(kept).map((folder, i) => `${'  '.repeat(kept + i)}${printable(folder)}/\n`);
    return `${lines.join('')}${'  '.repeat(folders.length)}${printable(name)}${noteText(row)}\n`;
  };
}

function sizeText(row: ListingRow): string {
  return (isListedFolder(row) ? '' : String(row.size ?? '-')).padStart(sizeWidth);
}

function nameText(row: ListingRow): string {
  return `${printable(row.name)}${noteText(row)}`;
}

function noteText(row: ListingRow): string {
  return isListedFolder(row) || row.note === undefined ? '' : `  (${printable(row.note)})`;
}
