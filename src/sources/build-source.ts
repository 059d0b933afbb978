import type { Build } from '../builds/build.ts';
import { encodedFiles } from '../builds/encoded-files.ts';
import {
  type BuildFile,
  findContentsOf,
  findFile,
  firstPlaceOf,
  type KnownParts,
  listFiles,
  type ResolvedPart,
  resolveParts,
  sizeOf,
} from '../builds/files.ts';
import { missingKeys } from '../builds/keys/missing-keys.ts';
import type { EntryPlace } from '../builds/objects.ts';
import { readFile, readFileRange } from '../builds/read-file.ts';
import { isPakratError, isUnavailable, resultUnless, valueUnless } from '../core/errors.ts';
import { localeNames } from '../formats/roots/locale.ts';
import { damagedFile } from '../store/derived/derived-file.ts';
import type { ListHints, Source, SourceEntry } from './source.ts';

const allLocales = 0xffffffff;

/** A file of a build, as listed. */
export interface BuildEntry extends SourceEntry {
  readonly file: BuildFile;
  /** Its parts with what the encoding file knows of them. */
  parts(): ResolvedPart[];
  /** The first place of each part, once it was prepared; fewer than parts where one has none. */
  places: readonly EntryPlace[];
}

/** A build as a source. */
export interface BuildSource extends Source<BuildEntry> {
  readonly build: Build;
  /** Whose variants it gives. */
  readonly locale: string;
}

/** True for a source that is a build. */
export function isBuildSource(source: Source): source is BuildSource {
  return 'build' in source;
}

interface BuildSourceOptions {
  locale: string;
  /** A remark on a content that has these encodings. */
  noteOf?: ((ekeys: readonly string[]) => string | undefined) | undefined;
  /** Whether all of an entry is held; absent where all that there is is held. */
  hasEntry?: ((place: EntryPlace) => boolean) | undefined;
}

/** A build as a source: its files in the variants for one locale. Closing it closes the build. */
export function buildSource(build: Build, options: BuildSourceOptions): BuildSource {
  const { identity } = build;
  const { locale, noteOf, hasEntry } = options;
  const rowOf = (file: BuildFile, known: KnownParts): BuildEntry => new Row(build, file, known, noteOf);
  async function* listBatches(
    matches: (name: string) => boolean,
    { needed, folderOf, namesOnly }: ListHints = {},
  ): AsyncGenerator<BuildEntry[]> {
    const batchSize = namesOnly ? namesAtOnce : undefined;
    for await (const batch of listFiles(build, { locale, matches, needed, folderOf, batchSize })) {
      const find = namesOnly ? undefined : await findContentsOf(build, batch);
      for (let first = 0; batch.length > 0; first += rowsAtOnce) {
        // Those that are handed on are gone as soon as whoever has them is done with them.
        const files = batch.splice(0, rowsAtOnce);
        yield files.map((file, i) => (find === undefined ? nameRow(build, file) : rowOf(file, find(first + i))));
      }
    }
  }
  return {
    build,
    locale,
    kind: 'build',
    isInNameOrder: true,
    label: `${identity.product} ${identity.name}`,
    async *list(matches, hints) {
      for await (const batch of listBatches(matches, hints)) for (const entry of batch) yield entry;
    },
    listBatches,
    async get(name) {
      const file = await findFile(build, name, options);
      return rowOf(file, (await findContentsOf(build, [file]))(0));
    },
    async prepare(entries) {
      await build.lookUp(() => {
        for (const entry of entries) entry.places = firstPlaces(build, entry);
      });
      const places = entries.flatMap((entry) => entry.places);
      // One that cannot be had must not keep the others back: each says so itself when it is read.
      await valueUnless(isUnavailable, build.objects.entries(places));
    },
    read: ({ file }, signal) => readFile(build, file, signal),
    readRange: ({ file }, offset, size, signal) => readFileRange(build, file, { offset, size }, signal),
    readsWhole: true,
    ...(hasEntry && { isHeld: ({ file }) => isHeld(build, file, hasEntry) }),
    forThreads: {
      find: async (entries) => encodedFiles(build.objects, entries),
      keys: build.keys,
    },
    missingKeys: (signal) => missingKeys(build, { ...options, signal }),
    info: () => buildInfo(build),
    close: async () => build.close(),
  };
}

/** A file of which only the name is asked for. */
function nameRow(build: Build, file: BuildFile): BuildEntry {
  const parts = (): ResolvedPart[] => resolveParts(build, file);
  return { name: file.name, file, size: undefined, facts: noFacts, parts, places: noPlaces };
}

/** Few enough to be gone before the runtime takes them for lasting objects. */
const namesAtOnce = 512;
/** Rows with what is known of them, some kilobytes each: many more are looked up at once. */
const rowsAtOnce = 2048;
const noFacts: BuildEntry['facts'] = {};
const noPlaces: BuildEntry['places'] = [];

/** A file in a list that may have millions: facts that only some ask for are made when they are asked for. */
class Row implements BuildEntry {
  readonly file: BuildFile;
  readonly #build: Build;
  readonly #known: KnownParts;
  #parts: ResolvedPart[] | undefined;
  readonly size: number | undefined;
  readonly note: string | undefined;
  places: readonly EntryPlace[] = noPlaces;

  constructor(build: Build, file: BuildFile, known: KnownParts, noteOf: BuildSourceOptions['noteOf']) {
    this.#build = build;
    this.file = file;
    this.#known = known;
    const [only, another] = file.parts;
    this.size =
      another === undefined && only !== undefined
        ? (only.size ?? known[0]?.size)
        : sizeOf(file.parts.map(({ size }, i) => ({ size: size ?? known[i]?.size })));
    this.note =
      noteOf &&
      this.parts()
        .map(({ ekeys }) => noteOf(ekeys))
        .find((text) => text !== undefined);
  }
  get name(): string {
    return this.file.name;
  }
  parts(): ResolvedPart[] {
    this.#parts ??= resolveParts(this.#build, this.file, this.#known);
    return this.#parts;
  }
  get md5(): string | undefined {
    // Without its encodings, which most who ask do not want.
    const [only, another] = this.file.parts;
    const size = this.#known[0]?.size;
    return another === undefined && (only?.size ?? size) === size ? only?.ckey : undefined;
  }
  get facts(): Readonly<Record<string, unknown>> {
    const { fileDataId, localeFlags = allLocales } = this.file;
    const [only, another] = this.parts();
    const whole = another === undefined ? only : undefined;
    const locale = localeFlags === allLocales ? undefined : localeNames(localeFlags).join(' ');
    return { fileDataId, ckey: whole?.ckey, ekey: whole?.ekeys[0], locale, note: this.note };
  }
}

/** True when each part of a file is held in one of its encodings. */
function isHeld(build: Build, file: BuildFile, hasEntry: (place: EntryPlace) => boolean): boolean {
  return resolveParts(build, file).every(({ ekeys, encodedSize }) =>
    ekeys.some((ekey) => {
      const place = build.locate(ekey, encodedSize);
      return place !== undefined && hasEntry(place);
    }),
  );
}

function firstPlaces(build: Build, entry: BuildEntry): EntryPlace[] {
  const isNoDerived = (error: unknown): boolean => isPakratError(error) && damagedFile(error) === undefined;
  const places = resultUnless(isNoDerived, () => entry.parts().map((part) => firstPlaceOf(build, entry.file, part)));
  return places ?? [];
}

async function buildInfo(build: Build): Promise<Record<string, unknown>> {
  const { product, name, buildId, buildConfig, cdnConfig, region, cdnPath, hosts } = build.identity;
  const own = hosts.filter((host) => !host.fallback);
  const fallback = hosts.filter((host) => host.fallback);
  const root = await build.root();
  const install = await build.install();
  const download = await build.download();
  return {
    kind: 'build',
    product,
    name,
    buildName: build.config.name,
    buildId,
    region,
    buildConfig,
    cdnConfig,
    cdnPath,
    hosts: own.map(({ base }) => base),
    ...(fallback.length > 0 && { fallbackHosts: fallback.map(({ base }) => base) }),
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
