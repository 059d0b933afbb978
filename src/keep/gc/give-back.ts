import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { breathe, pause } from '../../core/breathe.ts';
import { diskBytesOf, freeBytes, replaceFile } from '../../files/copies/holes.ts';
import { inStore, isSpoilt, syncFolder } from '../../files/durable.ts';
import type { Claim } from '../../store/claims.ts';
import { mergeSpans, subtractSpans } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import type { DeadBytes, GcPlan } from './plan-gc.ts';

/** What came of giving bytes back. */
export interface GivenBack {
  objects: number;
  /** Bytes that are not held any more. */
  bytes: number;
  /** Bytes that the file system has again. */
  diskBytes: number;
  /** Objects that other processes write to all the time; the next run takes them. */
  inUse: string[];
  /** Objects of which a broken disk does not give what is left, so that what goes stays on the disk; the next run tries again. */
  unread: string[];
  /** True when the builds that are kept changed on the way: what is left must be planned anew. */
  isOutdated: boolean;
}

/** The end of a stretch that is all of a file. */
const wholeEnd = Number.MAX_SAFE_INTEGER;
/** Milliseconds for which an object that another process writes to is waited for. */
const patienceMs = 5_000;
const askAgainMs = 50;
/** Objects that leave the ledger in one commit. */
const batchSize = 256;

interface WorkOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((bytes: number) => void) | undefined;
}

/**
 * Takes bytes out of the ledger and then off the disk. The order makes it safe to end anywhere: what left the ledger and not the disk is
 * remembered, and {@link finishLeaving} goes on. Nobody adds to an object meanwhile, for it is claimed; whoever reads looks afterwards whether what
 * was read is still held.
 * @throws E_ABORTED, E_STORE…
 */
export async function giveBack(
  store: Store,
  { dead, signature }: Pick<GcPlan, 'dead' | 'signature'>,
  { signal, onProgress }: WorkOptions,
): Promise<GivenBack> {
  const given: GivenBack = { objects: 0, bytes: 0, diskBytes: 0, inUse: [], unread: [], isOutdated: false };
  for (const batch of batchesOf(dead)) {
    const claims = await claimAll(store, batch, signal);
    try {
      const items = batch.filter(({ path }) => claims.has(path));
      given.inUse.push(...batch.flatMap(({ path }) => (claims.has(path) ? [] : [path])));
      if (!withdraw(store, items, signature)) return { ...given, isOutdated: true };
      const freed = await free(store, new Set(items.map(({ path }) => path)), signal);
      given.diskBytes += freed.diskBytes;
      given.unread.push(...freed.unread);
      given.objects += items.length;
      for (const { bytes } of items) {
        given.bytes += bytes;
        onProgress?.(bytes);
      }
    } finally {
      for (const claim of claims.values()) claim.release();
    }
  }
  return given;
}

/**
 * Whole files first, the smallest first: on a full disk they make the room that copies of others need. Configs and indices last: without an index
 * nobody would know what lies in its archive, should the run be killed.
 */
function* batchesOf(dead: readonly DeadBytes[]): Generator<DeadBytes[]> {
  const bySize = [...dead].sort((a, b) => a.bytes - b.bytes);
  const isSmall = ({ path }: DeadBytes): boolean => path.endsWith('.index') || path.includes('/config/');
  const whole = bySize.filter((item) => item.spans === 'all' && !isSmall(item));
  for (let i = 0; i < whole.length; i += batchSize) yield whole.slice(i, i + batchSize);
  for (const item of bySize) if (item.spans !== 'all') yield [item];
  const small = bySize.filter((item) => item.spans === 'all' && isSmall(item));
  for (let i = 0; i < small.length; i += batchSize) yield small.slice(i, i + batchSize);
}

/** Goes on where a run was killed: frees what left the ledger and may still be on the disk. @throws E_ABORTED, E_STORE… */
export async function finishLeaving(store: Store, signal?: AbortSignal): Promise<Freed> {
  const paths = new Set(store.ledger.keeping.leaving().map(({ path }) => path));
  const claims = await claimAll(
    store,
    [...paths].map((path) => ({ path })),
    signal,
  );
  try {
    return await free(store, new Set(claims.keys()), signal);
  } finally {
    for (const claim of claims.values()) claim.release();
  }
}

/** All of some objects, each as soon as nobody fetches any of it. Those that others do not let go of for long are left out. */
async function claimAll(
  store: Store,
  items: readonly { path: string }[],
  signal: AbortSignal | undefined,
): Promise<Map<string, Claim>> {
  const taken = new Map<string, Claim>();
  const claims = store.claims();
  const until = performance.now() + patienceMs;
  let left = items.map(({ path }) => path);
  try {
    for (;;) {
      left = left.filter((path) => {
        const claim = claims?.take(path, 0, wholeEnd);
        if (claim !== undefined) taken.set(path, claim);
        return claim === undefined;
      });
      if (left.length === 0 || performance.now() > until) return taken;
      await pause(askAgainMs, signal);
    }
  } catch (error) {
    for (const claim of taken.values()) claim.release();
    throw error;
  }
}

/** Says in the ledger that bytes are not held. @returns false when the builds that are kept are not those of the plan */
function withdraw(store: Store, items: readonly DeadBytes[], signature: string): boolean {
  const { ledger, files } = store;
  const { keeping } = ledger;
  let isRight = false;
  // What is left of an object does not lie where whole ones do.
  const moved = items.flatMap(({ path, spans }) => (spans === 'all' ? [] : [path]));
  files.withdraw(moved, () => {
    isRight = keeping.signature() === signature;
    for (const { path, spans } of isRight ? items : []) {
      keeping.addLeaving(path, spans === 'all' ? [{ start: 0, end: wholeEnd }] : spans);
      if (spans === 'all') ledger.removeObject(path);
      else keeping.keepSpans(path, subtractSpans(ledger.spans(path), spans));
    }
  });
  if (!isRight) for (const path of moved) files.settle(path);
  return isRight;
}

type Freed = Pick<GivenBack, 'diskBytes' | 'unread'>;

/** Takes bytes of objects off the disk that the ledger does not hold. */
async function free(store: Store, paths: ReadonlySet<string>, signal: AbortSignal | undefined): Promise<Freed> {
  const { ledger, files, layout } = store;
  const { keeping } = ledger;
  let diskBytes = 0;
  const unread = new Set<string>();
  const unheld: string[] = [];
  for (const path of paths) {
    await breathe(signal);
    const held = ledger.spans(path);
    const file = files.find(path);
    if (held.length === 0) {
      unheld.push(path);
      continue;
    }
    const before = diskBytesOf([file]);
    const leaving = keeping.leaving().filter((bytes) => bytes.path === path);
    if (before > 0 && subtractSpans(mergeSpans(leaving), held).length > 0) {
      const replace = (copy: string): void =>
        ledger.transaction(() => {
          if (files.find(path) === file) replaceFile(copy, file);
        });
      try {
        await freeBytes(file, held, { temporary: layout.temporary, signal, replace });
      } catch (error) {
        if (!isSpoilt(error)) throw error;
        unread.add(path);
      }
    }
    if (!unread.has(path)) keeping.left(path);
    diskBytes += before - diskBytesOf([file]);
  }
  const removed = new Set<string>();
  ledger.transaction(() => {
    for (const path of unheld) {
      const file = files.find(path);
      // Another process may have found it on the disk, and taken it back.
      if (ledger.completeSize(path) === undefined && ledger.spans(path).length === 0) {
        diskBytes += diskBytesOf([file]);
        inStore(file, () => fs.rmSync(file, { force: true }));
        removed.add(dirname(file));
      }
    }
  });
  for (const folder of removed) if (fs.existsSync(folder)) inStore(folder, () => syncFolder(folder));
  ledger.transaction(() => {
    for (const path of unheld) keeping.left(path);
  });
  return { diskBytes, unread: [...unread] };
}
