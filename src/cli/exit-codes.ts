import type { ErrorCode } from '../core/errors.ts';

/** The exit codes of the process. Scripts rely on these numbers; they are never changed. */
export const exitCodes = {
  done: 0,
  trouble: 1,
  usage: 2,
  integrity: 3,
  notFound: 4,
  malformed: 5,
  unsupported: 6,
  keyMissing: 7,
  unsafePath: 8,
  incomplete: 9,
  bug: 70,
  interrupted: 130,
} as const;

const byCode: Record<ErrorCode, number> = {
  E_USAGE: exitCodes.usage,
  E_NOT_FOUND: exitCodes.notFound,
  E_FORMAT: exitCodes.malformed,
  E_FORMAT_MAGIC: exitCodes.malformed,
  E_FORMAT_VERSION: exitCodes.malformed,
  E_FORMAT_TRUNCATED: exitCodes.malformed,
  E_FORMAT_RANGE: exitCodes.malformed,
  E_FORMAT_CHECKSUM: exitCodes.malformed,
  E_UNSUPPORTED: exitCodes.unsupported,
  E_KEY_MISSING: exitCodes.keyMissing,
  E_INTEGRITY: exitCodes.integrity,
  E_NETWORK: exitCodes.trouble,
  E_NETWORK_STATUS: exitCodes.trouble,
  E_NETWORK_TIMEOUT: exitCodes.trouble,
  E_NETWORK_RANGE: exitCodes.trouble,
  E_NETWORK_EXHAUSTED: exitCodes.trouble,
  E_OFFLINE: exitCodes.trouble,
  E_STORE: exitCodes.trouble,
  E_STORE_LOCKED: exitCodes.trouble,
  E_STORE_SCHEMA: exitCodes.trouble,
  E_STORE_FULL: exitCodes.trouble,
  E_STORE_DAMAGED: exitCodes.trouble,
  E_NATIVE_MODULE: exitCodes.trouble,
  E_UNSAFE_PATH: exitCodes.unsafePath,
  E_INCOMPLETE: exitCodes.incomplete,
  E_ABORTED: exitCodes.interrupted,
};

/** The exit code for the `code` of an error; 70 (our bug) for anything that is no code of ours. */
export function exitCodeOf(code: string | undefined): number {
  return code !== undefined && Object.hasOwn(byCode, code) ? byCode[code as ErrorCode] : exitCodes.bug;
}
