import { stripVTControlCharacters } from 'node:util';
import { errorCodes, messageOf, PakratError } from '../core/errors.ts';
import { didYouMean, nearest } from '../core/names/nearest.ts';

/** The command that was typed, as its usage errors name it. */
export interface TypedCommand {
  /** Without the program. */
  name: string;
  /** Names of its flags, without dashes. */
  flags: readonly string[];
}

/** Errors of oclif about a command line, by what they carry. */
interface ParseError {
  oclif?: { exit?: unknown };
  /** Flags that there are not. */
  flags?: unknown;
  /** Arguments that are missing, or that nothing asked for. */
  args?: unknown;
  parse?: { output?: { nonExistentFlags?: readonly string[] } };
}

/** Messages of oclif in our words. */
const sentences: readonly (readonly [message: RegExp, sentence: string])[] = [
  [/^Parsing (--\S+)\s+Expected an integer but received: (.*)$/s, '$1 takes a whole number, not $2'],
  [
    /^Parsing (--\S+)\s+Expected an integer greater than or equal to (\d+) but received: (.*)$/s,
    '$1 is at least $2, not $3',
  ],
  [
    /^Parsing (--\S+)\s+Expected an integer less than or equal to (\d+) but received: (.*)$/s,
    '$1 is at most $2, not $3',
  ],
  [/^Parsing (--\S+)\s+(.*)$/s, '$1: $2'],
  [/^Expected (--[^=]+)=(.*) to be one of: (.*)$/s, '$1 is one of $3, not $2'],
  [/^Expected (.*) to be one of: (.*)$/s, '$1 is none of $2'],
  [/^Flag (--\S+) expects one of these values: (.*)$/s, '$1 needs a value: one of $2'],
  [/^Flag (--\S+) expects a value$/s, '$1 needs a value'],
  [/^Flag (--\S+) can only be specified once$/s, '$1 is there twice'],
  [/Missing required flag (\S+)/g, '--$1 is missing'],
  [/(--[^=\s]+)=\S* cannot also be provided when using (--\S+)/g, '$1 and $2 exclude each other'],
  [/All of the following must be provided when using (--\S+): (--\S+)/g, '$1 needs $2'],
];

/**
 * An error of oclif about a command line in our words: they carry the exit code of usage errors. Undefined for any other error.
 */
export function usageError(error: unknown, command: TypedCommand | undefined): PakratError | undefined {
  const failed = (error ?? {}) as ParseError;
  if (failed.oclif?.exit !== errorCodes.E_USAGE) return undefined;
  const { name = '', flags = [] } = command ?? {};
  const [unknown] = failed.parse?.output?.nonExistentFlags ?? [];
  if (unknown !== undefined) return unknownFlag(unknown.replace(/=.*/s, ''), name, flags);
  const hint = `"pakrat ${name} --help" shows how it is written.`;
  return new PakratError('E_USAGE', argsProblem(failed.args, name) ?? sentenceOf(messageOf(error)), { hint });
}

function unknownFlag(flag: string, command: string, known: readonly string[]): PakratError {
  const near = nearest(flag.replace(/^-+/, ''), known).map((one) => `--${one}`);
  return new PakratError('E_USAGE', `${command} has no flag ${flag}`, {
    hint: didYouMean(near) ?? `"pakrat ${command} --help" shows those that it has.`,
    data: { flag, near },
  });
}

/** What is wrong with arguments: those that are missing come with their meaning, those that are too many are texts. */
function argsProblem(args: unknown, command: string): string | undefined {
  if (!Array.isArray(args)) return undefined;
  const missing = args.filter((arg): arg is { name: string; description?: string } => typeof arg === 'object');
  const [first] = missing;
  if (first === undefined) return `${command} takes nothing more: ${args.map(String).join(' ')}`;
  const names = missing.map((arg) => arg.name.toUpperCase()).join(' and ');
  return missing.length > 1 ? `${command} needs ${names}` : `${command} needs ${names}: ${first.description ?? ''}`;
}

function sentenceOf(message: string): string {
  const text = stripVTControlCharacters(message)
    .replace(/\s*See more help with --help\s*$/, '')
    .replace(/^The following errors? occurred:\s*/, '');
  const told = sentences.reduce((told, [pattern, sentence]) => told.replace(pattern, sentence), text);
  return told.replace(/\s*\n\s*/g, '; ');
}
