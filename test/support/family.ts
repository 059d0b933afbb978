import { createHash } from 'node:crypto';
import { type PublishedBuild, publishBuild } from '../../src/publish/publish-build.ts';

/** Bytes that no compression makes smaller, the same for the same seed. */
export function noise(seed: string, size: number): Buffer {
  const pieces: Buffer[] = [];
  for (let i = 0; i * 64 < size; i++) pieces.push(createHash('sha512').update(`${seed} ${i}`).digest());
  return Buffer.concat(pieces).subarray(0, size);
}

/** A file of a build: what it has depends on the seed alone. */
export interface FamilyFile {
  name: string;
  fileDataId: number;
  bytes: Buffer;
}

/**
 * The files of the builds of a family: each has `count` files of some kilobytes, of which every build changes some of the one before.
 * @param version counts from 0
 */
export function familyFiles(version: number, { count = 40, changed = 8, bytes = 6000 } = {}): FamilyFile[] {
  return Array.from({ length: count }, (_, i) => {
    // The version in which this file changed last.
    let last = 0;
    for (let v = 1; v <= version; v++) if ((i * 7 + v * 3) % count < changed) last = v;
    const size = bytes + ((i * 997) % bytes);
    return { name: `data/file${i}.bin`, fileDataId: 1000 + i, bytes: noise(`${i} ${last}`, size) };
  });
}

/** Publishes one build of a family. */
export function publishFamily(
  version: number,
  place: { out: string; port: number; product?: string; files?: readonly FamilyFile[] },
): Promise<PublishedBuild> {
  const { out, port, product = 'game', files = familyFiles(version) } = place;
  return publishBuild({
    product,
    version: `1.${version}`,
    buildId: 100 + version,
    out,
    hosts: [`127.0.0.1:${port}`],
    regions: ['us'],
    archiveBytes: 64 * 1024,
    files: files.map(({ name, fileDataId, bytes }) => ({ name, fileDataId, read: () => bytes })),
  });
}
