import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where an encoded object lies in a CDN folder. */
export interface Place {
  /** Name of an archive; undefined for one that lies loose. */
  archive: string | undefined;
  offset: number;
  size: number;
}

const pageSize = 4096;
const footerSize = 28;

/** Finds the archived objects of a CDN folder by their ekeys: the indices are read by hand, so that truth does not hang on our decoder. */
export function findPlaces(cdn: string): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const path of readdirSync(join(cdn, 'data'), { recursive: true, encoding: 'utf8' })) {
    const archive = /\/(\w{32})\.index$/.exec(path)?.[1];
    if (archive === undefined) continue;
    const bytes = readFileSync(join(cdn, 'data', path));
    const footer = bytes.subarray(bytes.length - footerSize);
    const offsetBytes = footer[12]!;
    if (offsetBytes !== 4) continue;
    const count = footer.readUInt32LE(16);
    const perPage = Math.floor(pageSize / 24);
    for (let i = 0; i < count; i++) {
      const at = Math.floor(i / perPage) * pageSize + (i % perPage) * 24;
      const ekey = bytes.toString('hex', at, at + 16);
      places.set(ekey, { archive, size: bytes.readUInt32BE(at + 16), offset: bytes.readUInt32BE(at + 20) });
    }
  }
  return places;
}
