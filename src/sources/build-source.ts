import type { Build } from '../builds/build.ts';
import { type BuildFile, findFile, listFiles, placesOf, readFile, resolveParts, sizeOf } from '../builds/files.ts';
import type { EntryPlace } from '../builds/objects.ts';
import { isPakratError } from '../core/errors.ts';
import { localeNames } from '../formats/locale.ts';
import type { Source, SourceEntry } from './source.ts';

const allLocales = 0xffffffff;
/** So many files are looked up together. */
const batchSize = 16_384;

/** A file of a build, as listed. */
export interface BuildEntry extends SourceEntry {
  readonly file: BuildFile;
}

/** A build as a source: its files in the variants for one locale. Closing it closes the build. */
export function buildSource(build: Build, options: { locale: string }): Source<BuildEntry> {
  const { identity } = build;
  const toEntry = (file: BuildFile): BuildEntry => entryOf(build, file);
  return {
    kind: 'build',
    label: `${identity.product} ${identity.name}`,
    async *list(matches) {
      let batch: BuildFile[] = [];
      for await (const file of listFiles(build, { ...options, matches })) {
        batch.push(file);
        if (batch.length < batchSize) continue;
        yield* entriesOf(build, batch);
        batch = [];
      }
      yield* entriesOf(build, batch);
    },
    get: async (name) => toEntry(await findFile(build, name, options)),
    async prepare(entries) {
      const places = entries.flatMap(({ file }) => firstPlaces(build, file));
      try {
        await build.objects.entries(places);
      } catch (error) {
        // One that cannot be had must not keep the others back: each says so itself when it is read.
        if (!isPakratError(error) || !['E_NOT_FOUND', 'E_NETWORK_EXHAUSTED', 'E_OFFLINE'].includes(error.code))
          throw error;
      }
    },
    read: ({ file }) => readFile(build, file),
    info: () => buildInfo(build),
    close: async () => build.close(),
  };
}

/** Entries of many files. Looked up in the order of their ckeys, so that each page of the encoding file is read once for all of them. */
function entriesOf(build: Build, files: readonly BuildFile[]): BuildEntry[] {
  const ckeyOf = (i: number): string => files[i]!.parts[0]?.ckey ?? '';
  const order = files.map((_, i) => i).sort((a, b) => (ckeyOf(a) < ckeyOf(b) ? -1 : 1));
  const entries = new Array<BuildEntry>(files.length);
  for (const i of order) entries[i] = entryOf(build, files[i]!);
  return entries;
}

function entryOf(build: Build, file: BuildFile): BuildEntry {
  const parts = resolveParts(build, file);
  const only = parts.length === 1 ? parts[0] : undefined;
  const ckey = only?.ckey;
  const { localeFlags = allLocales } = file;
  const locale = localeFlags === allLocales ? undefined : localeNames(localeFlags).join(' ');
  return {
    name: file.name,
    size: sizeOf(parts),
    md5: only !== undefined && only.size === only.contentSize ? ckey : undefined,
    file,
    facts: { fileDataId: file.fileDataId, ckey, ekey: only?.ekeys[0], locale },
  };
}

function firstPlaces(build: Build, file: BuildFile): EntryPlace[] {
  return resolveParts(build, file).flatMap((part) => {
    try {
      return placesOf(build, file, part).slice(0, 1);
    } catch {
      return [];
    }
  });
}

async function buildInfo(build: Build): Promise<Record<string, unknown>> {
  const { product, name, buildId, buildConfig, cdnConfig, region, cdnPath, hosts } = build.identity;
  const root = await build.root();
  const install = await build.install();
  const download = await build.download();
  return {
    ...{
      kind: 'build',
      product,
      name,
      buildName: build.config.name,
      buildId,
      region,
      buildConfig,
      cdnConfig,
      cdnPath,
      hosts,
    },
    archives: build.cdnConfig.archives.length,
    archiveEntries: build.group?.layout.count ?? 0,
    looseFiles: build.fileIndex?.count ?? 0,
    root: root.kind,
    ...(root.notes === undefined ? {} : { notes: root.notes }),
    installFiles: install?.entries.length ?? 0,
    downloadEntries: download?.count ?? 0,
    tags: download?.tags.map((tag) => tag.name) ?? [],
    especs: build.encoding.layout.especSize,
  };
}
