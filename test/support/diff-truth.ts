import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/*
 * How the two builds of a generated tree differ, from the generator's own tables, its configs and the sizes of its objects alone.
 */

/** A file of a build as a person of one locale gets it. */
export interface TruthFile {
  name: string;
  fileDataId: number | undefined;
  size: number;
  ckey: string;
}

type Build = 'a' | 'b';
type Cells = Record<string, string>;

interface Summary {
  configs: Record<'build' | 'cdn', Record<Build, string>>;
  options: { layout: 'wow' | 'tvfs' | 'text'; spans: number };
  build_a: { install: [string, string, number, string][]; root: string[] };
  build_b: Summary['build_a'];
}

function readSummary(root: string): Summary {
  return JSON.parse(readFileSync(join(root, 'truth/summary.json'), 'utf8')) as Summary;
}

function rowsOf(root: string, build: Build): Cells[] {
  const lines = readFileSync(join(root, `truth/build-${build}.tsv`), 'utf8')
    .trimEnd()
    .split('\n');
  const [head, ...rows] = lines.map((line) => line.split('\t'));
  return rows.map((cells) => Object.fromEntries(head!.map((column, i) => [column, cells[i]!])));
}

/** The files of a build, root and install manifest. `named`: with the names of the listfile, else ids stand in for them. */
export function truthFiles(root: string, build: Build, { locale = 'enUS', named = true } = {}): TruthFile[] {
  const { options, ...summary } = readSummary(root);
  const isWow = options.layout === 'wow';
  const ofLocale = rowsOf(root, build).filter((row) =>
    isWow ? row.locale === '-' || row.locale === locale : !row.locale!.startsWith('#'),
  );
  const files = ofLocale.flatMap((row): TruthFile[] => {
    const { name, fdid, size, ckey } = row as Record<'name' | 'fdid' | 'size' | 'ckey', string>;
    const file = { size: Number(size), ckey };
    if (isWow) return [{ ...file, name: named ? name : `fdid:${fdid}`, fileDataId: Number(fdid) }];
    // The other kinds have locales as folders, and a TVFS has no empty files.
    if (options.layout === 'tvfs' && file.size === 0) return [];
    const locales = options.layout === 'tvfs' ? row.locale!.toLowerCase() : row.locale!;
    const folder = locales === '-' ? '' : `${locales}/`;
    return [{ ...file, name: folder + name, fileDataId: undefined }];
  });
  const installed = summary[`build_${build}`].install.map(([path, ckey, size]) => ({
    name: path.replaceAll('\\', '/'),
    fileDataId: undefined,
    size,
    ckey,
  }));
  return [...files, ...installed];
}

/** What `diff --json` is to say of two lists of files, in the order of names. */
export function truthDiff(before: readonly TruthFile[], after: readonly TruthFile[]): Record<string, unknown[]> {
  const key = ({ fileDataId, name }: TruthFile): string => (fileDataId === undefined ? name : String(fileDataId));
  const [left, right] = [before, after].map((files) => new Map(files.map((file) => [key(file), file])));
  const idOf = ({ fileDataId }: TruthFile): object => (fileDataId === undefined ? {} : { fileDataId });
  const whole = (file: TruthFile): object => ({
    name: file.name,
    ...idOf(file),
    size: file.size,
    ckey: file.ckey,
  });
  const content = ({ size, ckey }: TruthFile): object => ({ size, ckey });
  const sorted = (files: TruthFile[]): TruthFile[] =>
    files.sort((a, b) => Number(isId(a)) - Number(isId(b)) || (isId(a) ? a.fileDataId! - b.fileDataId! : byName(a, b)));
  const missing = (one: Map<string, TruthFile>, other: Map<string, TruthFile>): object[] =>
    sorted([...one.values()].filter((file) => !other.has(key(file)))).map(whole);
  const changed = [...right!.values()].filter((file) => (left!.get(key(file)) ?? file).ckey !== file.ckey);
  return {
    added: missing(right!, left!),
    removed: missing(left!, right!),
    changed: sorted(changed).map((file) => ({
      name: file.name,
      ...idOf(file),
      by: 'md5',
      before: content(left!.get(key(file))!),
      after: content(file),
    })),
    renamed: [],
  };
}

function isId({ name }: TruthFile): boolean {
  return name.startsWith('fdid:');
}

function byName(a: TruthFile, b: TruthFile): number {
  return a.name < b.name ? -1 : 1;
}

/**
 * Encoded entries that build B has and build A has not: those of its archives that are new with it, which hold nothing else, its new loose
 * files, and its manifests, which are loose, too.
 */
export function truthFetch(root: string): { entries: number; bytes: number } {
  const { configs, ...summary } = readSummary(root);
  const objects = (build: Build): Map<string, { entries: number; bytes: number }> => {
    const [config, cdn] = [configs.build[build], configs.cdn[build]];
    const found = new Map<string, { entries: number; bytes: number }>();
    for (const archive of configWords(root, cdn, 'archives')) {
      const index = readFileSync(join(root, 'www/tpr/wow/data', folders(archive), `${archive}.index`));
      // The count of entries is in the footer, before the 8 bytes of its hash.
      found.set(archive, { entries: index.readUInt32LE(index.length - 12), bytes: sizeOf(root, 'data', archive) });
    }
    const loose = rowsOf(root, build).filter(({ archive }) => archive === 'loose');
    const manifests = ['encoding', 'install', 'download', 'size'].map((name) => configWords(root, config, name)[1]!);
    const rootEkey = summary[`build_${build}`].root[1]!;
    for (const ekey of [...loose.flatMap(({ ekeys }) => ekeys!.split(',')), ...manifests, rootEkey])
      found.set(ekey, { entries: 1, bytes: sizeOf(root, 'data', ekey) });
    return found;
  };
  const had = objects('a');
  const sum = { entries: 0, bytes: 0 };
  for (const [name, { entries, bytes }] of objects('b')) {
    if (had.has(name)) continue;
    sum.entries += entries;
    sum.bytes += bytes;
  }
  return sum;
}

function folders(hash: string): string {
  return `${hash.slice(0, 2)}/${hash.slice(2, 4)}`;
}

function sizeOf(root: string, kind: string, hash: string): number {
  return statSync(join(root, 'www/tpr/wow', kind, folders(hash), hash)).size;
}

function configWords(root: string, hash: string, name: string): string[] {
  const text = readFileSync(join(root, 'www/tpr/wow/config', folders(hash), hash), 'utf8');
  return new RegExp(`^${name} = (.*)$`, 'm').exec(text)?.[1]?.split(' ') ?? [];
}
