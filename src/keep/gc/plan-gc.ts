import { statSync } from 'node:fs';
import { breathe } from '../../core/breathe.ts';
import { isOurTrouble, isPakratError, PakratError, resultUnless } from '../../core/errors.ts';
import { decodeCdnConfig } from '../../formats/configs/cdn-config.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import { type Span, spanBytes, subtractSpans } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import type { BuildOpener } from '../build-opener.ts';
import { type KnownObject, knownObjects } from '../known-objects.ts';
import { type KeepRules, keyOf, sortBuilds } from './going-builds.ts';
import { KeptBytes } from './kept-bytes.ts';
import { type Candidates, markBuild } from './mark-build.ts';

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
  const { rules, forget = [], signal } = request;
  demandRightRows(store);
  const signature = store.ledger.keeping.signature();
  const { kept: keptRows, optional, going } = sortBuilds(store.ledger, rules, forget);
  const { objects } = knownObjects(store);
  const marks = new Marks(store, opener, objects, signal);
  const total = keptRows.length + optional.length;
  let done = 0;
  for (const row of keptRows) {
    await marks.add(row);
    request.onBuild?.(++done, total);
  }
  for (const [i, row] of optional.entries()) {
    await marks.add(row);
    request.onBuild?.(++done, total);
    if (marks.heldBytes() <= (rules.maxBytes ?? Number.POSITIVE_INFINITY)) continue;
    // Marks are not taken back: what only this one wants is counted anew without it.
    const left = await remarked({ store, opener, objects, signal }, [...keptRows, ...optional.slice(0, i)]);
    return finishPlan(store, left, { going: [...going, ...optional.slice(i)], forget, signature });
  }
  return finishPlan(store, marks, { going, forget, signature });
}

async function remarked(
  {
    store,
    opener,
    objects,
    signal,
  }: { store: Store; opener: BuildOpener; objects: KnownObject[]; signal: AbortSignal | undefined },
  rows: readonly BuildRow[],
): Promise<Marks> {
  const marks = new Marks(store, opener, objects, signal);
  for (const row of rows) await marks.add(row);
  return marks;
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

/** The bytes that builds keep, while they are added. */
class Marks {
  readonly kept = new KeptBytes();
  /** CDN paths with builds that cannot be read. */
  readonly unreadable = new Map<string, string>();
  readonly cdnPaths = new Set<string>();
  readonly objects: readonly KnownObject[];
  readonly #store: Store;
  readonly #opener: BuildOpener;
  readonly #signal: AbortSignal | undefined;
  readonly #candidates = new Map<string, Candidates>();

  constructor(store: Store, opener: BuildOpener, objects: readonly KnownObject[], signal: AbortSignal | undefined) {
    this.#store = store;
    this.#opener = opener;
    this.objects = objects;
    this.#signal = signal;
  }

  async add(row: BuildRow): Promise<void> {
    await breathe(this.#signal);
    const { configPath, productConfig, cdnPath } = row;
    this.cdnPaths.add(cdnPath);
    if (productConfig !== null) this.kept.addWhole(productPath(configPath, productConfig));
    if (this.unreadable.has(cdnPath)) return;
    try {
      const { build, close } = await this.#opener.open(row, { offline: true });
      try {
        const request = { store: this.#store, build, row, candidates: this.#candidatesOf(cdnPath) };
        await markBuild(this.kept, request, this.#signal);
      } finally {
        await close();
      }
    } catch (error) {
      if (!isPakratError(error) || isOurTrouble(error)) throw error;
      this.unreadable.set(cdnPath, `${row.product}@${row.name} cannot be read: ${error.message}`);
    }
  }

  #candidatesOf(cdnPath: string): Candidates {
    let found = this.#candidates.get(cdnPath);
    if (found === undefined) {
      const own = this.objects.filter(({ name }) => name.cdnPath === cdnPath);
      found = {
        archives: own.filter(({ name, form }) => name.kind === 'data' && form === 'archive'),
        loose: own.filter(({ form }) => form === 'loose'),
        patches: own.filter(({ name, form }) => name.kind === 'patch' && form !== 'small'),
      };
      this.#candidates.set(cdnPath, found);
    }
    return found;
  }

  /** Bytes that are held of what is kept. */
  heldBytes(): number {
    let bytes = 0;
    for (const object of this.objects) {
      const spans = heldSpans(this.#store, object);
      bytes += spanBytes(spans) - spanBytes(this.kept.without(object.path, spans));
    }
    return bytes;
  }
}

function productPath(configPath: string, hash: string): string {
  return `${configPath}/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
}

function heldSpans({ ledger }: Store, { path, complete, size }: KnownObject): readonly Span[] {
  if (!complete) return ledger.spans(path);
  return size === 0 ? [] : [{ start: 0, end: size }];
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
    const held = heldSpans(store, object);
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

/** File systems keep bytes in blocks of this size, nearly all of them: one goes when none of its bytes is held. */
const blockBytes = 4096;

function diskBytes(
  store: Store,
  { path }: KnownObject,
  { held, dead, isAll }: { held: readonly Span[]; dead: readonly Span[]; isAll: boolean },
): number {
  if (isAll) return (statSync(store.file(path), { throwIfNoEntry: false })?.blocks ?? 0) * 512;
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
