import { once } from 'node:events';
import { type ExtractOptions, type ExtractResult, extractFiles } from '../sources/extract.ts';
import type { SessionHooks } from './compose.ts';
import { exitCodeOf } from './exit-codes.ts';
import type { GlobalOptions } from './global-options.ts';
import type { PakFlags } from './pak-options.ts';
import { formatBytes, formatCount } from './render/bytes.ts';
import type { Progress } from './render/progress.ts';
import { withSource } from './sources.ts';

/** What `extract` was asked for. */
export interface ExtractRequest extends Omit<ExtractOptions, 'onPlan' | 'onFile' | 'signal'> {
  source: string;
  /** How a PAK is read. */
  pak?: PakFlags | undefined;
  /** Where a tar goes, instead of files to a folder. */
  tar?: NodeJS.WritableStream | undefined;
}

/** Runs an extraction from a command line's request to its result. */
export async function runExtract(
  options: GlobalOptions,
  request: ExtractRequest,
  hooks: SessionHooks & { progress: Progress },
): Promise<ExtractResult> {
  const { progress, signal } = hooks;
  const { source: text, pak, tar, ...choice } = request;
  const state = { phase: 'extract', done: 0, total: 0, files: { done: 0, total: 0 } };
  const show = (): void => progress.update({ ...state, files: { ...state.files } });
  const onStep = (phase: string): void => progress.update({ phase, done: 0, total: 0 });
  const work: ExtractOptions = {
    ...{ ...choice, signal },
    onPlan(files, bytes) {
      state.total = bytes;
      state.files.total = files;
      show();
    },
    onFile(bytes) {
      state.done += bytes;
      state.files.done += 1;
      show();
    },
  };
  const readsAll = tar === undefined && choice.names.length === 0 && choice.threads === undefined;
  try {
    return await withSource(options, text, { hooks: { ...hooks, onStep }, pak, readsAll }, async (source) => {
      if (tar === undefined) return extractFiles(source, work);
      const { tarFiles } = await import('../sources/extract-tar.ts');
      const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
      for await (const piece of tarFiles(source, work, result)) {
        if (!tar.write(piece)) await once(tar, 'drain');
      }
      return result;
    });
  } finally {
    progress.end();
  }
}

/** What an extraction exits with: 0, or what the first failure would exit with; a missing key only when nothing worse happened. */
export function extractExitCode(result: ExtractResult): number {
  const worst = result.failed.find(({ code }) => code !== 'E_KEY_MISSING') ?? result.failed[0];
  return worst === undefined ? 0 : exitCodeOf(worst.code);
}

/** The result in words: a line of figures, then the files that failed. */
export function renderExtract(result: ExtractResult, to: string): string {
  const { files, bytes, skipped, failed, unsure = [] } = result;
  const already = skipped > 0 ? `, ${formatCount(skipped)} were there already` : '';
  const lines = [`${formatCount(files)} files (${formatBytes(bytes)}) extracted to ${to}${already}`];
  if (unsure.length > 0) lines.push(...unsureLines(unsure));
  if (failed.length > 0) lines.push(`${formatCount(failed.length)} not extracted:`);
  for (const { name, message } of failed) lines.push(`  ${name}: ${message}`);
  return lines.join('\n');
}

/** Files that may be wrong although nothing tells, in words. */
export function unsureLines(names: readonly string[]): string[] {
  return [
    `${formatCount(names.length)} may be wrong, for nothing tells whether they were decrypted right (feedback unverified):`,
    ...names.map((name) => `  ${name}`),
  ];
}
