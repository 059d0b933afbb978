import { isPakratError, PakratError } from '../core/errors.ts';
import type { Amount } from '../store/ledger.ts';
import { requestCount } from '../sync/plan.ts';
import { amountsByTag, type Selection } from '../sync/selection.ts';
import { planSync, type SyncTools, syncBuild } from '../sync/sync-build.ts';
import { type Session, type SessionHooks, withSession } from './compose.ts';
import type { GlobalOptions } from './global-options.ts';
import { formatBytes, formatCount, formatDuration, parseSize } from './render/bytes.ts';
import type { Progress } from './render/progress.ts';

/** What `sync` was asked for. */
export interface SyncRequest {
  build: string;
  selection: Selection;
  dryRun: boolean;
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
  /** Entries that this run brought, bytes and requests of all kinds that it took. */
  fetched: Amount & { requests: number };
  missing: Amount;
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
  const onStep = (phase: string): void => progress.update({ phase, done: 0, total: 0 });
  const session = {
    create: true,
    fresh: true,
    jobs: request.jobs,
    bytesPerSecond: request.bytesPerSecond,
    threads: request.threads,
  };
  try {
    return await withSession(options, { ...session, hooks: { ...hooks, onStep } }, (opened) =>
      sync(opened, request, { options, hooks, started }),
    );
  } finally {
    progress.end();
  }
}

async function sync(
  session: Session,
  request: SyncRequest,
  context: { options: GlobalOptions; hooks: SyncHooks; started: number },
): Promise<SyncReport> {
  const { lockStore } = await import('../store/lock.ts');
  const unlock = request.dryRun || context.options.offline ? undefined : lockStore(session.store.layout.lock);
  try {
    // Its threads start while the version service and the configs are asked for.
    if (!request.dryRun) await session.engine();
    const identity = await session.resolve(request.build);
    const build = await session.openBuild(identity);
    try {
      const { product, name, buildConfig, cdnConfig } = identity;
      const report = { product, build: { name, buildConfig, cdnConfig } };
      const tools = syncTools(session, build, context);
      if (request.dryRun)
        return { ...report, ...(await dryRun(session, tools, request)), seconds: secondsSince(context.started) };
      const result = await trackSync(session, tools, request, context.hooks);
      const fetched = {
        entries: result.fetchedEntries,
        bytes: session.traffic.bytes,
        requests: session.traffic.requests,
      };
      const { wanted, held, missing } = result;
      const full: SyncReport = { ...report, wanted, held, fetched, missing, seconds: secondsSince(context.started) };
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

/** That hosts which work gave some object wrong each time may be over when the command is run again, as for any entry that is left. */
function resumable(error: unknown): unknown {
  if (!isPakratError(error) || error.code !== 'E_NETWORK_EXHAUSTED') return error;
  return new PakratError('E_INCOMPLETE', error.message, { hint: runAgain, data: error.data });
}

function syncTools(session: Session, build: SyncTools['build'], context: { options: GlobalOptions }): SyncTools {
  const { gapBytes, maxRangeBytes } = context.options.settings.sync;
  return {
    store: session.store,
    build,
    cdn: () => session.cdn(),
    engine: () => session.engine(),
    committer: session.committer,
    jobs: session.jobs,
    planOptions: { gapBytes, maxRangeBytes },
  };
}

function secondsSince(started: number): number {
  return Math.round(performance.now() - started) / 1000;
}

type Tracked = Awaited<ReturnType<typeof syncBuild>> & { fetchedEntries: number };

/** Runs the sync with its progress shown. */
async function trackSync(session: Session, tools: SyncTools, request: SyncRequest, hooks: SyncHooks): Promise<Tracked> {
  let total = 0;
  let files = { done: 0, total: 0 };
  const overhead = session.traffic.bytes;
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
  } finally {
    clearInterval(timer);
  }
}

async function dryRun(
  session: Session,
  tools: SyncTools,
  request: SyncRequest,
): Promise<Omit<SyncReport, 'product' | 'build' | 'seconds'>> {
  const { plan, wanted } = await planSync(tools, request.selection);
  const download = await tools.build.download();
  const tags = download === undefined ? [] : amountsByTag(wanted, download);
  return {
    ...{ wanted: plan.wanted, held: plan.held, missing: plan.missing },
    fetched: { entries: 0, bytes: session.traffic.bytes, requests: session.traffic.requests },
    plan: {
      bytes: plan.rangeBytes,
      requests: requestCount(plan, tools.planOptions.maxRangeBytes),
      priorities: [...plan.byPriority].sort(([a], [b]) => a - b).map(([priority, amount]) => ({ priority, ...amount })),
      tags: tags.map(({ tag, amount }) => ({ tag: tag.name, type: tag.type, ...amount })),
    },
  };
}

const runAgain = 'Run the same command again to go on; what was fetched stays.';

function incomplete(report: SyncReport, failures: readonly { path: string; message: string }[]): PakratError {
  const { missing } = report;
  const shown = [...new Map(failures.map(({ path, message }) => [path, message])).values()].slice(0, 2);
  const what =
    missing.entries > 0
      ? `${formatCount(missing.entries)} entries (${formatBytes(missing.bytes)}) are still missing`
      : `${failures.length} objects are missing`;
  return new PakratError('E_INCOMPLETE', `${what}: ${shown.join('; ')}`, {
    hint: runAgain,
    data: {
      missingEntries: missing.entries,
      missingBytes: missing.bytes,
      failures: failures.slice(0, 20).map((failure) => failure.message),
    },
  });
}

/** The report in words. */
export function renderSync(report: SyncReport): string {
  const { build, product, wanted, held, fetched, missing, seconds, plan } = report;
  const lines = [`${product} ${build.name} (build config ${build.buildConfig})`];
  const amount = ({ entries, bytes }: Amount): string => `${formatCount(entries)} entries, ${formatBytes(bytes)}`;
  lines.push(`  wanted   ${amount(wanted)}`, `  held     ${amount(held)}`);
  if (plan === undefined) {
    lines.push(
      `  fetched  ${amount(fetched)} in ${formatCount(fetched.requests)} requests, ${formatDuration(seconds)}`,
    );
  } else {
    lines.push(
      `  missing  ${amount(missing)}`,
      `  plan     ${formatBytes(plan.bytes)} in ${formatCount(plan.requests)} requests`,
    );
    if (plan.priorities.length > 0) lines.push('', '  missing by priority (lower is sooner)');
    for (const { priority, ...rest } of plan.priorities)
      lines.push(`    ${String(priority).padStart(4)}  ${amount(rest)}`);
    if (plan.tags.length > 0) lines.push('', '  wanted by tag');
    for (const { tag, ...rest } of plan.tags) lines.push(`    ${tag.padEnd(12)}  ${amount(rest)}`);
  }
  return lines.join('\n');
}
