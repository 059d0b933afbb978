import { statSync } from 'node:fs';
import { codeOf } from '../core/errors.ts';
import { nameMatcher } from '../core/glob.ts';
import { isBuildSource } from '../sources/build-source.ts';
import { type Difference, diffSources } from '../sources/diff/diff.ts';
import { folderSource } from '../sources/folder-source.ts';
import type { Source } from '../sources/source.ts';
import type { Amount } from '../store/ledger/ledger.ts';
import type { Session, SessionHooks } from './compose.ts';
import { type FetchNeed, fetchNeed } from './diff-fetch.ts';
import { type DiffSummary, summarize } from './diff-summary.ts';
import { exitCodeOf } from './exit-codes.ts';
import type { GlobalOptions } from './global-options.ts';
import { localOptions, type PakFlags } from './pak-options.ts';
import type { Progress } from './render/progress.ts';
import { parseSourceName, withSource } from './sources.ts';

/** What `diff` was asked for. */
export interface DiffRequest {
  before: string;
  after: string;
  /** Only names that match one; empty for all. */
  globs: readonly string[];
  /** How PAKs are read. */
  pak: PakFlags;
}

/** What `diff` found: the files, one at a time, and what they come to. */
export interface DiffReport {
  difference: Difference;
  summary: DiffSummary;
}

type DiffHooks = SessionHooks & { progress: Progress };

/** Compares two sources from a command line's request to its report. */
export async function runDiff(options: GlobalOptions, request: DiffRequest, hooks: DiffHooks): Promise<DiffReport> {
  const { progress } = hooks;
  const onStep = (phase: string): void => progress.update({ phase, done: 0, total: 0 });
  const open: Opening = { options, pak: request.pak, hooks: { ...hooks, onStep } };
  try {
    return await withSide(open, request.before, (before) =>
      withSide(open, request.after, (after) => compare(open, { before, after }, request)),
    );
  } finally {
    progress.end();
  }
}

interface Opening {
  options: GlobalOptions;
  pak: PakFlags;
  hooks: DiffHooks;
}

interface Side {
  source: Source;
  /** Of a build of the store. */
  session: Session | undefined;
}

async function withSide<Result>(
  { options, pak, hooks }: Opening,
  text: string,
  body: (side: Side) => Promise<Result>,
): Promise<Result> {
  const folder = await plainFolder(text, pak);
  if (folder !== undefined) return body({ source: folderSource(folder), session: undefined });
  return withSource(options, text, { hooks, pak }, (source, session) => body({ source, session }));
}

/** The path of a folder that is asked for as such with `folder:`, or that is none of any game. */
async function plainFolder(text: string, pak: PakFlags): Promise<string | undefined> {
  if (text.startsWith('folder:')) return text.slice('folder:'.length);
  const isLocal = parseSourceName(text).scheme === 'pak';
  if (!isLocal || statSync(text, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return undefined;
  }
  const { findPakFolders } = await import('../paks/index.ts');
  const folders = await findPakFolders(text, await localOptions(pak, text));
  return folders === undefined ? text : undefined;
}

async function compare(
  { hooks }: Opening,
  { before, after }: { before: Side; after: Side },
  { globs }: DiffRequest,
): Promise<DiffReport> {
  const { progress, signal } = hooks;
  const difference = await diffSources(before.source, after.source, {
    matches: globs.length === 0 ? () => true : nameMatcher(globs),
    signal,
    onProgress: (phase, done, total) => progress.update({ phase, done, total }),
  });
  if (difference.repeated > 0) {
    hooks.note(`Note: ${difference.repeated} files have the name of one before them and are left out.`);
  }
  const fetch = await need({ before, after }, globs, hooks);
  return { difference, summary: summarize(difference, fetch) };
}

/** What a sync would fetch; undefined where not both are builds, or nothing says. */
async function need(
  { before, after }: { before: Side; after: Side },
  globs: readonly string[],
  hooks: DiffHooks,
): Promise<FetchNeed | undefined> {
  if (after.session === undefined || !isBuildSource(after.source) || !isBuildSource(before.source)) return undefined;
  hooks.onStep?.('plan');
  try {
    return await fetchNeed(before.source.build, { build: after.source.build, session: after.session }, globs);
  } catch (error) {
    // A sync refuses globs that choose nothing; here there is just nothing to fetch.
    if (codeOf(error) === 'E_NOT_FOUND' && globs.length > 0) return { fetch: nothing, missing: nothing };
    if (codeOf(error) !== 'E_OFFLINE') throw error;
    hooks.note('Note: what a sync would fetch is not known, for a manifest of a build is not held.');
    return undefined;
  }
}

const nothing: Amount = { entries: 0, bytes: 0 };

/** 0 when everything could be compared, whatever differs; with `tells` 1 when something differs. Else what the first failure says. */
export function diffExitCode({ difference }: DiffReport, tells: boolean): number {
  const [failed] = difference.failed;
  if (failed !== undefined) return exitCodeOf(failed.code);
  return tells && difference.count > 0 ? 1 : 0;
}
