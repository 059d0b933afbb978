import * as fs from 'node:fs';
import type { Build } from '../../builds/build.ts';
import { openHeld } from '../../builds/objects.ts';
import { codeOf, isOurTrouble, isPakratError, messageOf, PakratError, throwIfAborted } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import { ByteReader } from '../../core/reader.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import { isHeld } from '../../fetch/held-spans.ts';
import type { PackedJob } from '../../fetch/transfer/range-targets.ts';
import { readAt } from '../../files/read-at.ts';
import { applyZbsdiff } from '../../formats/patches/zbsdiff.ts';
import { objectPath } from '../../store/layout.ts';
import { type Span, spanBytes } from '../../store/spans.ts';
import { type EntryEvents, EntryWriter } from './entry-writer.ts';
import type { PatchedAmount, PatchPlan } from './patch-plan.ts';
import { encodeAgain } from './reencode.ts';

type Choice = PatchPlan['choices'][number];

/**
 * Fetches the patches of a plan and makes the entries that they lead to. Each is what the CDN has, byte for byte: it decodes to the ckey
 * and has the ekey, and lies where the CDN has it. What cannot be made so is left missing, for the ranges that follow.
 * @returns the amounts, and the first reason of a failure
 * @throws E_ABORTED, E_STORE…
 */
export async function applyPatches(
  fetcher: Fetcher,
  build: Build,
  plan: PatchPlan,
  events: EntryEvents,
): Promise<{ patched: PatchedAmount; patchReason: string | undefined }> {
  const fetchedBytes = plan.listBytes + (await fetchPatches(fetcher, plan));
  const patched = { entries: 0, bytesSaved: 0 - fetchedBytes, patchBytes: fetchedBytes, failed: 0 };
  let patchReason = plan.reason;
  const signal = fetcher.network?.signal;
  const writer = new EntryWriter(fetcher, events);
  try {
    for (const choice of plan.choices) {
      throwIfAborted(signal);
      const problem = isHeld(fetcher.store, choice.patch)
        ? await tryEntry(build, choice, writer, signal)
        : `patch ${choice.patchEkey} cannot be had`;
      if (problem === undefined) {
        patched.entries += 1;
        patched.bytesSaved += choice.missingBytes;
      } else {
        patched.failed += 1;
        patchReason ??= problem;
      }
    }
  } finally {
    await writer.finish();
  }
  return { patched, patchReason };
}

/**
 * Brings patches into the store, where they may stay: they are objects of the CDN. There is another way to the entries, so no host is asked
 * twice, and none any more when most of a batch did not come.
 * @returns the bytes that it took
 */
async function fetchPatches(fetcher: Fetcher, { jobs }: PatchPlan): Promise<number> {
  // From the first patch that came to the last: what lies between came too.
  const fetched = new Map<string, Span>();
  const onEntry = ({ path, start: first, targets }: PackedJob, index: number): void => {
    const key = `${path} ${first}`;
    const offset = targets.offset(index);
    const { start, end } = fetched.get(key) ?? { start: offset, end: 0 };
    fetched.set(key, { start: Math.min(start, offset), end: Math.max(end, targets.end(index)) });
  };
  for (const batch of batches(jobs, fetcher.settings.jobs * 2)) {
    const failures = await fetcher.fetchRanges({ kind: 'patch', attemptsPerHost: 1, onEntry }, batch);
    if (failures.length > batch.length / 2) break;
  }
  return spanBytes([...fetched.values()]);
}

function* batches<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

/** Makes and writes an entry. Gives back why it could not be made. @throws E_ABORTED, E_STORE…, and what is a fault of ours */
async function tryEntry(
  build: Build,
  choice: Choice,
  writer: EntryWriter,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    await writer.add(choice.place, await makeEntry(build, choice, signal));
    return undefined;
  } catch (error) {
    if (codeOf(error) === undefined || (isPakratError(error) && isOurTrouble(error))) throw error;
    return messageOf(error);
  }
}

/** @throws E_INTEGRITY for a wrong result, E_FORMAT… for a damaged patch, E_KEY_MISSING; system errors of reading as they come */
async function makeEntry(build: Build, choice: Choice, signal?: AbortSignal): Promise<Uint8Array> {
  const { place, ckey, size, spec } = choice;
  const patch = readPatch(build, choice);
  const content = applyZbsdiff(await decodeSource(build, choice), patch, { maxSize: size });
  if (content.length !== size || md5Hex(content) !== ckey) throw wrong(choice, `does not make content ${ckey}`);
  const { bytes, ekey } = await encodeAgain(content, spec, { keys: build.keys, signal });
  if (bytes.length === place.size && ekey === place.ekey) return bytes;
  throw wrong(choice, `makes content ${ckey}, which is encoded to ${ekey} here and not to ${place.ekey}`);
}

async function decodeSource(build: Build, { source, sourceSize }: Choice): Promise<Uint8Array> {
  const content = new Uint8Array(sourceSize);
  let size = 0;
  for await (const piece of build.readEncoded(source, sourceSize)) {
    if (size + piece.length > sourceSize) break;
    content.set(piece, size);
    size += piece.length;
  }
  if (size === sourceSize) return content;
  throw new PakratError('E_INTEGRITY', `entry ${source.ekey} does not decode to ${sourceSize} bytes`);
}

/** Bytes that deflate gives for one at most. */
const maxRatio = 1032;
/** Small files may take this much all the same. */
const leastStepsBytes = 64 * 1024 * 1024;

/** The bytes of a patch whose steps take no more memory, once inflated, than the contents that they lead between. */
function readPatch(build: Build, choice: Choice): Uint8Array {
  const { patch, size, sourceSize } = choice;
  const { fd, offset } = openHeld(build.objects, patch);
  try {
    const bytes = readAt(fd, offset, patch.size, objectPath(patch.object));
    const stepsSize = new ByteReader(bytes, 'ZBSDIFF1 patch', 8).u64le();
    if (stepsSize * maxRatio <= Math.max(leastStepsBytes, size + sourceSize)) return bytes;
    throw wrong(choice, `has ${stepsSize} bytes of steps`);
  } finally {
    fs.closeSync(fd);
  }
}

function wrong({ patchEkey, place }: Choice, problem: string): PakratError {
  return new PakratError('E_INTEGRITY', `patch ${patchEkey} ${problem}`, { data: { patchEkey, ekey: place.ekey } });
}
