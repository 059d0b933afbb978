import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from '@jest/globals';

const root = resolve(process.env.PAKRAT_CONFORMANCE ?? '../shared/conformance');

/** True when the folder of real files is there. */
export const hasConformance = existsSync(join(root, 'README.md'));

/** A path inside the folder of real files (`PAKRAT_CONFORMANCE`, else ../shared/conformance). */
export function conformancePath(...parts: string[]): string {
  return join(root, ...parts);
}

/** The bytes of a real file. */
export function conformanceBytes(...parts: string[]): Uint8Array {
  return new Uint8Array(readFileSync(conformancePath(...parts)));
}

/** A tool that lives beside the real files, such as gencdn.py. */
export function conformanceTool(name: string): string {
  return resolve(root, '../tools', name);
}

/**
 * `describe` that needs the real files, or what lies beside them. Without them it says so, and fails where they are required
 * (PAKRAT_REQUIRE_CONFORMANCE); its body, which may read them, does not run then.
 */
export function describeConformance(name: string, body: () => void): void {
  if (hasConformance) {
    describe(name, body);
  } else if (process.env.PAKRAT_REQUIRE_CONFORMANCE) {
    test(`${name} (real files)`, () => {
      throw new Error(`the conformance files are required, but ${root} has none`);
    });
  } else {
    console.warn(`SKIPPED, no conformance files under ${root}: ${name}`);
    test.skip(`${name} (real files)`, () => undefined);
  }
}
