import { writeSync } from 'node:fs';
import type { Config } from '@oclif/core/interfaces';
import { PakratError } from '../core/errors.ts';
import { errorJson, errorReport, errorText, exitCodes } from './error-report.ts';
import { findCommand } from './find-command.ts';
import { isJsonAsked, wordsBeforeDashes } from './flags/words.ts';
import { loadProgram } from './program.ts';
import { toJson } from './terminal/json.ts';

/**
 * The program: finds the command that was typed and runs it, or shows help or the version. Errors before a command runs are told as its own are,
 * as JSON with --json.
 * @param words the command line behind the program
 * @param root folder of the package
 */
export async function main(words: readonly string[], root: string): Promise<void> {
  try {
    const config = await loadProgram(root);
    const [first] = words;
    if (first === '--version' || first === '-v') {
      writeSync(1, `${config.userAgent}\n`);
      return;
    }
    const typed = wordsBeforeDashes(words);
    if (first === undefined || typed.includes('--help') || typed.includes('-h')) return await help(config, typed);
    const { id, isTopic, rest } = findCommand(words, { bin: config.bin, commands: config.commandIDs });
    if (isTopic && !isJsonAsked(rest)) return await help(config, [id]);
    if (isTopic) throw new PakratError('E_USAGE', `${id} needs a command`, { hint: `"pakrat help ${id}" lists them.` });
    await config.runCommand(id, [...rest]);
  } catch (error) {
    fail(error, isJsonAsked(words));
  }
}

/** Help is code that most runs do not need. */
async function help(config: Config, words: readonly string[]): Promise<void> {
  const { showHelp } = await import('./help/show-help.ts');
  // Nobody may read it to its end.
  process.stdout.on('error', () => process.exit(exitCodes.done));
  showHelp(config, words);
}

/** Tells of an error and ends the process. A command has told of its own, and throws its exit code alone. */
function fail(error: unknown, isJson: boolean): never {
  const { code, oclif } = error as { code?: unknown; oclif?: { exit?: number } };
  if (code === 'EEXIT') process.exit(oclif?.exit ?? exitCodes.bug);
  const report = errorReport(error);
  if (isJson) writeSync(1, `${toJson(errorJson(report), 2)}\n`);
  else writeSync(2, errorText(report));
  process.exit(report.exit);
}
