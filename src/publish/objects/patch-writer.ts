import { fromHex } from '../../core/bytes.ts';
import { md5Hex } from '../../core/hash.ts';
import { encodePatchConfig } from '../../formats/configs/patch-config.ts';
import { decodePatchManifest, encodePatchManifest, type PatchedFile } from '../../formats/patches/patch-manifest.ts';
import type { EncodedContent, Manifests } from '../encode/encode-content.ts';
import { ArchiveWriter, type CdnFolder, type DataObjects, putObject } from './archive-writer.ts';

/** What configs say of the patches of a build. */
export interface BuildPatches {
  manifest: { name: string; size: number };
  /** Name of the patch config. */
  config: string;
  /** The patches. */
  objects: DataObjects;
}

/** Puts patches into archives of their own. Needs `close`. */
export class PatchWriter {
  /** Patches that were put, and their bytes. */
  readonly added = { objects: 0, bytes: 0 };
  readonly #folder: CdnFolder;
  readonly #archives: ArchiveWriter;
  readonly #files = new Map<string, PatchedFile>();
  /** Those that were put: two contents may have one patch. */
  readonly #keys = new Set<string>();

  /** @param archiveBytes size that no archive exceeds */
  constructor(folder: CdnFolder, archiveBytes: number) {
    this.#folder = folder;
    this.#archives = new ArchiveWriter(folder, 'patch', archiveBytes);
  }

  /** Puts the patch from a content to another, unless there is one for the target, or fetching the target costs no more. */
  put(source: EncodedContent, { ckey, size, encodedSize }: EncodedContent, patch: Uint8Array): void {
    if (source.ckey === ckey || this.#files.has(ckey) || patch.length >= encodedSize) return;
    const key = md5Hex(patch);
    if (!this.#keys.has(key)) this.#archives.add(key, patch);
    this.#keys.add(key);
    this.added.objects += 1;
    this.added.bytes += patch.length;
    const from = { sourceEkey: fromHex(source.ekey), sourceSize: source.size };
    const patches = [{ ...from, patchEkey: fromHex(key), patchSize: patch.length, order: 0 }];
    this.#files.set(ckey, { targetCkey: fromHex(ckey), targetSize: size, patches });
  }

  /** Ends the archives and writes the patch manifest and config, step by step. Undefined when there is no patch. */
  *finish({ encoding, install, download, size }: Manifests): Generator<void, BuildPatches | undefined> {
    if (this.#files.size === 0) return undefined;
    const { ckey, ekey, ...sizes } = encoding;
    const bytes = encodePatchManifest({
      files: this.#files.values(),
      encoding: { ckey: fromHex(ckey), ekey: fromHex(ekey), ...sizes },
    });
    const name = decodePatchManifest(bytes).key;
    this.#put('patch', name, bytes);
    const entries = Object.entries({ encoding, install, download, size });
    const config = encodePatchConfig({
      patch: name,
      patchSize: bytes.length,
      entries: entries.map(([type, content]) => ({ type, ...content, patches: [] })),
    });
    this.#put('config', md5Hex(config), config);
    const manifest = { name, size: bytes.length };
    return { manifest, config: md5Hex(config), objects: yield* this.#archives.finish() };
  }

  /** Lets go of an archive that is not finished. */
  close(): void {
    this.#archives.close();
  }

  #put(kind: 'patch' | 'config', hash: string, bytes: Uint8Array): void {
    putObject(this.#folder.out, { cdnPath: this.#folder.cdnPath, kind, hash }, bytes);
  }
}
