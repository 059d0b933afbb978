import { join } from 'node:path';
import { fromHex, isKeyAt, u32At, uintAt } from '../../core/bytes.ts';
import { md5, md5Hex } from '../../core/hash.ts';
import { KeyNumbers } from '../../core/tables/key-numbers.ts';
import { ByteWriter } from '../../core/writer.ts';
import { DurableFile } from '../../files/durable.ts';
import { GrowingFile } from '../../files/growing-file.ts';
import { SortedRuns } from '../../files/sorted/sorted-runs.ts';
import { encodePatchConfig } from '../../formats/configs/patch-config.ts';
import {
  encodePatchBlocks,
  encodePatchManifestHead,
  type PatchBlockFacts,
  type PatchedFile,
} from '../../formats/patches/patch-manifest.ts';
import { objectPath } from '../../store/layout.ts';
import type { EncodedContent, Manifests } from '../encode/encode-content.ts';
import { ArchiveWriter, type CdnFolder, type DataObjects, putObject } from './archive-writer.ts';

/*
 * A row on disk: target ckey [16], ekey of the patch [16], source ekey [16], target size u40, source size u40, size of the patch u32.
 */
const keySize = 16;
const [patchAt, sourceAt, sizesAt] = [keySize, 2 * keySize, 3 * keySize];
const sizeBytes = 5;
const rowSize = sizesAt + 2 * sizeBytes + 4;

/** What configs say of the patches of a build. */
export interface BuildPatches {
  manifest: { name: string; size: number };
  /** Name of the patch config. */
  config: string;
  /** The patches. */
  objects: DataObjects;
}

/** Puts patches into archives of their own. What is known of them is on disk, for as many files may have changed as there are. Needs `close`. */
export class PatchWriter {
  /** Patches that were put, and their bytes. */
  readonly added = { objects: 0, bytes: 0 };
  readonly #folder: CdnFolder;
  readonly #archives: ArchiveWriter;
  readonly #rows: GrowingFile;
  readonly #byTarget = new KeyNumbers();
  readonly #byPatch = new KeyNumbers();

  /** @param archiveBytes size that no archive exceeds */
  constructor(folder: CdnFolder, archiveBytes: number) {
    this.#folder = folder;
    this.#archives = new ArchiveWriter(folder, 'patch', archiveBytes);
    this.#rows = new GrowingFile(folder.out);
  }

  /**
   * Puts the patch from a content to another, unless there is one for the target, or fetching the target costs no more.
   * @throws E_STORE_FULL, E_STORE
   */
  put(source: EncodedContent, { ckey, size, encodedSize }: EncodedContent, patch: Uint8Array): void {
    if (source.ckey === ckey || patch.length >= encodedSize || this.#has(this.#byTarget, ckey, 0)) return;
    const ekey = md5Hex(patch);
    // Two contents may have one patch.
    if (!this.#has(this.#byPatch, ekey, patchAt)) {
      this.#archives.add(ekey, patch);
      this.#byPatch.add(fromHex(ekey), this.added.objects);
    }
    this.#byTarget.add(fromHex(ckey), this.added.objects);
    this.added.objects += 1;
    this.added.bytes += patch.length;
    const row = new ByteWriter(rowSize).key(ckey).key(ekey).key(source.ekey).uint(size, sizeBytes);
    this.#rows.append(row.uint(source.size, sizeBytes).u32(patch.length).written);
  }

  /** @param at where in a row the key lies */
  #has(numbers: KeyNumbers, key: string, at: number): boolean {
    const isIt = (row: number): boolean => isKeyAt(this.#rows.read(row * rowSize, rowSize), at, key);
    return numbers.find(fromHex(key), isIt) >= 0;
  }

  /** Ends the archives and writes the patch manifest and config, step by step. Undefined when there is no patch. */
  *finish({ encoding, install, download, size }: Manifests): Generator<void, BuildPatches | undefined> {
    if (this.added.objects === 0) return undefined;
    const manifest = yield* this.#writeManifest(encoding);
    const entries = Object.entries({ encoding, install, download, size });
    const config = encodePatchConfig({
      patch: manifest.name,
      patchSize: manifest.size,
      entries: entries.map(([type, content]) => ({ type, ...content, patches: [] })),
    });
    const name = md5Hex(config);
    putObject(this.#folder.out, { cdnPath: this.#folder.cdnPath, kind: 'config', hash: name }, config);
    return { manifest, config: name, objects: yield* this.#archives.finish() };
  }

  /** The name and size of the manifest. Its blocks wait on disk, for what stands before them has their hashes. */
  *#writeManifest({ ckey, ekey, ...sizes }: Manifests['encoding']): Generator<void, BuildPatches['manifest']> {
    const { out, cdnPath } = this.#folder;
    const blocks = new GrowingFile(out);
    const file = new DurableFile(out);
    try {
      const facts: PatchBlockFacts[] = [];
      for (const { lastCkey, bytes } of encodePatchBlocks(this.#sorted())) {
        yield;
        facts.push({ lastCkey: lastCkey.slice(), hash: md5(bytes), size: bytes.length });
        blocks.append(bytes);
      }
      const head = encodePatchManifestHead({ encoding: { ckey: fromHex(ckey), ekey: fromHex(ekey), ...sizes } }, facts);
      const name = md5Hex(head);
      file.append(head);
      for (const piece of blocks.pieces()) {
        yield;
        file.append(piece);
      }
      file.finish(join(out, objectPath({ cdnPath, kind: 'patch', hash: name })));
      return { name, size: file.size };
    } finally {
      blocks.close();
      file.close();
    }
  }

  /** The patched files, by their ckeys. */
  *#sorted(): Generator<PatchedFile> {
    const runs = new SortedRuns(this.#folder.out, { stride: rowSize, keySize });
    try {
      for (const piece of this.#rows.pieces(rowSize)) {
        for (let at = 0; at < piece.length; at += rowSize) runs.add().set(piece.subarray(at, at + rowSize));
      }
      for (const row of runs.rows()) yield patchedFile(row);
    } finally {
      runs.close();
    }
  }

  /** Lets go of an archive that is not finished, and forgets everything. */
  close(): void {
    this.#archives.close();
    this.#rows.close();
    this.#byTarget.giveBack();
    this.#byPatch.giveBack();
  }
}

function patchedFile(row: Uint8Array): PatchedFile {
  const patch = {
    sourceEkey: row.subarray(sourceAt, sizesAt),
    sourceSize: uintAt(row, sizesAt + sizeBytes, sizeBytes),
    patchEkey: row.subarray(patchAt, sourceAt),
    patchSize: u32At(row, sizesAt + 2 * sizeBytes),
    order: 0,
  };
  return { targetCkey: row.subarray(0, keySize), targetSize: uintAt(row, sizesAt, sizeBytes), patches: [patch] };
}
