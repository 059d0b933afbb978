import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type ErrorCode, isPakratError } from '../../src/core/errors.ts';
import type { Selection } from '../../src/fetch/plan/selection.ts';
import { syncBuild } from '../../src/sync/sync-build.ts';
import { type Lie, type LyingServer, lyingServer } from '../support/lying-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import {
  expectRightStore,
  type GeneratedCdn,
  generateCdn,
  type OpenedBuild,
  openGenerated,
} from './generated-build.ts';

const scratch = scratchFolder();
const everything: Selection = { tags: [], include: [], all: false };
const what = {
  configs: /\/config\//,
  indices: /\.index$/,
  data: /\/data\/.*\/[0-9a-f]{32}$/,
};
const lies: [string, Lie][] = [
  ['crawls', { kind: 'drip', bytes: 1, everyMs: 40 }],
  ['is silent', { kind: 'stall', after: 0 }],
  ['falls silent', { kind: 'stall', after: 10 }],
  ['never ends', { kind: 'endless', bytes: 256 * 1024 }],
  ['hangs up', { kind: 'hang up' }],
  ['breaks off', { kind: 'cut', after: 10 }],
  ['answers 500', { kind: 'status', status: 500 }],
  ['answers 403', { kind: 'status', status: 403 }],
  ['asks for an hour', { kind: 'status', status: 503, retryAfter: '3600' }],
  ['answers a page', { kind: 'html' }],
  ['changes a byte', { kind: 'flip', offset: 30 }],
  ['promises less', { kind: 'length', off: -1 }],
  ['packs', { kind: 'gzip' }],
];

describe('a host that lies', () => {
  let cdn: GeneratedCdn;
  const servers: LyingServer[] = [];
  let opened: OpenedBuild | undefined;
  let number = 0;

  beforeAll(() => {
    cdn = generateCdn('--archives', '2', '--files', '30', '--total-bytes', '1500000');
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  async function host(lie?: LyingServer['lie']): Promise<void> {
    const server = await lyingServer(cdn.objects);
    if (lie !== undefined) server.lie = lie;
    servers.push(server);
  }
  /** Syncs all, from the first host alone or from both; gives back codes and messages of what failed. */
  async function sync(): Promise<{ code: string; message: string }[]> {
    number += 1;
    const patience = { slowWindowMs: 600, hedgeMs: 150 };
    try {
      opened = await openGenerated({ root: scratch(`store${number}`), cdn, build: 'a', servers, ...patience });
      return (await syncBuild(opened.fetcher, opened.build, everything)).failures;
    } catch (error) {
      if (!isPakratError(error)) throw error;
      return [error];
    }
  }

  for (const [kind, path] of Object.entries(what)) {
    const lieAbout =
      (lie: Lie): LyingServer['lie'] =>
      (asked) =>
        path.test(asked.path) ? lie : undefined;

    test.each(lies)(`about ${kind} and %s: beside an honest one all is right`, async (_, lie) => {
      await host(lieAbout(lie));
      await host();
      expect(await sync()).toEqual([]);
      if (opened === undefined) throw new Error('the build is not open');
      expect(expectRightStore(opened.store, cdn)).toBeGreaterThan(1_000_000);
    });

    test.each(lies)(`about ${kind} and %s: alone it is named, and nothing wrong is held`, async (_, lie) => {
      await host(lieAbout(lie));
      const failures = await sync();
      const isHarmless = failures.length === 0 && ['endless', 'cut', 'gzip'].includes(lie.kind);
      if (opened !== undefined) expectRightStore(opened.store, cdn);
      if (isHarmless) return;
      const codes: ErrorCode[] = ['E_NETWORK_EXHAUSTED', 'E_NOT_FOUND'];
      expect(codes).toContain(failures[0]?.code);
      const [base = ''] = servers.map((server) => server.base);
      if (failures[0]?.code === 'E_NETWORK_EXHAUSTED') expect(failures[0].message).toContain(base);
    });
  }
});
