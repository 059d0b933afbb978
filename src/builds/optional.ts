import { codeOf } from '../core/errors.ts';

/** The outcome of work on an object, undefined when no host has it: real builds name such objects, and are used without. */
export async function optional<Value>(work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'E_NOT_FOUND') return undefined;
    throw error;
  }
}
