import * as fs from 'node:fs';
import type { Build } from '../../builds/build.ts';
import { type EntryPlace, openHeld } from '../../builds/objects.ts';
import { equalBytes } from '../../core/bytes.ts';
import { codeOf } from '../../core/errors.ts';
import { groupBy } from '../../core/tables/group-by.ts';
import { readAt } from '../../files/read-at.ts';
import { decodeChunk } from '../../formats/blte/chunk.ts';
import { encodeChunk } from '../../formats/blte/encode.ts';
import { type Espec, printEspec } from '../../formats/blte/espec.ts';
import { chunkModes, defaultLevel } from '../../formats/blte/modes.ts';
import { type ReadRange, readBlteHeader } from '../../formats/blte/read.ts';

/*
 * An entry that is made from a patch counts only when it is encoded as the CDN has it, byte for byte, and that depends on the zlib that the
 * publisher used. Older entries are held: encoding a chunk of one again tells, before any patch is fetched, whether the zlib here makes
 * the same bytes.
 */

type ZlibSpec = Extract<Espec, { type: 'z' }>;

/** Entries that are looked at for each setting of zlib; one that agrees is enough. */
const mostTrials = 8;

/** Leaves out what is encoded with settings under which the zlib here differs from the publisher's in all entries tried. */
export async function withoutForeignZlib<Candidate extends { spec: Espec; source: EntryPlace }>(
  build: Build,
  candidates: readonly Candidate[],
): Promise<Candidate[]> {
  const groups = groupBy(candidates, ({ spec }) => {
    const part = zlibPart(spec);
    return part === undefined ? '' : printEspec(part);
  });
  const kept: Candidate[][] = [];
  for (const group of groups.values()) if (await mayAgree(build, group)) kept.push(group);
  return kept.flat();
}

async function mayAgree(build: Build, group: readonly { spec: Espec; source: EntryPlace }[]): Promise<boolean> {
  const part = group[0] && zlibPart(group[0].spec);
  if (part === undefined) return true;
  let differing = 0;
  // Spread over the group, for neighbours are of one kind.
  const count = Math.min(mostTrials, group.length);
  const trials = Array.from({ length: count }, (_, i) => group[Math.floor((i * group.length) / count)]);
  for (const trial of trials) {
    const same = trial && (await tryEntry(build, trial.source, part));
    if (same === true) return true;
    if (same === false) differing += 1;
  }
  return differing === 0;
}

async function tryEntry(build: Build, source: EntryPlace, part: ZlibSpec): Promise<boolean | undefined> {
  let fd: number | undefined;
  try {
    const { fd: opened, offset } = openHeld(build.objects, source);
    fd = opened;
    return await sameZlib(async (at, size) => readAt(opened, offset + at, size, source.ekey), source.size, part);
  } catch (error) {
    // A damaged or missing file says nothing about zlib; whoever needs it will see.
    if (codeOf(error) === undefined) throw error;
    return undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** The first zlib part of a spec, its level filled in; undefined when it has none. */
export function zlibPart(spec: Espec): ZlibSpec | undefined {
  if (spec.type === 'z') return { ...spec, level: spec.level ?? defaultLevel };
  if (spec.type === 'e') return zlibPart(spec.spec);
  if (spec.type !== 'b') return undefined;
  return spec.blocks.map((block) => zlibPart(block.spec)).find((part) => part !== undefined);
}

/** Chunks that are looked at for a zlib stream, and the largest that is tried. */
const mostChunks = 16;
const mostChunkBytes = 256 * 1024;

/**
 * Compares the bytes that the zlib here makes with those of an entry's first zlib chunk.
 * @returns undefined when the entry has none to compare with
 * @throws E_FORMAT… for an entry that is damaged
 */
export async function sameZlib(read: ReadRange, entrySize: number, part: ZlibSpec): Promise<boolean | undefined> {
  const header = await readBlteHeader(read, entrySize);
  for (let i = 0; i < Math.min(header.count, mostChunks); i++) {
    const { offset, encodedSize, decodedSize } = header.chunk(i);
    if (encodedSize > mostChunkBytes || (decodedSize ?? 0) > mostChunkBytes) continue;
    const encoded = await read(offset, encodedSize);
    if (encoded[0] !== chunkModes.zlib) continue;
    const decoded = decodeChunk(encoded, { index: i, decodedSize, maxSize: mostChunkBytes });
    return equalBytes(encodeChunk(decoded, part, { index: i }), encoded);
  }
  return undefined;
}
