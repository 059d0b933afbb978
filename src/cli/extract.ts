import { type ExtractResult, extractFiles } from '../sources/extract.ts';
import type { SessionHooks } from './compose.ts';
import { exitCodeOf } from './exit-codes.ts';
import type { GlobalOptions } from './global-options.ts';
import { formatBytes, formatCount } from './render/bytes.ts';
import type { Progress } from './render/progress.ts';
import { withSource } from './sources.ts';

/** What `extract` was asked for. */
export interface ExtractRequest {
  source: string;
  names: readonly string[];
  to: string;
}

/** Runs an extraction from a command line's request to its result. */
export async function runExtract(
  options: GlobalOptions,
  request: ExtractRequest,
  hooks: SessionHooks & { progress: Progress },
): Promise<ExtractResult> {
  const { progress, signal } = hooks;
  const state = { phase: 'extract', done: 0, total: 0, files: { done: 0, total: 0 } };
  const onStep = (phase: string): void => progress.update({ phase, done: 0, total: 0 });
  try {
    return await withSource(options, request.source, { hooks: { ...hooks, onStep } }, (source) =>
      extractFiles(source, {
        ...{ names: request.names, to: request.to, signal },
        onFile(_entry, bytes) {
          state.done += bytes;
          state.files.done += 1;
          progress.update({ ...state, files: { ...state.files } });
        },
      }),
    );
  } finally {
    progress.end();
  }
}

/** What an extraction exits with: 0, or what the first failure would exit with; a missing key only when nothing worse happened. */
export function extractExitCode(result: ExtractResult): number {
  const worst = result.failed.find(({ code }) => code !== 'E_KEY_MISSING') ?? result.failed[0];
  return worst === undefined ? 0 : exitCodeOf(worst.code);
}

/** The result in words: a line of figures, then the files that failed, those of one reason together. */
export function renderExtract(result: ExtractResult, to: string): string {
  const { files, bytes, skipped, failed } = result;
  const already = skipped > 0 ? `, ${formatCount(skipped)} were there already` : '';
  const lines = [`${formatCount(files)} files (${formatBytes(bytes)}) extracted to ${to}${already}`];
  if (failed.length > 0) lines.push(`${formatCount(failed.length)} not extracted:`);
  for (const { name, message } of failed) lines.push(`  ${name}: ${message}`);
  return lines.join('\n');
}
