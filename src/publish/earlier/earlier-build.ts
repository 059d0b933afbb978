import { decodeBlte } from '../../formats/blte/decode.ts';
import { type ReadRange, readBlte } from '../../formats/blte/read.ts';
import { type BuildConfig, decodeBuildConfig } from '../../formats/configs/build-config.ts';
import { decodeCdnConfig } from '../../formats/configs/cdn-config.ts';
import { decodeTvfs } from '../../formats/roots/tvfs/decode.ts';
import type { EncodedContent } from '../encode/encode-content.ts';
import type { CdnFolder } from '../objects/archive-writer.ts';
import { ContentsByName } from './contents-by-name.ts';
import { EarlierEncoding } from './earlier-encoding.ts';
import { FolderObjects, readObject, readPlace } from './earlier-objects.ts';
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
  readonly #temporary: string;
  readonly #encoding: EarlierEncoding;
  readonly #plainEspecs: readonly string[];
  #names: ContentsByName | undefined;

  private constructor(
    { out }: CdnFolder,
    found: Pick<EarlierBuild, 'config' | 'builds' | 'objects'>,
    encoding: EarlierEncoding,
  ) {
    this.config = found.config;
    this.builds = found.builds;
    this.objects = found.objects;
    this.#temporary = out;
    this.#encoding = encoding;
    this.#plainEspecs = encoding.especs.filter((espec) => !espec.includes('e:'));
  }

  /** @throws E_FORMAT…, E_INTEGRITY for a config, index or manifest that is damaged; E_NOT_FOUND for one that is not there; E_STORE_FULL, E_STORE, E_ABORTED */
  static async open(folder: CdnFolder, live: LiveBuild, signal?: AbortSignal): Promise<EarlierBuild> {
    const cdnConfig = decodeCdnConfig(readObject(folder, { kind: 'config', hash: live.cdnConfig }));
    const objects = await FolderObjects.open(folder, cdnConfig, signal);
    const config = decodeBuildConfig(readObject(folder, { kind: 'config', hash: live.buildConfig }));
    const { ckey, ekey = '' } = config.encoding;
    const { path, offset, size } = objects.placeOf(ekey);
    const read: ReadRange = async (at, length) => readPlace({ path, offset: offset + at, size: length });
    const encoding = await EarlierEncoding.open(readBlte(read, size, { ekey, ckey }), folder.out, signal);
    return new EarlierBuild(folder, { config, builds: cdnConfig.builds, objects }, encoding);
  }

  /** A content in the encoding that these specs ask for; undefined when the build has none such. */
  find(ckey: string, especs: readonly string[]): EncodedContent | undefined {
    return this.#encoding.find(ckey, especs);
  }

  /** The content of a name, spelt as it is; undefined when there is none, or the build keeps its names otherwise. */
  contentOf(name: string): EncodedContent | undefined {
    this.#names ??= new ContentsByName(this.#namedContents(), this.#temporary);
    const ckey = this.#names.find(name);
    return ckey === undefined ? undefined : this.findPlain(ckey);
  }

  /** A content in any encoding that needs no key. */
  findPlain(ckey: string): EncodedContent | undefined {
    return this.find(ckey, this.#plainEspecs);
  }

  *#namedContents(): Generator<{ name: string; ckey: Uint8Array }> {
    const { vfsRoot } = this.config;
    if (vfsRoot?.ekey === undefined) return;
    for (const { path, spans } of decodeTvfs(this.read({ ekey: vfsRoot.ekey, ckey: vfsRoot.ckey })).files) {
      const [only] = spans;
      if (only?.ckey !== undefined && spans.length === 1) yield { name: path, ckey: only.ckey };
    }
  }

  /** The decoded bytes of a content that is not encrypted. @throws as {@link open} */
  read({ ekey, ckey }: Pick<EncodedContent, 'ekey' | 'ckey'>): Uint8Array {
    return decodeBlte(readPlace(this.objects.placeOf(ekey)), { ekey, ckey });
  }

  /** Forgets everything. */
  close(): void {
    this.#encoding.close();
    this.#names?.close();
  }
}
