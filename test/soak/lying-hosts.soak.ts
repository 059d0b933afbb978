import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { peakMiB } from '../support/child.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { type Asked, type Lie, type LyingServer, lyingServer, objectsBelow } from '../support/lying-server.ts';
import { runPakrat, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { syntheticCdn } from '../support/synthetic-cdn.ts';

/* Each lie about each kind of object, with the patience that the program has by itself: a minute or more each, side by side. */

jest.setTimeout(40 * 60_000);
const scratch = scratchFolder();

const lies: [string, Lie][] = [
  ['sends a byte a second', { kind: 'drip', bytes: 1, everyMs: 1000 }],
  ['sends 25 bytes a second', { kind: 'drip', bytes: 1, everyMs: 40 }],
  ['sends 500 bytes a second', { kind: 'drip', bytes: 50, everyMs: 100 }],
  ['is silent', { kind: 'stall', after: 0 }],
  ['falls silent', { kind: 'stall', after: 10 }],
  ['never ends', { kind: 'endless' }],
  ['never ends, byte by byte', { kind: 'endless', bytes: 1 }],
  ['hangs up', { kind: 'hang up' }],
  ['breaks off at once', { kind: 'cut', after: 10 }],
  ['breaks off later', { kind: 'cut', after: 1000 }],
  ['answers 500', { kind: 'status', status: 500 }],
  ['answers 403', { kind: 'status', status: 403 }],
  ['answers 404', { kind: 'status', status: 404 }],
  ['answers 429', { kind: 'status', status: 429 }],
  ['asks for 20 seconds', { kind: 'status', status: 503, retryAfter: '20' }],
  ['asks for an hour', { kind: 'status', status: 503, retryAfter: '3600' }],
  ['answers a page', { kind: 'html' }],
  ['changes a byte', { kind: 'flip', offset: 30 }],
  ['promises less', { kind: 'length', off: -1 }],
  ['promises more', { kind: 'length', off: 1 }],
  ['packs', { kind: 'gzip' }],
  ['knows no ranges', { kind: 'whole' }],
  ['sends another place', { kind: 'shift', by: 16 }],
  ['answers another range', { kind: 'other range', by: 16 }],
  ['does not say which range', { kind: 'content-range', value: undefined }],
  ['says another range', { kind: 'content-range', value: 'bytes 0-0/1' }],
];
const about: [string, RegExp][] = [
  ['all', /./],
  ['configs', /\/config\/|\/configs\//],
  ['indices', /\.index$/],
  ['data', /\/data\/.*\/[0-9a-f]{32}$/],
];
const kinds = lies.flatMap(([name, lie]) =>
  about.map(([what, path]) => ({ title: `${name}, about ${what}`, lie, path })),
);
type Kind = (typeof kinds)[number];

/** What a sync came to. */
interface Ended {
  title: string;
  status: number | null;
  seconds: number;
  peakMiB: number;
  isNamed: boolean;
  wrong: string[];
}

describe('hosts that lie', () => {
  let cdn: SyntheticCdn;
  let objects: Map<string, Uint8Array>;

  beforeAll(async () => {
    cdn = await syntheticCdn({ make: ['--files', '60', '--total-bytes', '2M', '--archives', '2'] });
    objects = objectsBelow(join(cdn.root, 'www'));
  });
  afterAll(() => cdn.close());

  async function host({ lie, path }: Kind): Promise<LyingServer> {
    const server = await lyingServer(objects);
    const isAbout = (asked: Asked): boolean =>
      path.test(asked.path) && (asked.range !== undefined || lie.kind !== 'other range');
    server.lie = (asked) => (isAbout(asked) ? lie : undefined);
    return server;
  }

  async function sync(kind: Kind, store: string, hasHonest: boolean): Promise<Ended> {
    const liar = await host(kind);
    const honest = hasHonest ? await lyingServer(objects) : undefined;
    const hosts = [liar, honest].flatMap((server) => (server === undefined ? [] : ['--cdn-host', server.base]));
    const started = performance.now();
    const { child, ended } = startPakrat(['sync', 'wow', '--store', store, '--patch-url', cdn.url, ...hosts]);
    const peak = watchPeak(child.pid!);
    const { status, stdout, stderr } = await ended;
    const seconds = (performance.now() - started) / 1000;
    await Promise.all([liar.close(), honest?.close()]);
    return {
      title: kind.title,
      status,
      seconds,
      peakMiB: peak.end(),
      isNamed: (stdout + stderr).includes(new URL(liar.base).host),
      wrong: checkHeldBytes(store, join(cdn.root, 'www')).wrong,
    };
  }

  async function syncAll(hasHonest: boolean, together: number): Promise<Ended[]> {
    const waiting = kinds.map((kind, number) => ({ kind, store: scratch(`${hasHonest ? 'two' : 'one'}-${number}`) }));
    const all: Ended[] = [];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        all.push(await sync(next.kind, next.store, hasHonest));
    };
    await Promise.all(Array.from({ length: together }, worker));
    report(all);
    return all;
  }

  test('alone: named, nothing wrong is held, and given up within two minutes', async () => {
    const all = await syncAll(false, 12);
    // Nothing could be begun, a build that no host has, or one in part.
    const isTold = ({ status, isNamed }: Ended): boolean => [1, 4, 9].includes(status ?? 0) && isNamed;
    expect(all.filter((one) => one.status !== 0 && !isTold(one))).toEqual([]);
    expect(all.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
    expect(all.filter(({ seconds, peakMiB }) => seconds > 120 || peakMiB > 400)).toEqual([]);
  });

  test('beside an honest one: all is held within half a minute', async () => {
    const all = await syncAll(true, 4);
    expect(all.filter(({ status }) => status !== 0)).toEqual([]);
    expect(all.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
    expect(all.filter(({ seconds, peakMiB }) => seconds > 30 || peakMiB > 400)).toEqual([]);
    const verified = kinds.map((_, number) => runPakrat(['verify', '--store', scratch(`two-${number}`)]).status);
    expect(verified.filter((status) => status !== 0)).toEqual([]);
  });
});

/** Watches how much memory a process has at the most, where the system tells. */
function watchPeak(pid: number): { end(): number } {
  let most = 0;
  let isOver = false;
  const watch = async (): Promise<void> => {
    for (; !isOver; await sleep(100)) {
      try {
        most = Math.max(most, peakMiB(pid));
      } catch {
        // It has ended.
      }
    }
  };
  void watch();
  return {
    end() {
      isOver = true;
      return most;
    },
  };
}

/** The worst of them, for whoever writes them down. */
function report(all: readonly Ended[]): void {
  const [longest] = [...all].sort((a, b) => b.seconds - a.seconds);
  const peak = Math.max(...all.map(({ peakMiB }) => peakMiB));
  const line = `${all.length} kinds; the longest took ${longest?.seconds.toFixed(1)} s (${longest?.title}); at most ${peak.toFixed(0)} MiB`;
  process.stdout.write(`${line}\n`);
}
