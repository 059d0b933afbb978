import { expect } from '@jest/globals';

/*
 * Bytes are compared at once: one by one, as jest does it, a test of a megabyte takes seconds. Different bytes are left to jest, which says where.
 */
expect.addEqualityTesters([
  (a: unknown, b: unknown): boolean | undefined => {
    if (!(a instanceof Uint8Array && b instanceof Uint8Array) || a.constructor !== b.constructor) return undefined;
    return Buffer.compare(a, b) === 0 ? true : undefined;
  },
]);
