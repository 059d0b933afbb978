import type { Build } from '../builds/build.ts';
import type { EntryPlace, Objects } from '../builds/objects.ts';
import { PakratError } from '../core/errors.ts';
import { type CdnConfig, decodeCdnConfig } from '../formats/configs/cdn-config.ts';
import type { LookupFolders } from '../store/layout.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';
import type { CheckedObject, CheckOptions } from './check-folder.ts';

/** A build that lies in a folder as it is: what it is opened with, and what the folder itself can say. Needs `close`. */
export interface FolderBuild {
  kind: 'casc' | 'cdn';
  path: string;
  identity: BuildIdentity;
  objects: Objects;
  /** The archives that are here, where they are not those that the identity names. */
  cdnConfig: CdnConfig | undefined;
  /** Puts manifests that lie in a form of their own where the build looks for decoded ones. */
  prepare?(folders: LookupFolders): void;
  /** False when none of these encodings is in the folder; absent where that takes long to say. */
  isHere?(ekeys: readonly string[]): boolean;
  /** Facts about the folder, as plain JSON. */
  info(build: Build): Promise<Record<string, unknown>>;
  /** Everything in the folder that can be checked, as it is checked. Absent where it takes the build to say what there is. */
  check?(options: CheckOptions): AsyncIterable<CheckedObject>;
  /** The same with an open build. */
  checkWith?(build: Build, signal: AbortSignal | undefined): AsyncIterable<CheckedObject>;
  /** Bytes that will be looked at, as far as that is known before. */
  checkBytes?(): number;
  /** Remarks for a reader. */
  notes: readonly string[];
  close(): void;
}

/** The part of an identity that a folder without a CDN behind it lacks. */
export const noCdn: Omit<BuildIdentity, 'product' | 'name' | 'buildConfig'> = {
  buildId: null,
  cdnConfig: '',
  productConfig: null,
  keyRing: null,
  region: '',
  cdnPath: '',
  configPath: '',
  hosts: [],
};

/** For a folder that has no archives as a CDN has them. */
export const noArchives: CdnConfig = decodeCdnConfig(new Uint8Array());

/** The place of an entry that is found by its key alone, for a folder that has no archives as a CDN has them. */
export function loosePlace(ekey: string, size: number, hash = ekey): EntryPlace {
  return { ekey, object: { cdnPath: '', kind: 'data', hash }, loose: true, offset: 0, size };
}

/** The error for an entry that the build has and the folder has not. */
export function notInstalled(ekey: string, why?: string): PakratError {
  const because = why === undefined ? '' : `: ${why}`;
  return new PakratError('E_NOT_FOUND', `entry ${ekey} is not installed${because}`, {
    hint: 'Only a part of the build is installed. `pakrat sync PRODUCT` brings the rest of it from a CDN.',
    data: { ekey },
  });
}

/** Counts how much of what a build is to have is here. */
export async function countHere(
  build: Build,
  isHere: (ekey: Uint8Array) => boolean,
): Promise<Record<string, { entries: number; bytes: number }>> {
  const wanted = { entries: 0, bytes: 0 };
  const present = { entries: 0, bytes: 0 };
  const download = await build.download();
  if (download === undefined) return { wanted, present };
  for (const { ekey, size } of download.entries()) {
    wanted.entries += 1;
    wanted.bytes += size;
    if (!isHere(ekey)) continue;
    present.entries += 1;
    present.bytes += size;
  }
  return { wanted, present };
}
