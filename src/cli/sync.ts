import { PakratError } from '../core/errors.ts';
import { requestCount } from '../fetch/plan/plan.ts';
import { amountsByTag, type Selection } from '../fetch/plan/selection.ts';
import type { Amount } from '../store/ledger/ledger.ts';
import type { PatchedAmount } from '../sync/patches/patch-plan.ts';
import { planPatchedSync, type SyncTools, syncBuild } from '../sync/sync-build.ts';
import { type Session, type SessionHooks, withSession } from './compose.ts';
import type { GlobalOptions } from './global-options.ts';
import { parseSize } from './render/bytes.ts';
import type { Progress } from './render/progress.ts';
import { type StepProgress, stepProgress } from './step-progress.ts';
import { incomplete, interrupted, resumable } from './sync-errors.ts';

/** What `sync` was asked for. */
export interface SyncRequest {
  build: string;
  selection: Selection;
  dryRun: boolean;
  /** Patch what is held of older builds where that fetches less. */
  patch?: boolean | undefined;
  jobs?: number | undefined;
  bytesPerSecond?: number | undefined;
  threads?: number | undefined;
}

/** What `sync --json` prints. */
export interface SyncReport {
  product: string;
  build: { name: string; buildConfig: string; cdnConfig: string };
  wanted: Amount;
  held: Amount;
  /** Entries that this run brought, manifests included; bytes and requests of all kinds that it took. */
  fetched: Amount & { requests: number };
  missing: Amount;
  /** With --patch: what was made out of older entries (they are among `fetched.entries`); with --dry-run what would be. */
  patched?: PatchedAmount;
  seconds: number;
  /** With --dry-run: what would be fetched. */
  plan?: {
    /** Bytes that the ranges ask for, with the gaps between entries. */
    bytes: number;
    requests: number;
    priorities: ({ priority: number } & Amount)[];
    tags: ({ tag: string; type: number } & Amount)[];
  };
}

/** `--limit-rate` in bytes a second. @throws E_USAGE */
export function parseRate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rate = parseSize(text);
  if (rate < 1) throw new PakratError('E_USAGE', '--limit-rate must be above zero');
  return rate;
}

/** `--tags` as a list. @throws E_USAGE when it names none: that would be the whole build */
export function parseTags(text: string | undefined): string[] {
  const tags = (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  if (text !== undefined && tags.length === 0) {
    throw new PakratError('E_USAGE', '--tags names no tag', { hint: 'Leave it away for the whole build.' });
  }
  return tags;
}

type SyncHooks = SessionHooks & { progress: Progress };

/**
 * Runs a sync from a command line's request to its report.
 * @throws E_INCOMPLETE when some entries or manifests were given right by no host, else as syncBuild
 */
export async function runSync(options: GlobalOptions, request: SyncRequest, hooks: SyncHooks): Promise<SyncReport> {
  const { progress } = hooks;
  if (options.offline && !request.dryRun) {
    throw new PakratError('E_USAGE', 'sync fetches, and --offline forbids that', {
      hint: 'Leave --offline away, or add --dry-run.',
    });
  }
  const started = performance.now();
  const steps = stepProgress(progress);
  const session = {
    create: true,
    fresh: true,
    jobs: request.jobs,
    bytesPerSecond: request.bytesPerSecond,
    threads: request.threads,
  };
  try {
    return await withSession(options, { ...session, hooks: { ...hooks, onStep: steps.onStep } }, (opened) => {
      steps.watch(() => opened.traffic.bytes);
      return sync(opened, request, { options, hooks, started, steps });
    });
  } finally {
    steps.end();
    progress.end();
  }
}

async function sync(
  session: Session,
  request: SyncRequest,
  context: { options: GlobalOptions; hooks: SyncHooks; started: number; steps: StepProgress },
): Promise<SyncReport> {
  const { steps } = context;
  const { lockStore } = await import('../store/ledger/lock.ts');
  const unlock = request.dryRun || context.options.offline ? undefined : lockStore(session.store.layout.lock);
  try {
    // Its threads start while the version service and the configs are asked for.
    if (!request.dryRun) await session.engine();
    steps.onStep('version service');
    const identity = await session.resolve(request.build);
    steps.onStep('configs');
    const build = await session.openBuild(identity);
    try {
      const { product, name, buildConfig, cdnConfig } = identity;
      const report = { product, build: { name, buildConfig, cdnConfig } };
      const tools = syncTools(session, build, { ...context, request });
      if (request.dryRun)
        return {
          ...report,
          ...(await dryRun(session, tools, { request, hooks: context.hooks })),
          seconds: secondsSince(context.started),
        };
      const result = await trackSync(session, tools, request, context);
      noteWhyNotPatched(context.hooks, result.patchReason);
      const fetched = {
        entries: session.traffic.entries + result.fetchedEntries,
        bytes: session.traffic.bytes,
        requests: session.traffic.requests,
      };
      const { wanted, held, missing, patched } = result;
      const full: SyncReport = {
        ...{ ...report, wanted, held, fetched, missing },
        ...(patched && { patched }),
        seconds: secondsSince(context.started),
      };
      if (missing.entries > 0 || result.failures.length > 0) throw incomplete(full, result.failures);
      return full;
    } finally {
      build.close();
    }
  } catch (error) {
    throw session.hosts.anyProven ? resumable(error) : error;
  } finally {
    unlock?.();
  }
}

function syncTools(
  session: Session,
  build: SyncTools['build'],
  { options, request }: { options: GlobalOptions; request: SyncRequest },
): SyncTools {
  const { gapBytes, maxRangeBytes, patchGapBytes, patchMaxBytes } = options.settings.sync;
  return {
    store: session.store,
    build,
    cdn: async () => {
      // A dry run may be offline; the lists of patches are then those that are held.
      if (options.offline) throw new PakratError('E_OFFLINE', 'nothing may be fetched: --offline is given');
      return session.cdn();
    },
    engine: () => session.engine(),
    committer: session.committer,
    jobs: session.jobs,
    planOptions: { gapBytes, maxRangeBytes },
    patches: request.patch === true ? { gapBytes: patchGapBytes, maxBytes: patchMaxBytes } : undefined,
  };
}

function noteWhyNotPatched({ note }: SyncHooks, reason: string | undefined): void {
  if (reason !== undefined) note(`--patch: ${reason}`);
}

function secondsSince(started: number): number {
  return Math.round(performance.now() - started) / 1000;
}

type Tracked = Awaited<ReturnType<typeof syncBuild>> & { fetchedEntries: number };

/** Runs the sync with its progress shown. */
async function trackSync(
  session: Session,
  tools: SyncTools,
  request: SyncRequest,
  { hooks, steps }: { hooks: SyncHooks; steps: StepProgress },
): Promise<Tracked> {
  let total = 0;
  let files = { done: 0, total: 0 };
  let overhead = 0;
  const hosts = session.hosts.all.filter((host) => !host.fallback).map((host) => host.base.replace(/^https?:\/\//, ''));
  const show = (): void => {
    if (total > 0)
      hooks.progress.update({
        phase: 'data',
        done: Math.min(session.traffic.bytes - overhead, total),
        total,
        files,
        hosts,
      });
  };
  const timer = setInterval(show, 100);
  let fetchedEntries = 0;
  try {
    const result = await syncBuild(
      {
        ...tools,
        onEvent(event) {
          if (event.type === 'planned') {
            steps.end();
            overhead = session.traffic.bytes;
            total = event.plan.rangeBytes;
            files = { done: 0, total: event.plan.missing.entries };
          } else {
            fetchedEntries += 1;
            files = { done: fetchedEntries, total: files.total };
          }
          show();
        },
      },
      request.selection,
    );
    return { ...result, fetchedEntries };
  } catch (error) {
    throw total > 0 ? interrupted(error, session.store.ledger, tools.build.identity) : error;
  } finally {
    clearInterval(timer);
  }
}

async function dryRun(
  session: Session,
  tools: SyncTools,
  { request, hooks }: { request: SyncRequest; hooks: SyncHooks },
): Promise<Omit<SyncReport, 'product' | 'build' | 'seconds'>> {
  const { plan, wanted, patches } = await planPatchedSync(tools, request.selection);
  noteWhyNotPatched(hooks, patches?.reason);
  const download = await tools.build.download();
  const tags = download === undefined ? [] : amountsByTag(wanted, download);
  return {
    ...{ wanted: plan.wanted, held: plan.held, missing: plan.missing },
    fetched: { entries: session.traffic.entries, bytes: session.traffic.bytes, requests: session.traffic.requests },
    ...(patches && { patched: patches.expected }),
    plan: {
      bytes: plan.rangeBytes + (patches?.jobBytes ?? 0),
      requests: requestCount(plan, tools.planOptions.maxRangeBytes) + (patches?.jobs.length ?? 0),
      priorities: [...plan.byPriority].sort(([a], [b]) => a - b).map(([priority, amount]) => ({ priority, ...amount })),
      tags: tags.map(({ tag, amount }) => ({ tag: tag.name, type: tag.type, ...amount })),
    },
  };
}
