import { join } from 'node:path';
import type { EncodedContent } from '../../../src/publish/encode/encode-content.ts';
import type { TreeBuild, TreePlan } from './build.ts';
import { findPlaces } from './places.ts';
import { contentFlagsOf, type TreeRow, twin } from './roots.ts';
import { writeInto } from './services.ts';
import { tagTable } from './tags.ts';

/** The configs of a tree. */
export interface TreeConfigs {
  build: Record<'a' | 'b', string>;
  cdn: Record<'a' | 'b', string>;
  product_config: string;
  keyring: string;
}

/** All that is to be told of a tree. */
export interface TreeFacts {
  plan: TreePlan;
  builds: Record<'a' | 'b', TreeBuild>;
  configs: TreeConfigs;
}

/** Writes what is true of a tree, as its plan has it: the files of each build, the keys, the names, the tags. */
export function writeTruth(root: string, { plan, builds, configs }: TreeFacts): void {
  const { keys, files, options } = plan;
  const places = findPlaces(join(root, 'www/tpr/wow'));
  const cellsOf = (row: TreeRow): Record<string, string | number> => truthCells(row, plan, places);
  for (const [which, { rows }] of Object.entries(builds))
    writeInto(join(root, `truth/build-${which}.tsv`), table(rows.map(cellsOf)));
  const given = keys.length - options.withheld;
  const lines = keys.map(({ name, key }) => `${name} ${key}\n`.toUpperCase());
  writeInto(join(root, 'truth/keys.txt'), lines.slice(0, given).join(''));
  writeInto(join(root, 'truth/keys-withheld.txt'), lines.slice(given).join(''));
  writeInto(join(root, 'listfile.csv'), files.map(({ id, name }) => `${id};${name}\n`).join(''));
  writeInto(join(root, 'listfile.txt'), files.map(({ name }) => `${name}\n`).join(''));
  const classes = Object.fromEntries(files.map(({ id, tagClass }) => [id, tagClass]));
  writeInto(join(root, 'truth/tags.json'), JSON.stringify({ files: classes, tags: tagTable() }));
  const { seed, layout, spans } = options;
  const summary = {
    options: { seed, layout, spans },
    configs,
    build_a: summaryOf(builds.a),
    build_b: summaryOf(builds.b),
  };
  writeInto(join(root, 'truth/summary.json'), JSON.stringify(summary));
}

function truthCells(
  row: TreeRow,
  { keys }: TreePlan,
  places: ReturnType<typeof findPlaces>,
): Record<string, string | number> {
  const { file, locale, revision, encodings } = row;
  const [first] = encodings;
  const place = places.get(first.ekey);
  const flags = contentFlagsOf(row).toString(16);
  return {
    fdid: file.id,
    name: file.name,
    locale: locale || '-',
    cflags: `0x${flags}`,
    rev: revision,
    kind: file.kind,
    size1: file.size,
    size: first.size,
    ckey: first.ckey,
    ekeys: encodings.map(({ ekey }) => ekey).join(','),
    espec: first.espec,
    esize: first.encodedSize,
    archive: place?.archive ?? 'loose',
    offset: place?.offset ?? 0,
    keyname: file.key === undefined || locale === twin ? '-' : keys[file.key]!.name.toUpperCase(),
  };
}

function table(rows: readonly Record<string, string | number>[]): string {
  return [Object.keys(rows[0]!), ...rows.map(Object.values)].map((cells) => `${cells.join('\t')}\n`).join('');
}

function summaryOf({ manifests, install }: TreeBuild): Record<string, unknown> {
  const keysOf = ({ ckey, ekey, size }: EncodedContent): unknown[] => [ckey, ekey, size];
  const ofManifests = Object.entries(manifests).map(([name, content]) => [name, keysOf(content)] as const);
  const installed = install.map(({ path, tagClass, content }) => [path, content.ckey, content.size, tagClass]);
  return { ...Object.fromEntries(ofManifests), install: installed };
}
