import { Command } from '@oclif/core/command';
import { ExitError } from '@oclif/core/errors';
import { codeOf, PakratError } from '../core/errors.ts';
import { type ErrorReport, errorJson, errorReport, errorText } from './error-report.ts';
import { exitCodes } from './exit-codes.ts';
import { type GlobalFlags, type GlobalOptions, globalFlags, globalOptions } from './global-options.ts';
import { toJson } from './render/json.ts';
import { createProgress, type Progress } from './render/progress.ts';
import { printableBlock } from './render/text.ts';

/** How a source is named, for the help of each command that takes one. */
export const sourceHelp =
  'PRODUCT or PRODUCT@BUILD, or the path of a PAK, a game directory, an installed game or a CDN folder (PATH@BUILD).';

/**
 * What every command of pakrat is. It has the global flags and --json, prints errors for people or for scripts with one exit code
 * both ways, hears Ctrl-C when it asks for `signal`, and ends quietly when nobody reads its output any more.
 * A command gives back what --json prints; it writes its text with `log` (silent under --json) and its notes with `note`.
 */
export abstract class PakratCommand extends Command {
  static override enableJsonFlag = true;
  static override baseFlags = globalFlags;

  #abort: AbortController | undefined;
  #quiet = false;

  /** The global options from the flags that `parse` gave. Call it before `note` and `progress`: it says whether they are quiet. */
  protected globals(flags: GlobalFlags): GlobalOptions {
    const options = globalOptions(flags, this.config.dataDir);
    this.#quiet = options.quiet;
    return options;
  }

  /**
   * Aborted by the first Ctrl-C (or SIGTERM), with E_ABORTED as its reason; a second one ends the process at once.
   * A command that never asks for this is ended by the first, as any program.
   */
  protected get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      process.on('SIGINT', this.#interrupt);
      process.on('SIGTERM', this.#interrupt);
    }
    return this.#abort.signal;
  }

  readonly #interrupt = (): void => {
    if (this.#abort === undefined || this.#abort.signal.aborted) process.exit(exitCodes.interrupted);
    this.#abort.abort(
      new PakratError('E_ABORTED', 'interrupted', { hint: 'Run the same command again to go on where it stopped.' }),
    );
  };

  /** A line on stderr, unless --quiet. */
  protected note(text: string): void {
    if (!this.#quiet) process.stderr.write(`${printableBlock(text)}\n`);
  }

  /** Progress on stderr: a bar on a terminal, a line now and then elsewhere, nothing with --quiet. */
  protected progress(): Progress {
    return createProgress({ stream: process.stderr, isTty: process.stderr.isTTY === true, quiet: this.#quiet });
  }

  /** Columns that a table on stdout may take: those of the terminal, any number when it is none. */
  protected get width(): number {
    return process.stdout.isTTY ? (process.stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  }

  override async init(): Promise<void> {
    await super.init();
    // Before oclif's own, which would throw. It stays: --json is printed when all else is over.
    if (!process.stdout.listeners('error').includes(endOutput)) process.stdout.prependListener('error', endOutput);
    process.stderr.on('error', ignoreBrokenPipe);
    process.once('uncaughtException', reportBug);
  }

  override async finally(error: Error | undefined): Promise<void> {
    process.off('SIGINT', this.#interrupt);
    process.off('SIGTERM', this.#interrupt);
    process.stderr.off('error', ignoreBrokenPipe);
    process.off('uncaughtException', reportBug);
    await super.finally(error);
  }

  override async catch(error: unknown): Promise<never> {
    const report = errorReport(error, (this.id ?? '').replaceAll(':', ' '));
    process.exitCode = report.exit;
    await (this.jsonEnabled() ? write(process.stdout, `${toJson(errorJson(report), 2)}\n`) : tell(report));
    // oclif exits with this code, and prints nothing of its own.
    throw new ExitError(report.exit);
  }

  override logJson(json: unknown): void {
    process.stdout.write(`${toJson(json, 2)}\n`);
  }
}

function tell(report: ErrorReport): Promise<void> {
  return write(process.stderr, errorText(report));
}

/** Writes and waits until it is out: the process exits next. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}

/**
 * Nobody reads any more (`pakrat ls … | head`): there is nothing left to do, and nothing to complain about.
 * A full disk under the file that it goes to is told.
 */
function endOutput(error: unknown): void {
  if (codeOf(error) === 'EPIPE') process.exit(process.exitCode ?? exitCodes.done);
  const report = errorReport(error, '');
  process.stderr.write(errorText(report));
  process.exit(report.exit);
}

function ignoreBrokenPipe(error: unknown): void {
  if (codeOf(error) !== 'EPIPE') throw error;
}

/** An exception outside of any command's promise is a bug of ours, whatever it is. */
function reportBug(error: unknown): void {
  const report: ErrorReport = errorReport(new Error(String(error)), '');
  process.stderr.write(errorText({ ...report, stack: (error as { stack?: string } | null)?.stack ?? String(error) }));
  process.exit(exitCodes.bug);
}
