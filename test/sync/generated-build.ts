import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Build, openBuild } from '../../src/builds/build.ts';
import type { BuildPlace } from '../../src/builds/objects.ts';
import { Hosts } from '../../src/cdn/hosts/hosts.ts';
import { HttpClient } from '../../src/cdn/transport/http.ts';
import { Fetcher } from '../../src/fetch/fetcher.ts';
import { openNetwork, type Traffic } from '../../src/fetch/network.ts';
import type { BuildIdentity } from '../../src/store/ledger/rows.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { type LyingServer, lyingServer, objectsBelow } from '../support/lying-server.ts';
import { makeTree } from '../support/synthetic-cdn.ts';

/*
 * A build of a made tree, served by hosts of this process that can
 * lie, and opened with everything that a sync needs. One thread, so that a test sees all of it.
 */

/** A row of the table of truth. */
export type TruthRow = Record<string, string>;

/** A generated CDN in memory. */
export interface GeneratedCdn {
  /** Every object, by its path below a host. */
  objects: Map<string, Uint8Array>;
  identity(build: 'a' | 'b'): BuildIdentity;
  truth(build: 'a' | 'b'): TruthRow[];
}

/** Makes a CDN of two builds. About a second. */
export function generateCdn(...options: string[]): GeneratedCdn {
  const root = fs.mkdtempSync(join(tmpdir(), 'pakrat-generated-'));
  try {
    const size = ['--files', '150', '--total-bytes', '3M', '--loose', '0.05'];
    makeTree(root, 9, [...size, ...options]);
    const text = (...path: string[]): string => fs.readFileSync(join(root, ...path), 'utf8');
    const { configs } = JSON.parse(text('truth/summary.json')) as { configs: Configs };
    const truth = { a: rowsOf(text('truth/build-a.tsv')), b: rowsOf(text('truth/build-b.tsv')) };
    return {
      objects: objectsBelow(join(root, 'www')),
      identity: (build) => ({
        product: 'wow',
        name: `build ${build}`,
        buildId: null,
        region: 'us',
        hosts: [],
        buildConfig: configs.build[build],
        cdnConfig: configs.cdn[build],
        productConfig: configs.product_config,
        keyRing: configs.keyring,
        cdnPath: 'tpr/wow',
        configPath: 'tpr/configs/data',
      }),
      truth: (build) => truth[build],
    };
  } finally {
    fs.rmSync(root, { recursive: true });
  }
}

interface Configs {
  build: { a: string; b: string };
  cdn: { a: string; b: string };
  product_config: string;
  keyring: string;
}

function rowsOf(text: string): TruthRow[] {
  const [header, ...rows] = text.trimEnd().split('\n');
  const names = header!.split('\t');
  return rows.map((row) => Object.fromEntries(row.split('\t').map((value, i) => [names[i]!, value])));
}

/** An open store and build. Needs `close`. */
export interface OpenedBuild {
  store: Store;
  build: Build;
  /** Brings what the store lacks; without a network when there are no servers. */
  fetcher: Fetcher;
  /** Of everything that was asked of the hosts. */
  traffic: Readonly<Traffic>;
  close(): Promise<void>;
}

/** How a build is opened. */
export interface OpenOptions {
  root: string;
  cdn: GeneratedCdn;
  build: 'a' | 'b';
  /** None: offline. */
  servers: readonly LyingServer[];
  signal?: AbortSignal;
  jobs?: number;
  gapBytes?: number;
  /** For hosts that crawl. */
  slowWindowMs?: number;
  hedgeMs?: number;
  wantsDownload?: boolean;
  onNote?: BuildPlace['onNote'];
}

/** Opens a store and a build in it. */
export async function openGenerated(options: OpenOptions): Promise<OpenedBuild> {
  const { servers, signal, jobs = 4, gapBytes = 65536, slowWindowMs, hedgeMs, wantsDownload, onNote } = options;
  const store = openStore(options.root, { create: true });
  const limits = { connectMs: 1000, idleMs: 500, slowWindowMs };
  const http = new HttpClient({ ...limits, connections: 8 });
  const maxRangeBytes = 1 << 28;
  const hosts = new Hosts(servers.map(({ base }) => ({ base, fallback: false })));
  const network = openNetwork(hosts, async () => http, {
    ...limits,
    hedgeMs,
    attemptsPerHost: 3,
    jobs,
    maxRangeBytes,
    threads: 0,
    temporary: store.layout.temporary,
    signal,
  });
  const fetcher = new Fetcher(store, servers.length === 0 ? undefined : network, {
    jobs,
    smallJobs: 8,
    planOptions: { gapBytes, maxRangeBytes },
  });
  const closeAll = async (): Promise<void> => {
    await network.close();
    await http.close();
    fetcher.flush();
    store.close();
  };
  try {
    const identity = options.cdn.identity(options.build);
    store.ledger.addBuild(identity);
    const build = await openBuild({
      identity,
      objects: fetcher.objects(),
      folders: store.layout,
      keys: { find: () => undefined },
      wantsDownload,
      onNote,
    });
    return {
      store,
      build,
      fetcher,
      traffic: network.traffic,
      async close() {
        await build.close();
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Starts a host with all objects of a CDN. */
export function hostOf(cdn: GeneratedCdn, lie?: LyingServer['lie']): Promise<LyingServer> {
  return lyingServer(cdn.objects).then((server) => Object.assign(server, lie === undefined ? {} : { lie }));
}

/** Demands that every byte that the ledger calls held is on disk as the CDN has it. Gives back how many those are. */
export function expectRightStore(store: Store, cdn: GeneratedCdn): number {
  let held = 0;
  for (const { path, complete } of [...store.ledger.objects()]) {
    const truth = cdn.objects.get(path);
    if (truth === undefined) throw new Error(`${path} is held, but no object of the CDN`);
    const spans = store.ledger.spans(path);
    if (complete && spans[0]?.end !== truth.length) throw new Error(`${path} is called whole with a wrong size`);
    if (spans.length === 0) continue;
    const bytes = fs.readFileSync(store.file(path));
    for (const { start, end } of spans) {
      if (Buffer.compare(bytes.subarray(start, end), truth.subarray(start, end)) !== 0) {
        throw new Error(`${path}: ${start}-${end} is held, but wrong`);
      }
      held += end - start;
    }
  }
  return held;
}
