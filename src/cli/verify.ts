import { isPakSource } from '../sources/paks/pak-source.ts';
import { type VerifyProblem, type VerifyResult, verifyPak } from '../sources/paks/verify-pak.ts';
import type { SessionHooks } from './compose.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import { problemLine, unsureLines } from './extract.ts';
import { fileProgress } from './file-progress.ts';
import type { GlobalOptions } from './global-options.ts';
import type { PakFlags } from './pak-options.ts';
import { formatBytes, formatCount, plural } from './render/bytes.ts';
import type { Progress } from './render/progress.ts';
import { parseSourceName, withSource } from './sources.ts';

/** What `verify` was asked for. */
export interface VerifyRequest {
  /** Undefined: everything that the store holds. */
  source: string | undefined;
  repair: boolean;
  pak: PakFlags;
}

type VerifyHooks = SessionHooks & { progress: Progress };

/** Checks a PAK, what the store holds of a build, or the whole store. */
export async function runVerify(
  options: GlobalOptions,
  request: VerifyRequest,
  hooks: VerifyHooks,
): Promise<VerifyResult> {
  try {
    const named = request.source === undefined ? undefined : parseSourceName(request.source);
    if (named?.scheme === 'pak') return await verifyLocal(options, request, hooks);
    if (named?.scheme === 'casc' || named?.scheme === 'cdn') {
      if (request.repair) hooks.note('Note: nothing can be repaired in this folder; it is only checked.');
      const { verifyLocalBuild } = await import('./local-source.ts');
      return await verifyLocalBuild(options, { scheme: named.scheme, rest: named.rest }, hooks);
    }
    const { verifyStore } = await import('./verify-store.ts');
    return await verifyStore(options, { spec: named?.rest, repair: request.repair }, hooks);
  } finally {
    hooks.progress.end();
  }
}

async function verifyLocal(
  options: GlobalOptions,
  { source: text, repair, pak }: VerifyRequest,
  hooks: VerifyHooks,
): Promise<VerifyResult> {
  if (repair) hooks.note('Note: nothing can be fetched for a PAK; it is only checked.');
  const { signal, progress } = hooks;
  const { onPlan, onFile } = fileProgress(progress, 'verify');
  return withSource(options, text!, { hooks, pak, readsAll: true }, async (source) => {
    if (!isPakSource(source)) throw new Error('a local source that is no PAK');
    return verifyPak(source, { signal, onPlan, onEntry: onFile });
  });
}

/** 0 when nothing is bad or all was repaired, 3 when something is damaged, else what the first thing that could not be checked says. */
export function verifyExitCode({ bad, repaired }: VerifyResult): number {
  if (bad.length === repaired) return exitCodes.done;
  const isUnchecked = (code: string): boolean => code === 'E_KEY_MISSING' || code === 'E_UNSUPPORTED';
  return bad.every(({ code }) => isUnchecked(code)) ? exitCodeOf(bad[0]!.code) : exitCodes.integrity;
}

/** The result in words. */
export function renderVerify({ checked, bad, repaired, unsure = [] }: VerifyResult): string {
  const lines = [`${plural(checked.entries, 'entry', 'entries')} (${formatBytes(checked.bytes)}) checked`];
  if (unsure.length > 0) lines.push(...unsureLines(unsure));
  lines.push(bad.length === 0 ? 'all right' : `${formatCount(bad.length)} bad, ${formatCount(repaired)} repaired`);
  for (const { name, message } of grouped(bad)) lines.push(problemLine(name === '' ? 'directory' : name, message));
  return lines.join('\n');
}

/** Entries of one archive that have the same trouble take one line together: there are thousands when its file is gone. */
function grouped(bad: readonly VerifyProblem[]): { name: string; message: string }[] {
  const groups = new Map<string, { name: string; message: string; archive: string; count: number }>();
  for (const { name, message } of bad) {
    const [, archive] = /^(\S+) [0-9a-f]{32}$/.exec(name) ?? [];
    const key = archive === undefined ? `${groups.size}` : `${archive} ${message}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { name, message, archive: archive ?? name, count: 1 });
    else known.count += 1;
  }
  return [...groups.values()].map(({ name, message, archive, count }) =>
    count === 1 ? { name, message } : { name: archive, message: `${plural(count, 'entry', 'entries')}: ${message}` },
  );
}
