import * as fs from 'node:fs';
import PQueue from 'p-queue';
import type { EntryPlace, Objects } from '../builds/objects.ts';
import { type Cdn, getObject } from '../cdn/transport/get-object.ts';
import { codeOf, type ErrorCode, PakratError } from '../core/errors.ts';
import { md5Hex } from '../core/hash.ts';
import { moveDurable, storeError } from '../files/durable.ts';
import { decodeArchiveIndex } from '../formats/indices/archive-index.ts';
import { type ObjectName, objectPath } from '../store/layout.ts';
import { covers, heldUntil, type Span, spanBytes } from '../store/spans.ts';

import type { Store } from '../store/store.ts';
import type { PlanOptions } from './plan/plan.ts';
import type { Engine } from './transfer/engine.ts';
import type { RangeJob, RangeTarget } from './transfer/fetch-range.ts';
import { type TransferFailure, transfer } from './transfer/transfer.ts';

/** The largest config and index that are believed. */
const maxConfigSize = 32 * 1024 * 1024;
const maxIndexSize = 256 * 1024 * 1024;
/** Spans wait so long for others to be committed with. */
const commitMs = 200;

/** What objects are fetched with. */
export interface FetchTools {
  store: Store;
  /** The CDN, made when first needed; undefined: only what the store holds. */
  cdn: (() => Promise<Cdn>) | undefined;
  /** Runs range jobs; made when first needed. */
  engine: () => Promise<Engine>;
  /** Commits the spans that the engine has reported. */
  flush: () => void;
  jobs: number;
  smallJobs: number;
  planOptions: PlanOptions;
  /** Told of every entry that was fetched. */
  onEntry?: (() => void) | undefined;
}

/**
 * The objects of a build from the store, and from the CDN where the store lacks them: fetched, checked, on disk, in the ledger, then used.
 */
export function storeObjects(tools: FetchTools): Objects {
  const { store } = tools;
  return {
    config: (name) =>
      smallObject(tools, name, (bytes) => {
        const found = md5Hex(bytes);
        if (found === name.hash) return;
        const isEncrypted = store.objectKeys.keyOf(objectPath(name)) !== undefined;
        const why = isEncrypted ? ' when it is decrypted: the key may be a wrong one' : '';
        throw new PakratError('E_INTEGRITY', `config ${name.hash} has MD5 ${found}${why}`);
      }),
    async indices(names) {
      const queue = new PQueue({ concurrency: tools.smallJobs });
      const files = await queue.addAll(names.map((name) => () => indexFile(tools, name)));
      return files;
    },
    async entries(places) {
      const missing = places.filter((place) => !isHeld(store, place));
      if (missing.length > 0) await fetchEntries(tools, missing);
    },
    open(place) {
      if (!isHeld(store, place)) throw notHeld(place);
      return { file: store.file(objectPath(place.object)), offset: place.offset };
    },
    decrypt: (name, bytes, offset) => store.objectKeys.decrypt(objectPath(name), bytes, offset),
  };
}

function notHeld(place: EntryPlace): PakratError {
  return new PakratError('E_OFFLINE', `entry ${place.ekey} is not held and may not be fetched`, {
    hint: 'Leave --offline away, or sync it first.',
    data: { ekey: place.ekey, object: objectPath(place.object) },
  });
}

/** True when every byte of an entry is verified and on disk. */
export function isHeld(store: Store, place: EntryPlace): boolean {
  const path = objectPath(place.object);
  return place.loose
    ? store.ledger.completeSize(path) !== undefined
    : covers(store.ledger.spans(path), place.offset, place.offset + place.size);
}

/**
 * A small object, decrypted, from the store or fetched; `check` throws when the bytes are not what the name says.
 * @throws E_OFFLINE without a CDN, else as getObject
 */
export async function smallObject(
  tools: Pick<FetchTools, 'store' | 'cdn'>,
  name: ObjectName,
  check: (bytes: Uint8Array) => void,
): Promise<Uint8Array> {
  const held = tools.store.readObject(name);
  if (held !== undefined) {
    try {
      check(held);
      return held;
    } catch {
      // Damaged on disk since it was checked: it is fetched again.
      tools.store.ledger.removeObject(objectPath(name));
    }
  }
  const path = objectPath(name);
  // What cannot be checked is not asked for.
  tools.store.objectKeys.keyOf(path);
  if (tools.cdn === undefined) {
    throw new PakratError('E_OFFLINE', `${path} is not held and may not be fetched`, {
      hint: 'Leave --offline away, or sync the build first.',
    });
  }
  const kind = name.suffix === '.index' ? 'index' : name.kind === 'product' ? 'config' : name.kind;
  const maxSize = kind === 'config' ? maxConfigSize : maxIndexSize;
  const decrypt = (bytes: Uint8Array): Uint8Array => tools.store.objectKeys.decrypt(path, bytes);
  const request = { path, kind, maxSize, check: (bytes: Uint8Array) => check(decrypt(bytes)) } as const;
  const bytes = await getObject(await tools.cdn(), request);
  tools.store.addObject(name, bytes);
  return decrypt(bytes);
}

async function indexFile(tools: FetchTools, name: ObjectName): Promise<string> {
  await smallObject(tools, name, (bytes) => void decodeArchiveIndex(bytes, name.hash));
  return tools.store.file(objectPath(name));
}

/** Fetches entries outside of a sync: manifests, and files that are asked for by name. */
async function fetchEntries(tools: FetchTools, places: readonly EntryPlace[]): Promise<void> {
  const { store } = tools;
  if (tools.cdn === undefined) throw notHeld(places[0]!);
  const cdn = await tools.cdn();
  const engine = await tools.engine();
  const run = async (jobs: readonly RangeJob[]): Promise<TransferFailure[]> => {
    const failures = await transfer(jobs, {
      ...{ hosts: cdn.hosts, engine, jobs: tools.jobs, attemptsPerHost: cdn.attemptsPerHost },
      ...{ kind: 'data' as const, signal: cdn.signal },
      onDone: (job, target) => {
        completeLoose(store, job, target);
        tools.onEntry?.();
      },
    });
    tools.flush();
    return failures;
  };
  let failures = await run(entryJobs(store, places, tools.planOptions));
  if (failures.length > 0 && cdn.hosts.noneKnowsRanges('data')) {
    const left = places.filter((place) => !isHeld(store, place));
    failures = await run(entryJobs(store, left, wholeObjects).map((job) => ({ ...job, allowWhole: true })));
  }
  const failure = failures[0];
  if (failure !== undefined) {
    throw new PakratError(failure.code as ErrorCode, failure.message, {
      hint: failure.hint,
      data: { object: failure.path, ekeys: failure.ekeys },
    });
  }
}

/** For hosts that know no ranges: whatever is wanted of an object comes in one answer. */
const wholeObjects: PlanOptions = { gapBytes: Number.POSITIVE_INFINITY, maxRangeBytes: Number.POSITIVE_INFINITY };

/** The jobs that bring some entries: those that lie close in one archive come in one range. */
export function entryJobs(store: Store, places: readonly EntryPlace[], options: PlanOptions): RangeJob[] {
  const sorted = [...places].sort((a, b) =>
    a.object.hash < b.object.hash ? -1 : a.object.hash > b.object.hash ? 1 : a.offset - b.offset,
  );
  const jobs: RangeJob[] = [];
  for (const [i, place] of sorted.entries()) {
    if (i > 0 && sorted[i - 1]!.ekey === place.ekey) continue;
    const path = objectPath(place.object);
    const held = Math.min(heldUntil(store.ledger.spans(path), place.offset) - place.offset, place.size);
    const target: RangeTarget = { ekey: place.ekey, offset: place.offset, size: place.size, held };
    const start = place.offset + held;
    const end = place.offset + place.size;
    const last = jobs.at(-1);
    const joins =
      last !== undefined && last.path === path && place.offset >= last.end && start - last.end <= options.gapBytes;
    if (joins && end - last.start <= options.maxRangeBytes) {
      last.targets.push(target);
      last.end = end;
    } else {
      jobs.push({
        path,
        file: place.loose ? partialFile(store, place.object.hash) : store.file(path),
        start,
        end,
        targets: [target],
      });
    }
  }
  return jobs;
}

/** Where a loose object grows until it is whole. */
export function partialFile(store: Store, hash: string): string {
  return `${store.layout.temporary}/${hash}.partial`;
}

/** Gives a loose object that is whole its final name. */
export function completeLoose(store: Store, job: RangeJob, target: RangeTarget): void {
  const final = store.file(job.path);
  if (job.file === final) return;
  try {
    moveDurable(job.file, final);
  } catch (error) {
    // Another process that fetched the same object was first: the name holds the same bytes.
    if (codeOf(error) !== 'ENOENT' || !fs.existsSync(final)) throw storeError(error, final);
  }
  store.ledger.transaction(() => store.ledger.addComplete(job.path, target.size));
}

/** Gathers spans that engines report, and commits them together a few times a second. */
export interface SpanCommitter {
  add(path: string, spans: Span[]): void;
  /** Commits what waits; to be called at the end. */
  flush(): void;
  /** Runs inside each commit, with the bytes that it adds. */
  onCommit: ((bytes: number) => void) | undefined;
}

/** A committer for a store's ledger. */
export function spanCommitter(store: Store): SpanCommitter {
  const waiting = new Map<string, Span[]>();
  let timer: NodeJS.Timeout | undefined;
  const tryFlush = (): void => {
    try {
      committer.flush();
    } catch {
      // What could not be committed still waits: the flush at the end commits it, or says why not.
    }
  };
  const committer: SpanCommitter = {
    onCommit: undefined,
    add(path, spans) {
      const list = waiting.get(path);
      if (list === undefined) waiting.set(path, [...spans]);
      else list.push(...spans);
      timer ??= setTimeout(tryFlush, commitMs);
    },
    flush() {
      clearTimeout(timer);
      timer = undefined;
      if (waiting.size === 0) return;
      store.ledger.transaction(() => {
        let bytes = 0;
        for (const [path, spans] of waiting) {
          store.ledger.addSpans(path, spans);
          bytes += spanBytes(spans);
        }
        committer.onCommit?.(bytes);
      });
      waiting.clear();
    },
  };
  return committer;
}
