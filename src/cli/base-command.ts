import { writeSync } from 'node:fs';
import { Command } from '@oclif/core/command';
import type { Config } from '@oclif/core/config';
import { ExitError } from '@oclif/core/errors';
import type { Session } from '../app/session/session.ts';
import { removeTemporaries } from '../app/session/temporaries.ts';
import { codeOf, type ErrorCode, PakratError } from '../core/errors.ts';
import type { OnProgress, WorkOptions } from '../core/progress.ts';
import { type ErrorReport, errorJson, errorReport, errorText, exitCodeOf, exitCodes } from './error-report.ts';
import {
  type GlobalFlags,
  globalFlags,
  globalFlagsShowing,
  outputFlags,
  sessionOptions,
  storeFlags,
} from './flags/global-flags.ts';
import { isJsonAsked } from './flags/words.ts';
import { commandName } from './help/page.ts';
import { outlivesTerminal, stopSignals } from './stop-signals.ts';
import { toJson } from './terminal/json.ts';
import { canRedraw, createProgress, noteLine, showProgress } from './terminal/progress.ts';
import { printableBlock } from './terminal/text.ts';

/** Work that was interrupted has this long to end by itself: then the process ends where it stands. */
const graceMs = 1400;
/** What is done within this time needs no bar. */
const momentMs = 1000;

/** For the error of a command that was interrupted, and goes on where it stopped. */
export const goesOnHint = 'Run the same command again to go on where it stopped.';

/**
 * A command of pakrat. It has --json and the global flags, of which help shows those that it uses. It prints errors for people or for
 * scripts with one exit code both ways, ends within two seconds of Ctrl-C, and ends quietly when nobody reads its output any more.
 * A command gives back what --json prints; it writes its text with `log` (silent under --json) and its notes with `note`.
 */
export abstract class CliCommand extends Command {
  static override enableJsonFlag = true;
  static override baseFlags = globalFlagsShowing(outputFlags);

  /** What the error of an interruption says to do next. */
  protected interruptedHint: string | undefined;
  readonly #abort = new AbortController();
  #isSignalUsed = false;
  #quiet = false;
  #progress: { show: OnProgress; end: () => void } | undefined;
  #barAfterMs = 0;
  #isOutputBegun = false;
  /** The code of the first part that is damaged on this disk, without which the work went on. */
  #lacking: ErrorCode | undefined;

  /** As the program runs a command, with what it has loaded: oclif would load it a second time. */
  static override async run<Result extends Command>(
    this: new (
      argv: string[],
      config: Config,
    ) => Result,
    argv: string[],
    config: Config,
  ): Promise<ReturnType<Result['run']>> {
    return (new this(argv, config) as Command as CliCommand)._run();
  }

  /**
   * Opens a session from the flags that `parse` gave, runs `body`, and closes it, whatever happens. Call it before `note` and `work`: it
   * says whether they are quiet.
   */
  protected async withSession<Result>(
    flags: GlobalFlags,
    body: (session: Session) => Promise<Result>,
  ): Promise<Result> {
    const { withSession } = await import('../app/session/session.ts');
    return this.withProgress(flags, async () => withSession(await sessionOptions(flags, this.config.dataDir), body));
  }

  /** Runs work that opens sessions of its own. */
  protected async withProgress<Result>(
    flags: GlobalFlags,
    body: (work: Required<WorkOptions>) => Promise<Result>,
  ): Promise<Result> {
    this.#quiet = flags.quiet ?? false;
    try {
      return await body(this.work());
    } finally {
      this.endProgress();
    }
  }

  /** For work that lasts: the signal, and a bar on stderr where that is a terminal, a line now and then elsewhere, nothing with --quiet. */
  protected work(): Required<WorkOptions> & { signal: AbortSignal } {
    return { signal: this.signal, onProgress: (event) => this.#show(event) };
  }

  #show(event: Parameters<OnProgress>[0]): void {
    if (event.type === 'note' && event.code !== undefined) this.#noteLack(event.text, event.code);
    if (event.type !== 'note' && this.#isOutputBegun) return;
    if (this.#progress === undefined) {
      const isTty = canRedraw(process.stderr, process.env);
      const [quiet, afterMs] = [this.#quiet, this.#barAfterMs];
      const bar = createProgress({ stream: process.stderr, isTty, quiet, afterMs });
      this.#progress = { show: showProgress(bar), end: () => bar.end() };
    }
    this.#progress.show(event);
  }

  /** What is done without a part of it is not all: the exit code says so, and that is never quiet. */
  #noteLack(text: string, code: ErrorCode): void {
    this.#lacking ??= code;
    if (this.#quiet) process.stderr.write(`${printableBlock(noteLine(text))}\n`);
  }

  /** Takes the bar away: the line is free for other text. */
  protected endProgress(): void {
    this.#progress?.end();
    this.#progress = undefined;
  }

  /** For work that is done in a moment, as a rule, and whose output is what a person waits for: as {@link work}, with a bar only where it takes longer. */
  protected look(): Required<WorkOptions> & { signal: AbortSignal } {
    this.#barAfterMs = momentMs;
    return this.work();
  }

  /** Takes the bar away for good: what is written as it comes would be drawn over. */
  protected beginOutput(): void {
    this.#isOutputBegun = true;
    this.endProgress();
  }

  /** Aborted by the first Ctrl-C (SIGTERM, SIGHUP), with E_ABORTED as its reason; a second one ends the process at once. */
  protected get signal(): AbortSignal {
    this.#isSignalUsed = true;
    return this.#abort.signal;
  }

  readonly #interrupt = (): void => {
    const isSecond = this.#abort.signal.aborted;
    this.#abort.abort(new PakratError('E_ABORTED', 'interrupted', { hint: this.interruptedHint }));
    // Work that has no ear for the signal is short, and keeps nothing half-done.
    if (isSecond || !this.#isSignalUsed) this.#endNow();
    else setTimeout(() => this.#endNow(), graceMs).unref();
  };

  /** Takes away what is half-done, and ends the process where it stands. */
  #endNow(): never {
    removeTemporaries();
    this.endProgress();
    const report = errorReport(this.#abort.signal.reason);
    try {
      // What has to wait for its turn would not be written any more.
      if (this.jsonEnabled()) writeSync(1, `${toJson(errorJson(report), 2)}\n`);
      else writeSync(2, errorText(report));
    } finally {
      // Nobody may be there to read it.
      process.exit(report.exit);
    }
  }

  /** A line on stderr, unless --quiet. */
  protected note(text: string): void {
    if (!this.#quiet) process.stderr.write(`${printableBlock(text)}\n`);
  }

  /** Columns that a table on stdout may take: those of the terminal, any number when it is none. */
  protected get width(): number {
    return process.stdout.isTTY ? (process.stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  }

  override async init(): Promise<void> {
    await super.init();
    for (const name of stopSignals)
      process.on(name, name === 'SIGHUP' && outlivesTerminal() ? () => {} : this.#interrupt);
    // Before oclif's own, which would throw. It stays: --json is printed when all else is over.
    if (!process.stdout.listeners('error').includes(endOutput)) process.stdout.prependListener('error', endOutput);
    process.stderr.on('error', ignoreBrokenPipe);
    process.once('uncaughtException', reportBug);
  }

  override async finally(error: Error | undefined): Promise<void> {
    for (const name of stopSignals) process.off(name, this.#interrupt);
    process.stderr.off('error', ignoreBrokenPipe);
    process.off('uncaughtException', reportBug);
    if (error === undefined && this.#lacking !== undefined) process.exitCode ||= exitCodeOf(this.#lacking);
    await super.finally(error);
  }

  override async catch(error: unknown): Promise<never> {
    const { id = '', flags, baseFlags, enableJsonFlag } = this.ctor;
    const flagNames = ['help', ...(enableJsonFlag ? ['json'] : []), ...Object.keys({ ...baseFlags, ...flags })];
    const report = errorReport(error, { name: commandName(id), flags: flagNames });
    process.exitCode = report.exit;
    // A command that prints no JSON tells its errors so, when it is asked to.
    if (this.jsonEnabled() || isJsonAsked(this.argv)) await write(process.stdout, `${toJson(errorJson(report), 2)}\n`);
    else await write(process.stderr, errorText(report));
    // oclif exits with this code, and prints nothing of its own.
    throw new ExitError(report.exit);
  }

  /** Prints lines. Names and versions come from outside: nothing of them reaches a terminal as a command. */
  override log(text = ''): void {
    super.log(printableBlock(text));
  }

  /** A command that wrote its lists row by row, for they may have millions of rows, has nothing left to print. */
  override logJson(json: unknown): void {
    if (json !== undefined) process.stdout.write(`${toJson(json, 2)}\n`);
  }
}

/** A command that works on the store alone: it asks no network, and reads no build. */
export abstract class StoreCommand extends CliCommand {
  static override baseFlags = globalFlagsShowing(storeFlags);
}

/** A command that reads or fetches builds: it has all global flags. */
export abstract class PakratCommand extends StoreCommand {
  static override baseFlags = globalFlags;
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
  const report = errorReport(error);
  process.stderr.write(errorText(report));
  process.exit(report.exit);
}

function ignoreBrokenPipe(error: unknown): void {
  if (codeOf(error) !== 'EPIPE') throw error;
}

/** An exception outside of any command's promise is a bug of ours, whatever it is. */
function reportBug(error: unknown): void {
  const report: ErrorReport = errorReport(new Error(String(error)));
  process.stderr.write(errorText({ ...report, stack: (error as { stack?: string } | null)?.stack ?? String(error) }));
  process.exit(exitCodes.bug);
}
