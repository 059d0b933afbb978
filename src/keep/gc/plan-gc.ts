import { CdnLists } from '../../builds/cdn-lists.ts';
import { isPakratError, PakratError, resultUnless } from '../../core/errors.ts';
import { blockBytes, diskBytesOf } from '../../files/copies/holes.ts';
import { decodeCdnConfig } from '../../formats/configs/cdn-config.ts';
import { type BuildRow, keyOf } from '../../store/ledger/rows.ts';
import { type Span, spanBytes, subtractSpans } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import type { BuildOpener } from '../build-opener.ts';
import { type KnownObject, knownObjects } from '../known-objects.ts';
import { type KeepRules, type SortedBuilds, sortBuilds } from './going-builds.ts';
import { Marks } from './marks.ts';

/** Bytes of an object that no kept build wants. */
export interface DeadBytes {
  path: string;
  /** All that is held of it: then its file goes. Else the stretches that go, merged and in order. */
  spans: 'all' | readonly Span[];
  /** Bytes that are not held any more afterwards. */
  bytes: number;
  /** Bytes that the file system is expected to give back. */
  diskBytes: number;
}

/** What would go, and why something does not. Nothing here does anything. */
export interface GcPlan {
  /** Builds that are forgotten first. */
  going: BuildRow[];
  dead: DeadBytes[];
  /** CDN paths of which nothing goes, with the reason. */
  spared: { cdnPath: string; reason: string }[];
  /** Bytes that are held of what stays. */
  keptBytes: number;
  /** The builds that the plan took for kept: it holds while they are the same. */
  signature: string;
}

interface GcRequest {
  rules: KeepRules;
  /** Builds that go, whatever the rules say. */
  forget?: readonly BuildRow[] | undefined;
  signal?: AbortSignal | undefined;
  onBuild?: ((done: number, total: number) => void) | undefined;
}

/**
 * Decides what may go of a store: the bytes that no build wants which is kept. Of a CDN path goes nothing while one of its builds cannot be read,
 * for nobody knows what it names; nor of one of which no build is known and none was forgotten, for then the ledger is a new one.
 * @throws E_STORE_DAMAGED for a ledger whose rows about builds are damaged, E_ABORTED, E_STORE…
 */
export async function planGc(store: Store, opener: BuildOpener, request: GcRequest): Promise<GcPlan> {
  const { rules, forget = [], signal, onBuild } = request;
  demandRightRows(store);
  const signature = store.ledger.keeping.signature();
  const { kept, optional, going } = sortBuilds(store.ledger, rules, forget);
  const lists = new CdnLists(store);
  const { objects } = knownObjects(store, lists);
  const mostBytes = rules.maxBytes ?? Number.POSITIVE_INFINITY;
  for (let count = optional.length; ; ) {
    const marks = new Marks({ store, opener, objects, lists, signal });
    const fitting = await addBuilds(marks, { kept, optional: optional.slice(0, count), mostBytes, onBuild });
    // Marks are not taken back: what only the one wants that is too much is counted anew without it.
    if (fitting === count) {
      await marks.addStrays();
      if (count === 0 || marks.heldBytes() <= mostBytes)
        return finishPlan(store, marks, { going: [...going, ...optional.slice(count)], forget, signature });
    }
    count = Math.min(fitting, count - 1);
  }
}

interface BuildsToAdd extends Pick<SortedBuilds, 'kept' | 'optional'>, Pick<GcRequest, 'onBuild'> {
  mostBytes: number;
}

/** @returns the number of optional builds with which all that is kept does not exceed the bytes that are allowed */
async function addBuilds(marks: Marks, { kept, optional, mostBytes, onBuild }: BuildsToAdd): Promise<number> {
  const total = kept.length + optional.length;
  // The oldest first: it names all of the archives that came with it, and so there is nothing to be added to them afterwards.
  for (const [i, row] of [...[...kept].reverse(), ...optional].entries()) {
    await marks.add(row);
    onBuild?.(i + 1, total);
    if (i >= kept.length && Number.isFinite(mostBytes) && marks.heldBytes() > mostBytes) return i - kept.length;
  }
  return optional.length;
}

/** Rows about builds that are damaged may be those of a build that is to be kept. */
function demandRightRows({ ledger }: Store): void {
  const [damaged] = ledger.damagedRows().filter(({ table }) => table !== 'keys' && table !== 'settings');
  if (damaged === undefined) return;
  throw new PakratError('E_STORE_DAMAGED', `the row ${damaged.key} of the ledger's table ${damaged.table} is damaged`, {
    hint: 'Run `pakrat verify --repair` first: nothing is given back while it is not known what is to be kept.',
    data: { ...damaged },
  });
}

function finishPlan(
  store: Store,
  marks: Marks,
  { going: chosen, forget, signature }: Pick<GcPlan, 'going' | 'signature'> & { forget: readonly BuildRow[] },
): GcPlan {
  const { kept, unreadable } = marks;
  keepStrayConfigs(store, marks);
  const asked = new Set(forget.map(keyOf));
  // A rule lets no build go for one that cannot be read.
  const going = chosen.filter((row) => !unreadable.has(row.cdnPath) || asked.has(keyOf(row)));
  const forgotten = [...store.ledger.keeping.forgotten(), ...going];
  const mayGo = new Set([...marks.cdnPaths, ...forgotten.map(({ cdnPath }) => cdnPath)]);
  const productPaths = new Set(forgotten.map(({ configPath }) => configPath));
  const spared = new Map<string, string>(unreadable);
  const plan: GcPlan = { going, dead: [], spared: [], keptBytes: 0, signature };
  for (const object of marks.objects) {
    const { path, name, lost } = object;
    const held = marks.heldSpans(object);
    const isKnown = name.kind === 'product' ? productPaths.has(name.cdnPath) : mayGo.has(name.cdnPath);
    const dead = kept.without(path, held);
    const bytes = spanBytes(dead);
    const heldBytes = spanBytes(held);
    // One that was lost is remembered as long as a build wants it.
    const isAll = bytes === heldBytes && (bytes > 0 || !kept.wants(path));
    if (name.kind !== 'product' && !isKnown && isAll && !lost)
      spared.set(name.cdnPath, 'no build of it is known, and none was forgotten');
    if (!isKnown || unreadable.has(name.cdnPath) || (bytes === 0 && !isAll)) {
      plan.keptBytes += heldBytes;
      continue;
    }
    plan.keptBytes += heldBytes - bytes;
    plan.dead.push({
      path,
      spans: isAll ? 'all' : dead,
      bytes,
      diskBytes: diskBytes(store, object, { held, dead, isAll }),
    });
  }
  plan.spared = [...spared].map(([cdnPath, reason]) => ({ cdnPath, reason }));
  return plan;
}

/** Keeps the CDN configs without which nobody would know the archives that no kept build lists. */
function keepStrayConfigs(store: Store, { kept, objects }: Marks): void {
  if (kept.strays.size === 0) return;
  for (const { path, name } of objects) {
    if (name.kind !== 'config' || kept.wants(path)) continue;
    const archives = resultUnless(isPakratError, () => {
      const bytes = store.readObject(name);
      return bytes && decodeCdnConfig(bytes).archives;
    });
    if (archives?.some((hash) => kept.strays.has(hash))) kept.addWhole(path);
  }
}

function diskBytes(
  store: Store,
  { path }: KnownObject,
  { held, dead, isAll }: { held: readonly Span[]; dead: readonly Span[]; isAll: boolean },
): number {
  if (isAll) return diskBytesOf([store.file(path)]);
  return (touchedBlocks(held) - touchedBlocks(subtractSpans(held, dead))) * blockBytes;
}

/** Blocks of which merged, sorted spans have some bytes. */
function touchedBlocks(spans: readonly Span[]): number {
  let count = 0;
  let next = 0;
  for (const { start, end } of spans) {
    const first = Math.max(next, Math.floor(start / blockBytes));
    next = Math.ceil(end / blockBytes);
    count += Math.max(0, next - first);
  }
  return count;
}
