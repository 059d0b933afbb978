import { constants } from 'node:os';

/** Every code that an error of pakrat can carry, with the exit code of the program for it. Scripts rely on both; they are never changed. */
export const errorCodes = {
  E_USAGE: 2,
  E_NOT_FOUND: 4,
  E_FORMAT: 5,
  E_FORMAT_MAGIC: 5,
  E_FORMAT_VERSION: 5,
  E_FORMAT_TRUNCATED: 5,
  E_FORMAT_RANGE: 5,
  // Bytes that hash to something else are damage, whoever found that out.
  E_FORMAT_CHECKSUM: 3,
  E_UNSUPPORTED: 6,
  E_KEY_MISSING: 7,
  E_INTEGRITY: 3,
  E_NETWORK: 1,
  E_NETWORK_STATUS: 1,
  E_NETWORK_TIMEOUT: 1,
  E_NETWORK_RANGE: 1,
  E_NETWORK_EXHAUSTED: 1,
  E_OFFLINE: 1,
  E_STORE: 1,
  E_STORE_LOCKED: 1,
  E_STORE_SCHEMA: 1,
  E_STORE_FULL: 1,
  E_STORE_DAMAGED: 1,
  E_NATIVE_MODULE: 1,
  E_UNSAFE_PATH: 8,
  E_INCOMPLETE: 9,
  E_ABORTED: 130,
} as const;

/** A code that an error of pakrat can carry. */
export type ErrorCode = keyof typeof errorCodes;

/** Plain JSON, as carried in an error's `data`. */
export type ErrorData = Record<string, string | number | boolean | null | undefined | readonly string[]>;

/** What may be said beside the code and the message. */
export interface ErrorOptions {
  /** What the reader can do next, one sentence. */
  hint?: string | undefined;
  /** Facts for scripts: keys, offsets, sizes, urls (already redacted). */
  data?: ErrorData | undefined;
  cause?: unknown;
}

/**
 * The one error class. `code` is stable, the message is for people, `hint` says what to do next.
 * Tell it apart with {@link isPakratError}, never with `instanceof`: errors cross realms and threads.
 */
export class PakratError extends Error {
  override readonly name = 'PakratError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: ErrorData;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.data = options.data ?? {};
  }
}

/** True for an error of this class, whichever realm or copy of the library made it. */
export function isPakratError(error: unknown): error is PakratError {
  return typeof error === 'object' && error !== null && (error as { name?: unknown }).name === 'PakratError';
}

/** What a format error knows: the byte offset in the object and what stood there. */
export interface FormatFacts {
  offset?: number;
  expected?: string | number;
  found?: string | number;
}

/**
 * An error about bytes that are not what they claim to be.
 * @param what the format or part, as it should open the sentence ("archive index footer")
 */
export function formatError(
  code: Extract<ErrorCode, `E_FORMAT${string}`>,
  what: string,
  problem: string,
  facts: FormatFacts = {},
): PakratError {
  const at = facts.offset === undefined ? '' : ` at offset ${facts.offset}`;
  const seen =
    facts.expected === undefined
      ? ''
      : ` (expected ${facts.expected}${facts.found === undefined ? '' : `, found ${facts.found}`})`;
  return new PakratError(code, `${what}: ${problem}${at}${seen}`, { data: { format: what, ...facts } });
}

/** What a file system says that Node has no name for: "UNKNOWN: unknown error" tells nobody that a quota is used up. */
const unnamed: Readonly<Record<string, string>> = {
  // What ext4 says of a block whose checksum is wrong.
  EBADMSG: 'bad message',
  EDQUOT: 'disk quota exceeded',
  ESTALE: 'stale file handle',
  EUCLEAN: 'structure needs cleaning',
};
/** Its code, or the start of its message, as Node's two ways into the system say it. */
const unnamedError = /^(?:UNKNOWN(?:: unknown error)?|Unknown system error -\d+(?:: Unknown system error -\d+)?)/;
/** On Linux, of EUCLEAN, which Node does not know at all. */
const eucleanNumber = 117;

function nameOf(error: object): string {
  const { errno } = error as { errno?: unknown };
  const number = typeof errno === 'number' ? -errno : 0;
  if (process.platform === 'linux' && number === eucleanNumber) return 'EUCLEAN';
  return Object.entries(constants.errno).find(([, known]) => known === number)?.[0] ?? `E${number}`;
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error === null || typeof error !== 'object' || !('message' in error)) return String(error);
  return String(error.message).replace(unnamedError, (text) => {
    const name = nameOf(error);
    return `${name}: ${unnamed[name] ?? text}`;
  });
}

/** The `code` of anything that was thrown (ours, or that of a system error, such as ENOSPC), or undefined. */
export function codeOf(error: unknown): string | undefined {
  const code = error !== null && typeof error === 'object' ? (error as { code?: unknown }).code : undefined;
  if (typeof code !== 'string') return undefined;
  return unnamedError.test(code) ? nameOf(error as object) : code;
}

/**
 * True for bytes that are not what they claim to be: malformed, or with another hash. Not for a derived file, which is made again: nothing is to
 * go on without it.
 */
export function isDamage(error: unknown): error is PakratError {
  const code = codeOf(error);
  if (code?.startsWith('E_FORMAT') !== true && code !== 'E_INTEGRITY') return false;
  return (error as Partial<PakratError>).data?.derived === undefined;
}

/** The same error with another hint. */
export function withHint({ code, message, data, cause }: PakratError, hint: string | undefined): PakratError {
  return new PakratError(code, message, { hint, data, cause });
}

/** True for something that nobody has, nobody gave, or nobody may be asked for: what does not need it can go on. */
export function isUnavailable(error: unknown): error is PakratError {
  return ['E_NOT_FOUND', 'E_NETWORK_EXHAUSTED', 'E_OFFLINE'].includes(codeOf(error) ?? '');
}

/** True for trouble with the store: a full disk, no permission, a damaged ledger. */
export function isStoreTrouble(error: unknown): error is PakratError {
  return codeOf(error)?.startsWith('E_STORE') === true;
}

/** True for what no host, file or key is to blame for: the store's trouble, an installation that is not whole, an interruption, a bug. Work as a whole ends with it. */
export function isOurTrouble(error: unknown): boolean {
  return !isPakratError(error) || ['E_ABORTED', 'E_NATIVE_MODULE'].includes(error.code) || isStoreTrouble(error);
}

/** True for a system error that says that no file lies there: nothing at all, a folder in its place, or a file where its folder should be. */
export function isNoFile(error: unknown): boolean {
  return ['ENOENT', 'EISDIR', 'ENOTDIR'].includes(codeOf(error) ?? '');
}

/** True for an error of the system about a file: no permission, a broken disk. Ours have `_` in their codes, and so do those of Node. */
export function isSystemError(error: unknown): boolean {
  return /^E[A-Z0-9]+$/.test(codeOf(error) ?? '');
}

/** True where a disk has no room, or the user may take no more of it. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
}

/** What a file system says of a disk that is broken, of what it keeps there and finds damaged itself, and a network drive of a file that it has no more. */
const brokenDisk: readonly unknown[] = ['EIO', 'EUCLEAN', 'EBADMSG', 'ESTALE'];

/** True for bytes that a broken disk does not give, or no more: who has them elsewhere takes them from there. */
export function isDiskBroken(error: unknown): boolean {
  return brokenDisk.includes(codeOf(error));
}

/** What to do about {@link isDiskBroken}, where nothing of ours can do it. */
export const brokenHint =
  'The disk is damaged there, or a network drive fails: the system says more (dmesg), and may mend it (fsck).';

/** True for a system error after which a file can be made, or brought, anew: none lies there, or a broken disk does not give it. */
export function isFileLost(error: unknown): boolean {
  return isNoFile(error) || isDiskBroken(error);
}

/** True for a name, file or object that is not there. */
export function isNotFound(error: unknown): error is PakratError {
  return codeOf(error) === 'E_NOT_FOUND';
}

/** True for what nobody has, and for what each that has it, a host or this disk, gives wrong: to ask again brings nothing. */
export function isNowhere(error: unknown): error is PakratError {
  return isNotFound(error) || (isPakratError(error) && error.data.wrong === true);
}

/** True for trouble that may pass, a host's or this machine's: to ask again may bring what was asked for. */
export function mayPass(error: unknown): error is PakratError {
  const isNetwork = codeOf(error)?.startsWith('E_NETWORK') === true;
  return (isNetwork && !isNowhere(error)) || isStoreTrouble(error) || codeOf(error) === 'E_ABORTED';
}

/** The value of work that goes on; undefined where it fails as `isExpected` tells. Any other failure is thrown on. */
export async function valueUnless<Value>(
  isExpected: (error: unknown) => boolean,
  work: Promise<Value>,
): Promise<Value | undefined> {
  return work.catch((error: unknown) => {
    if (isExpected(error)) return undefined;
    throw error;
  });
}

/** As {@link valueUnless}, for work that is done at once. */
export function resultUnless<Value>(isExpected: (error: unknown) => boolean, work: () => Value): Value | undefined {
  try {
    return work();
  } catch (error) {
    if (isExpected(error)) return undefined;
    throw error;
  }
}

/** Ends work whose signal is aborted. @throws the signal's reason where that is an error of ours, else E_ABORTED */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw isPakratError(signal.reason) ? signal.reason : abortError();
}

/** The error of work that was interrupted. */
export function abortError(): PakratError {
  return new PakratError('E_ABORTED', 'interrupted', { hint: 'Run the same command again to go on.' });
}
