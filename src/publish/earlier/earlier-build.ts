import { breathe } from '../../core/breathe.ts';
import { largeBytes } from '../../core/tables/large-bytes.ts';
import { GrowingFile } from '../../files/growing-file.ts';
import { decodeBlte } from '../../formats/blte/decode.ts';
import { type ReadRange, readBlte } from '../../formats/blte/read.ts';
import { type BuildConfig, decodeBuildConfig, type ManifestKeys } from '../../formats/configs/build-config.ts';
import { decodeCdnConfig } from '../../formats/configs/cdn-config.ts';
import { decodeTvfs } from '../../formats/roots/tvfs/decode.ts';
import type { TvfsFile } from '../../formats/roots/tvfs/layout.ts';
import type { EncodedContent } from '../encode/encode-content.ts';
import type { CdnFolder } from '../objects/archive-writer.ts';
import { ContentsByName } from './contents-by-name.ts';
import { EarlierEncoding } from './earlier-encoding.ts';
import { FolderObjects, readConfig, readPlace } from './earlier-objects.ts';
import type { LiveBuild } from './live-build.ts';

/**
 * The build that a further one shares objects with, and is patched from. It is read as any client reads it: nothing is believed that hashes to something else.
 * Needs `close`.
 */
export class EarlierBuild {
  readonly config: BuildConfig;
  /** The builds that its CDN config names, newest first. */
  readonly builds: readonly string[];
  readonly objects: FolderObjects;
  readonly #decoded: DecodedObjects;
  readonly #encoding: EarlierEncoding;
  readonly #plainEspecs: readonly string[];
  #names: Promise<ContentsByName> | undefined;

  private constructor(
    found: Pick<EarlierBuild, 'config' | 'builds' | 'objects'>,
    decoded: DecodedObjects,
    encoding: EarlierEncoding,
  ) {
    this.config = found.config;
    this.builds = found.builds;
    this.objects = found.objects;
    this.#decoded = decoded;
    this.#encoding = encoding;
    this.#plainEspecs = encoding.especs.filter((espec) => !espec.includes('e:'));
  }

  /** @throws E_FORMAT…, E_INTEGRITY for a config, index or manifest that is damaged; E_NOT_FOUND for one that is not there; E_STORE_FULL, E_STORE, E_ABORTED */
  static async open(folder: CdnFolder, live: LiveBuild, signal?: AbortSignal): Promise<EarlierBuild> {
    const cdnConfig = decodeCdnConfig(readConfig(folder, live.cdnConfig));
    const objects = await FolderObjects.open(folder, cdnConfig, signal);
    const config = decodeBuildConfig(readConfig(folder, live.buildConfig));
    const decoded = { objects, temporary: folder.out, signal };
    const encoding = EarlierEncoding.open(await decodeOnDisk(decoded, config.encoding));
    return new EarlierBuild({ config, builds: cdnConfig.builds, objects }, decoded, encoding);
  }

  /** A content in the encoding that these specs ask for; undefined when the build has none such. */
  find(ckey: string, especs: readonly string[]): EncodedContent | undefined {
    return this.#encoding.find(ckey, especs);
  }

  /** The content of a name, spelt as it is; undefined when there is none, or the build keeps its names otherwise. @throws as {@link open} */
  async contentOf(name: string): Promise<EncodedContent | undefined> {
    const { vfsRoot } = this.config;
    if (vfsRoot === undefined) return undefined;
    this.#names ??= contentsByName(this.#decoded, vfsRoot);
    const ckey = (await this.#names).find(name);
    return ckey === undefined ? undefined : this.findPlain(ckey);
  }

  /** A content in any encoding that needs no key. */
  findPlain(ckey: string): EncodedContent | undefined {
    return this.find(ckey, this.#plainEspecs);
  }

  /** The decoded bytes of a content that is not encrypted. @throws as {@link open} */
  read({ ekey, ckey }: Pick<EncodedContent, 'ekey' | 'ckey'>): Uint8Array {
    return decodeBlte(readPlace(this.objects.placeOf(ekey)), { ekey, ckey });
  }

  /** Forgets everything. */
  close(): void {
    this.#encoding.close();
    this.#names?.then(
      (names) => names.close(),
      () => {},
    );
  }
}

/** What it takes to decode objects of the build to temporary files. */
interface DecodedObjects {
  objects: FolderObjects;
  /** A folder. */
  temporary: string;
  signal: AbortSignal | undefined;
}

/** Decodes an object that may be larger than memory should hold. The file needs `close`. @throws as {@link EarlierBuild.open} */
async function decodeOnDisk(
  { objects, temporary, signal }: DecodedObjects,
  { ckey, ekey = '' }: ManifestKeys,
): Promise<GrowingFile> {
  const { path, offset, size } = objects.placeOf(ekey);
  const read: ReadRange = async (at, length) => readPlace({ path, offset: offset + at, size: length });
  const file = new GrowingFile(temporary);
  try {
    for await (const piece of readBlte(read, size, { ekey, ckey })) {
      file.append(piece);
      await breathe(signal);
    }
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

/** The ckeys of the names of a TVFS that have one content. */
async function contentsByName(decoded: DecodedObjects, vfsRoot: ManifestKeys): Promise<ContentsByName> {
  const file = await decodeOnDisk(decoded, vfsRoot);
  try {
    const read = (offset: number, size: number, memory: Uint8Array = largeBytes(size)): Uint8Array => {
      const bytes = memory.subarray(0, size);
      file.readInto(bytes, offset);
      return bytes;
    };
    const { files } = decodeTvfs({ size: file.size, read });
    return await ContentsByName.of(namedContents(files), decoded.temporary, decoded.signal);
  } finally {
    file.close();
  }
}

function* namedContents(files: Iterable<TvfsFile>): Generator<{ name: string; ckey: Uint8Array }> {
  for (const { path, spans } of files) {
    const [only] = spans;
    if (only?.ckey !== undefined && spans.length === 1) yield { name: path, ckey: only.ckey };
  }
}
