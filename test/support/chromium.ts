import { spawnSync } from 'node:child_process';
import { describe, test } from '@jest/globals';

/** The system's Chromium; undefined where there is none. */
export const chromiumPath = ['chromium', 'chromium-browser'].find(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
);

/** `describe` that needs Chromium. Without it it says so, and fails where all that can be tested is required (PAKRAT_REQUIRE_CONFORMANCE). */
export function describeChromium(name: string, body: () => void): void {
  if (chromiumPath !== undefined) {
    describe(name, body);
  } else if (process.env.PAKRAT_REQUIRE_CONFORMANCE) {
    test(`${name} (Chromium)`, () => {
      throw new Error('Chromium is required, and there is none: apt-get install chromium');
    });
  } else {
    console.warn(`SKIPPED, no chromium on this machine: ${name}`);
    test.skip(`${name} (Chromium)`, () => undefined);
  }
}
