import type { Build } from '../../builds/build.ts';
import type { EntryPlace } from '../../builds/objects.ts';
import { fromHex, toHex } from '../../core/bytes.ts';
import { isDamage, resultUnless } from '../../core/errors.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import { HeldSpans } from '../../fetch/held-spans.ts';
import type { RangeJob } from '../../fetch/transfer/range-job.ts';
import { type Espec, parseEspec } from '../../formats/blte/espec.ts';
import {
  decodePatchManifest,
  type FilePatch,
  type PatchedFile,
  type PatchManifest,
} from '../../formats/patches/patch-manifest.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import type { Store } from '../../store/store.ts';
import { type HeldEntries, openHeldEntries } from './held-entries.ts';
import { patchJobs } from './patch-jobs.ts';
import { type FoundPatches, findPatches, isNoList } from './patch-lists.ts';
import { canEncode } from './reencode.ts';
import { withoutForeignZlib } from './zlib-trial.ts';

/** The bounds within which patches are chosen. */
export interface PatchOptions {
  /** Bytes that one more request is worth. A patch must save more than that, and ranges bridge no wider gaps. */
  gapBytes: number;
  /** Bytes of old and new content at most: both are in memory while a patch is applied. */
  maxBytes: number;
}

/** An entry that is to be made out of an older one. */
interface PatchChoice {
  /** The entry, and the bytes of it that are not held. */
  place: EntryPlace;
  missingBytes: number;
  /** The ckey and size of its content, and how it is encoded. */
  ckey: string;
  size: number;
  spec: Espec;
  /** The held entry of the older file, and the size of its content. */
  source: EntryPlace;
  sourceSize: number;
  /** The patch as the manifest has it, then where it lies. */
  patchEkey: string;
  patchSize: number;
  patch?: EntryPlace;
}

/** The work that patches did. */
export interface PatchedAmount {
  /** Entries that were made out of older ones. */
  entries: number;
  /** Bytes that those lacked, less those that were fetched for patching; below zero when that was for nothing. */
  bytesSaved: number;
  /** Bytes fetched for patching: patches, their manifest and indices. */
  patchBytes: number;
  /** Entries that could not be made right. */
  failed: number;
}

/** The entries that patches can bring. Deciding fetches the manifest and the indices of patches, nothing else. */
export interface PatchPlan {
  /** In the order of their places. */
  choices: (PatchChoice & { patch: EntryPlace })[];
  /** The ranges that bring those patches that are not held, and their bytes. */
  jobs: RangeJob[];
  jobBytes: number;
  /** Bytes of the manifest and the indices that were fetched to decide. */
  listBytes: number;
  /** The work that will have been done when all goes well. */
  expected: PatchedAmount;
  /** Why there are no choices, for a person. */
  reason?: string | undefined;
}

/**
 * Chooses the missing entries that cost less as a patch.
 *
 * The rule: an entry is patched when that saves more than `gapBytes`, which is what one more request is worth. For leaving it out splits
 * the range that it lay in. The ranges of such a sync bridge no wider gaps than that either, so what is left out really is not fetched.
 * @param wanted sorted rows of a WantedList
 * @throws E_ABORTED, E_STORE…
 */
export async function planPatches(
  fetcher: Fetcher,
  build: Build,
  wanted: RecordTable,
  options: PatchOptions,
): Promise<PatchPlan> {
  const list = await readManifest(fetcher, build);
  if (typeof list === 'string') return noPatches(list);
  const { manifest, fetchedBytes } = list;
  const held = openHeldEntries(fetcher.store, build);
  try {
    const all = [...candidates({ store: fetcher.store, build, options }, { manifest, wanted, held })];
    const chosen = await withoutForeignZlib(build, all);
    if (chosen.length === 0) return noPatches(all.length === 0 ? noWay : foreignZlib, fetchedBytes);
    const saving = chosen.reduce((sum, { missingBytes, patchSize }) => sum + missingBytes - patchSize, 0);
    const found = await findPatches(fetcher, build, { patches: chosen, mostBytes: saving });
    if (typeof found === 'string') return noPatches(found, fetchedBytes);
    return makePlan(fetcher, options, withPlaces(chosen, found), fetchedBytes + found.fetchedBytes);
  } finally {
    held.close();
  }
}

const noWay = 'no patch that saves enough leads from what is held to what is missing';
const foreignZlib = 'entries cannot be made here as the CDN has them: its zlib gives other bytes';

/** The plan without patches. */
export function noPatches(reason: string, listBytes = 0): PatchPlan {
  const expected = { entries: 0, bytesSaved: 0 - listBytes, patchBytes: listBytes, failed: 0 };
  return { choices: [], jobs: [], jobBytes: 0, listBytes, expected, reason };
}

async function readManifest(
  fetcher: Fetcher,
  build: Build,
): Promise<{ manifest: PatchManifest; fetchedBytes: number } | string> {
  const { patch } = build.config;
  if (patch === undefined) return 'the build has no patches';
  const name: ObjectName = { cdnPath: build.identity.cdnPath, kind: 'patch', hash: patch.ckey };
  const wasHeld = fetcher.store.ledger.completeSize(objectPath(name)) !== undefined;
  try {
    const bytes = await fetcher.object(name);
    const manifest = decodePatchManifest(bytes);
    if (Object.values(manifest.keySizes).some((size) => size !== 16)) return 'the patch manifest has short keys';
    return { manifest, fetchedBytes: wasHeld ? 0 : bytes.length };
  } catch (error) {
    if (!isNoList(error)) throw error;
    return 'the patch manifest cannot be had';
  }
}

/** Missing entries that a patch from a held file leads to, as the manifest says. */
function* candidates(
  { store, build, options }: { store: Store; build: Build; options: PatchOptions },
  lists: { manifest: PatchManifest; wanted: RecordTable; held: HeldEntries },
): Generator<PatchChoice> {
  const spans = new HeldSpans(store);
  const specOf = specReader(build);
  for (const file of lists.manifest.files) {
    const ckey = toHex(file.targetCkey);
    const known = resultUnless(isDamage, () => build.encoding.findCkey(ckey));
    if (known?.size !== file.targetSize) continue;
    for (const ekey of known.ekeys) {
      const place = lists.wanted.find(fromHex(ekey)) && build.locate(ekey);
      const missing = place === undefined ? 0 : place.size - spans.startOf(place);
      const best = missing === 0 ? undefined : bestPatch(file, { ...options, held: lists.held, missing });
      const spec = best && specOf(ekey);
      if (place === undefined || best === undefined || spec === undefined) continue;
      yield { ...best, place, missingBytes: missing, ckey, size: file.targetSize, spec };
    }
  }
}

type Best = Pick<PatchChoice, 'source' | 'sourceSize' | 'patchEkey' | 'patchSize'>;

/** The smallest patch that saves enough and whose old file is held. */
function bestPatch(file: PatchedFile, limits: PatchOptions & { held: HeldEntries; missing: number }): Best | undefined {
  const fits = ({ patchSize, sourceSize }: FilePatch): boolean =>
    limits.missing - patchSize > limits.gapBytes && sourceSize + file.targetSize <= limits.maxBytes;
  for (const patch of file.patches.filter(fits).sort((a, b) => a.patchSize - b.patchSize)) {
    const source = limits.held.find(patch.sourceEkey);
    if (source === undefined) continue;
    const { sourceSize, patchSize } = patch;
    return { source, sourceSize, patchEkey: toHex(patch.patchEkey), patchSize };
  }
  return undefined;
}

/** Finds the spec of an entry; undefined for one that cannot be encoded here. */
function specReader(build: Build): (ekey: string) => Espec | undefined {
  const specs = new Map<number, Espec | undefined>();
  const parse = (index: number): Espec | undefined => {
    const spec = resultUnless(isDamage, () => parseEspec(build.encoding.espec(index) ?? ''));
    return spec && canEncode(spec, build.keys) ? spec : undefined;
  };
  return (ekey) => {
    const index = resultUnless(isDamage, () => build.encoding.findEkey(ekey))?.especIndex;
    if (index === undefined) return undefined;
    if (!specs.has(index)) specs.set(index, parse(index));
    return specs.get(index);
  };
}

/** Those whose patch has a place, with it, in the order in which they are written. */
function withPlaces(candidates: readonly PatchChoice[], found: FoundPatches): PatchPlan['choices'] {
  const choices = candidates.flatMap((candidate) => {
    const patch = found.places.get(candidate.patchEkey);
    return patch?.size === candidate.patchSize ? [{ ...candidate, patch }] : [];
  });
  const order = (path: string, other: string): number => (path < other ? -1 : path > other ? 1 : 0);
  return choices.sort(({ place: a }, { place: b }) => order(a.object.hash, b.object.hash) || a.offset - b.offset);
}

function makePlan(
  fetcher: Fetcher,
  options: PatchOptions,
  choices: PatchPlan['choices'],
  listBytes: number,
): PatchPlan {
  const { planOptions } = fetcher.settings;
  const gapBytes = Math.min(planOptions.gapBytes, options.gapBytes);
  const patches = choices.map(({ patch }) => patch);
  const jobs = patchJobs(fetcher.store, patches, { ...planOptions, gapBytes });
  const jobBytes = jobs.reduce((sum, { start, end }) => sum + end - start, 0);
  const patchBytes = jobBytes + listBytes;
  const entryBytes = choices.reduce((sum, { missingBytes }) => sum + missingBytes, 0);
  const expected = { entries: choices.length, bytesSaved: entryBytes - patchBytes, patchBytes, failed: 0 };
  return { choices, jobs, jobBytes, listBytes, expected };
}
