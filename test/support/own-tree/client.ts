import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeBuildInfo } from '../../../src/formats/local/build-info.ts';
import { encodeLocalHeader, localHeaderSize } from '../../../src/formats/local/local-header.ts';
import { bucketOf, encodeLocalIndex, type LocalEntry } from '../../../src/formats/local/local-index.ts';
import type { TreeBuild } from './build.ts';
import { findPlaces } from './places.ts';
import { writeInto } from './services.ts';

/** What an installed client is told of its build. */
export interface ClientFacts {
  build: TreeBuild;
  buildConfig: string;
  cdnConfig: string;
  keyRing: string;
  version: string;
  host: string;
  /** Size that no data file exceeds. */
  segment: number;
}

const folders = (hash: string): string => join(hash.slice(0, 2), hash.slice(2, 4), hash);

/** Lays out an installed client of a build in `local/` of a tree: every content once, in its first encoding. */
export function writeClient(root: string, facts: ClientFacts): void {
  const cdn = join(root, 'www/tpr/wow');
  const local = join(root, 'local');
  for (const config of [facts.buildConfig, facts.cdnConfig])
    cpSync(join(cdn, 'config', folders(config)), join(local, 'Data/config', folders(config)));
  writeData(join(local, 'Data/data'), firstEncodings(facts.build), { cdn, segment: facts.segment });
  writeInto(join(local, 'Data/indices/.keep'), '');
  const { manifests } = facts.build;
  const row = { branch: 'us', active: true, buildKey: facts.buildConfig, cdnKey: facts.cdnConfig, product: 'wow' };
  const tags = 'Windows x86_64 US? enUS speech?:Windows x86_64 US? enUS text?';
  const further = { installKey: manifests.install.ekey, cdnPath: 'tpr/wow', hosts: [facts.host], tags };
  const { version, keyRing } = facts;
  writeInto(join(local, '.build.info'), encodeBuildInfo({ builds: [{ ...row, ...further, version, keyRing }] }));
}

function firstEncodings({ contents, manifests }: TreeBuild): string[] {
  const byCkey = new Map<string, string>();
  for (const { ckey, ekey } of contents) if (!byCkey.has(ckey)) byCkey.set(ckey, ekey);
  return [...byCkey.values(), manifests.encoding.ekey];
}

/** Writes the data files, an entry behind the other, and the sixteen index files. */
function writeData(folder: string, ekeys: readonly string[], { cdn, segment }: { cdn: string; segment: number }): void {
  const places = findPlaces(cdn);
  const archives = new Map<string, Buffer>();
  const buckets = Array.from({ length: 16 }, (): LocalEntry[] => []);
  const files: Buffer[][] = [[]];
  let offset = 0;
  for (const ekey of ekeys) {
    const { archive = ekey, offset: start, size } = places.get(ekey) ?? { offset: 0, size: undefined };
    const whole = archives.get(archive) ?? readFileSync(join(cdn, 'data', folders(archive)));
    archives.set(archive, whole);
    const bytes = whole.subarray(start, size === undefined ? undefined : start + size);
    const entrySize = localHeaderSize + bytes.length;
    if (offset > 0 && offset + entrySize > segment) {
      files.push([]);
      offset = 0;
    }
    const place = (files.length - 1) * 2 ** 30 + offset;
    files.at(-1)!.push(Buffer.from(encodeLocalHeader({ ekey, size: entrySize, flags: 0 }, place)), bytes);
    const key = Buffer.from(ekey.slice(0, 18), 'hex');
    buckets[bucketOf(key)]!.push({ key, archive: files.length - 1, offset, size: entrySize });
    offset += entrySize;
  }
  for (const [i, pieces] of files.entries())
    writeInto(join(folder, `data.${String(i).padStart(3, '0')}`), Buffer.concat(pieces));
  for (const [bucket, sorted] of buckets.entries())
    writeInto(
      join(folder, `${bucket.toString(16).padStart(2, '0')}00000001.idx`),
      encodeLocalIndex({ bucket, sorted }),
    );
}
