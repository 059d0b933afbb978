import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { concatBytes } from '../core/bytes.ts';
import { PakratError } from '../core/errors.ts';
import { type ExtractOptions, type ExtractResult, extractFiles } from '../sources/extract/extract.ts';
import type { ListEntry } from '../sources/extract/extract-list.ts';
import type { Source } from '../sources/source.ts';
import type { SessionHooks } from './compose.ts';
import { exitCodeOf } from './exit-codes.ts';
import { fileProgress } from './file-progress.ts';
import type { GlobalOptions } from './global-options.ts';
import { withNamesHint } from './names-hint.ts';
import type { PakFlags } from './pak-options.ts';
import { formatBytes, formatCount, plural } from './render/bytes.ts';
import type { Progress } from './render/progress.ts';
import { printable } from './render/text.ts';
import { withSource } from './sources.ts';

/** What `extract` was asked for. */
export interface ExtractRequest extends Omit<ExtractOptions, 'onPlan' | 'onFile' | 'onNote' | 'signal' | 'list'> {
  source: string;
  /** A file with a list of what to extract; `-` for stdin. */
  list?: string | undefined;
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
  const { source: text, pak, tar, list, ...choice } = request;
  if (choice.to === '') throw new PakratError('E_USAGE', '--to names no folder', { hint: 'Write . for this one.' });
  const onStep = (phase: string): void => progress.update({ phase, done: 0, total: 0 });
  const work: ExtractOptions = {
    ...{ ...choice, signal, list: list === undefined ? undefined : await readList(list) },
    onNote: (text) => hooks.note(`Note: ${text}.`),
    ...fileProgress(progress, 'extract'),
  };
  const takesAll = choice.names.length === 0 && list === undefined;
  const readsAll = tar === undefined && takesAll && choice.threads === undefined;
  try {
    return await withSource(options, text, { hooks: { ...hooks, onStep }, pak, readsAll }, async (source, session) => {
      try {
        return await (tar === undefined ? extractFiles(source, work) : extractTar(source, work, tar));
      } catch (error) {
        throw await withNamesHint(error, source, session);
      }
    });
  } finally {
    progress.end();
  }
}

/** Reads a list of files to extract. @throws E_FORMAT, E_NOT_FOUND */
async function readList(path: string): Promise<ListEntry[]> {
  const { decodeExtractList, maxListBytes } = await import('../sources/extract/extract-list.ts');
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of path === '-' ? process.stdin : createReadStream(path)) {
    pieces.push(piece as Buffer);
    size += (piece as Buffer).length;
    if (size > maxListBytes) throw new PakratError('E_USAGE', `${path}: a list of more than ${maxListBytes} bytes`);
  }
  return decodeExtractList(concatBytes(pieces));
}

async function extractTar(source: Source, work: ExtractOptions, tar: NodeJS.WritableStream): Promise<ExtractResult> {
  const { tarFiles } = await import('../sources/extract/extract-tar.ts');
  const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
  for await (const piece of tarFiles(source, work, result)) {
    if (!tar.write(piece)) await once(tar, 'drain');
  }
  return result;
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
  const lines = [`${plural(files, 'file', 'files')} (${formatBytes(bytes)}) extracted to ${to}${already}`];
  if (unsure.length > 0) lines.push(...unsureLines(unsure));
  if (failed.length > 0) lines.push(`${formatCount(failed.length)} not extracted:`);
  for (const { name, message } of failed) lines.push(problemLine(name, message));
  return lines.join('\n');
}

/** What is wrong with a file, on one line that a terminal shows as it is: names come from outside. Messages often start with the name. */
export function problemLine(name: string, message: string): string {
  const isNamed = message.startsWith(`${name}:`) || message.startsWith(`${name} `);
  return `  ${printable(isNamed ? message : `${name}: ${message}`)}`;
}

/** Files that may be wrong although nothing tells, in words. */
export function unsureLines(names: readonly string[]): string[] {
  return [
    `${formatCount(names.length)} may be wrong, for nothing tells whether they were decrypted right (feedback unverified):`,
    ...names.map((name) => `  ${printable(name)}`),
  ];
}
