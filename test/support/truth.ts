import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pakrat } from '../../src/pakrat.ts';
import { fileContent, firstSize } from './own-tree/content.ts';

/*
 * What is true of a generated tree: the table of its files that the generator wrote, and the right content of each,
 * computed again from its name. None of the program's code is used here.
 */

/** A variant of a file in one build: a row of truth/build-a.tsv or build-b.tsv. */
export interface TruthRow {
  fileDataId: number;
  name: string;
  /** `enUS` …, `-` for all locales, `#lowviolence` for the twin that is not the default. */
  locale: string;
  ckey: string;
  /** Every encoding of the content. */
  ekeys: string[];
  /** Encoded size of the first encoding. */
  encodedSize: number;
  /** Archive that holds the first encoding, or `loose`. */
  archive: string;
  /** Name of the withheld key that locks it; undefined for what can be read. */
  lockedBy: string | undefined;
  /** The right bytes. */
  content(): Uint8Array;
}

/** A file of the install manifest. */
export interface InstallTruth {
  path: string;
  ckey: string;
  /** What the generator tags it as: `w64`, `osx`, … */
  kind: string;
  content(): Uint8Array;
}

/** What is true of one build. */
export interface Truth {
  layout: 'wow' | 'tvfs' | 'text';
  rows: TruthRow[];
  install: InstallTruth[];
  /** Files that a TVFS build has in several pieces. */
  pieced: { name: string; content(): Uint8Array }[];
}

interface Summary {
  options: { seed: string; layout: Truth['layout']; spans: number };
  build_a: { install: [string, string, number, string][] };
  build_b: { install: [string, string, number, string][] };
}

/** Reads the truth of build `a` (product `wow_old`) or `b` (product `wow`) of a tree. */
export function readTruth(root: string, which: 'a' | 'b'): Truth {
  const { options, ...summary } = JSON.parse(readFileSync(join(root, 'truth/summary.json'), 'utf8')) as Summary;
  const { seed, layout, spans } = options;
  const withheld = new Set(lines(join(root, 'truth/keys-withheld.txt')).map((line) => line.split(' ')[0]!));
  const [head, ...body] = lines(join(root, `truth/build-${which}.tsv`)).map((line) => line.split('\t'));
  const rows = body.map((cells) => {
    const row = Object.fromEntries(head!.map((column, i) => [column, cells[i]!]));
    return truthRow(row, seed, withheld);
  });
  const install = summary[`build_${which}`].install.map(([path, ckey, size, kind]): InstallTruth => {
    const revision = which === 'b' && path.endsWith('.exe') ? 2 : 1;
    const content = (): Uint8Array => {
      const name = `install|${path}`;
      const grown = revision === 1 ? size : firstSize(seed, name, size);
      return fileContent({ seed, name, revision, size: grown, kind: 't', locale: '' });
    };
    return { path: path.replaceAll('\\', '/'), ckey, kind, content };
  });
  const pieced = Array.from({ length: layout === 'tvfs' ? spans : 0 }, (_, file) => ({
    name: `zone/big${file}.xpak`,
    content: () =>
      Buffer.concat(
        [0, 1, 2].map((piece) =>
          fileContent({
            seed,
            name: `span${file}.${piece}`,
            revision: 1,
            size: 20000 + 777 * piece,
            kind: 'r',
            locale: '',
          }),
        ),
      ),
  }));
  return { layout, rows, install, pieced };
}

function lines(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').filter(Boolean);
}

function truthRow(row: Record<string, string>, seed: string, withheld: ReadonlySet<string>): TruthRow {
  const twin = row.locale === '#lowviolence';
  const key = row.espec!.includes('e:{') ? row.keyname! : undefined;
  return {
    fileDataId: Number(row.fdid),
    name: row.name!,
    locale: row.locale!,
    ckey: row.ckey!,
    ekeys: row.ekeys!.split(','),
    encodedSize: Number(row.esize),
    archive: row.archive!,
    lockedBy: key !== undefined && withheld.has(key) ? key : undefined,
    content: () =>
      fileContent({
        seed,
        name: twin ? `${row.name}#lowviolence` : row.name!,
        locale: twin || row.locale === '-' ? '' : row.locale!,
        revision: Number(row.rev),
        size: Number(row.size1),
        kind: row.kind!,
      }),
  };
}

/** How a file is asked for. */
export type Asking = 'name' | 'fdid' | 'ckey' | 'ekey';

/** A file that is asked for: where it is to appear below the output folder, and with which bytes. */
export interface Expected {
  query: string;
  /** Any of these, for an id may be written under the name that is known of it. */
  paths: string[];
  lockedBy: string | undefined;
  content(): Uint8Array;
}

/** Everything that a build should give in one locale, asked for in one way. Rows of all locales are left to `enUS`. */
export function expectedFiles(truth: Truth, asking: Asking, locale = 'enUS'): Expected[] {
  const byQuery = new Map<string, Expected>();
  const add = (
    query: string,
    paths: string[],
    row: Pick<Expected, 'content'> & { lockedBy?: string | undefined },
  ): void => {
    byQuery.set(query, { query, paths, lockedBy: row.lockedBy, content: row.content });
  };
  for (const row of truth.rows) {
    if (asking === 'ckey') add(`ckey:${row.ckey}`, [`ckey-${row.ckey}`], row);
    if (asking === 'ekey') for (const ekey of row.ekeys) add(`ekey:${ekey}`, [`ekey-${ekey}`], row);
    if (row.locale !== locale && !(row.locale === '-' && locale === 'enUS')) continue;
    const name = nameOf(truth, row);
    if (asking === 'name' && name !== undefined) add(name, [name], row);
    if (asking === 'fdid') add(`fdid:${row.fileDataId}`, [row.name, `fdid-${row.fileDataId}`], row);
  }
  if (asking === 'name' && locale === 'enUS') {
    for (const file of [...truth.install.map(({ path, content }) => ({ name: path, content })), ...truth.pieced])
      add(file.name, [file.name], file);
  }
  return [...byQuery.values()];
}

/** The name of a row in the build; a TVFS has its locales as folders, and neither empty files nor ids. */
function nameOf(truth: Truth, row: TruthRow): string | undefined {
  if (truth.layout === 'wow') return row.name;
  if (row.content().length === 0) return undefined;
  return row.locale === '-' ? row.name : `${row.locale.toLowerCase()}/${row.name}`;
}

/** What an extraction said it could not do. */
export interface Failed {
  name: string;
  code: string;
  message: string;
}

/** What is wrong with what was extracted to `folder`: a line each, none when every file is right and every locked one named. */
export function wrongFiles(expected: readonly Expected[], folder: string, failed: readonly Failed[]): string[] {
  return expected.flatMap(({ query, paths, lockedBy, content }) => {
    const path = paths.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (lockedBy === undefined) {
      if (path === undefined) return [`${query}: not extracted`];
      return readFileSync(path).equals(content()) ? [] : [`${query}: wrong bytes`];
    }
    if (path !== undefined) return [`${query}: written though its key ${lockedBy} is missing`];
    const said = failed.find(({ name }) => name === query || paths.includes(name));
    const named = said?.code === 'E_KEY_MISSING' && said.message.toUpperCase().includes(lockedBy);
    return named ? [] : [`${query}: its missing key ${lockedBy} is not named, but ${JSON.stringify(said)}`];
  });
}

/**
 * Extracts every file of the newer build whose key is known, by encoding key.
 * @param root the tree, @param to folder that the files go to
 * @returns what is wrong, the first few
 */
export async function wrongByEkey(pakrat: Pakrat, root: string, to: string): Promise<string[]> {
  const expected = expectedFiles(readTruth(root, 'b'), 'ekey').filter(({ lockedBy }) => lockedBy === undefined);
  await pakrat.keys.import([join(root, 'truth/keys.txt')]);
  const { failed } = await pakrat.extract('wow', { names: expected.map(({ query }) => query), to });
  return wrongFiles(expected, to, failed).slice(0, 10);
}
