import { expect, test } from '@jest/globals';
import type { SyncedBuilds, SyncReport } from '../../../src/app/sync.ts';
import { renderSyncs, syncExitCode } from '../../../src/cli/render/sync.ts';

const failed = (...codes: string[]): SyncedBuilds => ({
  builds: [],
  failed: codes.map((code) => ({ name: `game@${code}`, code, message: 'it failed' })),
});

test('the exit code of several builds is that of the worst: trouble, then what another run can bring, then what nobody has', () => {
  expect(syncExitCode(failed())).toBe(0);
  expect(syncExitCode(failed('E_NOT_FOUND'))).toBe(4);
  expect(syncExitCode(failed('E_NOT_FOUND', 'E_INCOMPLETE', 'E_NOT_FOUND'))).toBe(9);
  expect(syncExitCode(failed('E_NOT_FOUND', 'E_INCOMPLETE', 'E_NETWORK_EXHAUSTED'))).toBe(1);
});

test('several builds are a line each, then those that failed, then what it was in all', () => {
  const report = (name: string): SyncReport => ({
    product: 'game',
    build: { name, buildConfig: 'a', cdnConfig: 'b' },
    wanted: { entries: 2, bytes: 2048 },
    held: { entries: 2, bytes: 2048 },
    missing: { entries: 0, bytes: 0 },
    fetched: { entries: 1, bytes: 1024, requests: 3 },
    seconds: 2,
  });
  const several = { builds: [report('1.1'), report('1.0')], failed: failed('E_NOT_FOUND').failed };
  const lines = renderSyncs(several, false, Number.POSITIVE_INFINITY).split('\n');
  expect(lines.filter((line) => line.startsWith('game '))).toHaveLength(2);
  expect(lines).toContain('  game@E_NOT_FOUND: it failed');
  expect(lines.at(-1)).toBe('2 builds held; fetched 2 entries, 2.0 KiB in 6 requests, 4.0 s');
});
