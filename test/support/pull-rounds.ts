import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeArchiveIndex } from '../../src/formats/indices/archive-index.ts';
import type { Lie, LyingServer } from './lying-server.ts';

/** The outcome of many clients that asked for random ranges. */
export interface PullRounds {
  requests: number;
  /** Answers that were given whole; the others were refused or cut. */
  whole: number;
  wrongBytes: number;
  /** Bytes of the answers of the CDN that were right, or right until they were cut. */
  cameRight: number;
  /** Bytes of the entries that clients touched, each counted whole, once. */
  touched: number;
}

/** Clients, how long they ask, and the share of lies among the answers of the CDN. */
interface PullClients {
  clients: number;
  seconds: number;
  lies: number;
  seed: number;
  /** How long a client waits before it asks again. Default: not at all. */
  restMs?: number;
}

/** Numbers from 0 to 1, the same for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Has clients ask a server for random ranges of the archives that a CDN has, which lies now and then, and compares every byte that comes. */
export async function pullRounds(
  url: string,
  upstream: LyingServer,
  { clients, seconds, lies, seed, restMs }: PullClients,
): Promise<PullRounds> {
  const random = randomNumbers(seed);
  const archives = [...upstream.objects.keys()].filter((path) => upstream.objects.has(`${path}.index`));
  const outcome: PullRounds = { requests: 0, whole: 0, wrongBytes: 0, cameRight: 0, touched: 0 };
  const touched = new Set<string>();
  const entries = new Map(
    archives.map((path) => [path, [...decodeArchiveIndex(upstream.objects.get(`${path}.index`)!)]]),
  );
  upstream.lie = ({ path, range }) => {
    if (range === undefined || !entries.has(path)) return undefined;
    const size = range.end - range.start;
    const lie = random() < lies ? chooseLie(random, range.start, size) : undefined;
    // What came before an answer was cut was right, too.
    if (lie === undefined) outcome.cameRight += size;
    else if ('after' in lie) outcome.cameRight += lie.after;
    return lie ?? (random() < 0.2 ? { kind: 'drip', bytes: Math.ceil(size / 5), everyMs: 20 } : undefined);
  };
  const until = performance.now() + seconds * 1000;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const path = archives[Math.floor(random() * archives.length)]!;
      const bytes = upstream.objects.get(path)!;
      const start = Math.floor(random() * bytes.length);
      const end = Math.min(bytes.length, start + 1 + Math.floor(random() ** 3 * 200_000));
      for (const { offset, size } of entries.get(path)!)
        if (offset < end && offset + size > start) {
          const key = `${path} ${offset}`;
          if (!touched.has(key)) outcome.touched += size;
          touched.add(key);
        }
      outcome.requests += 1;
      const truth = Buffer.from(bytes.subarray(start, end));
      const { right, isWhole } = await ask(`${url}/${path}`, start, truth);
      if (!right) outcome.wrongBytes += 1;
      if (isWhole) outcome.whole += 1;
      else await sleep(50);
      if (restMs !== undefined) await sleep(restMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  upstream.lie = () => undefined;
  return outcome;
}

function chooseLie(random: () => number, start: number, size: number): Lie {
  const lies: Lie[] = [
    { kind: 'flip', offset: start + Math.floor(random() * size) },
    { kind: 'cut', after: Math.floor(random() * size) },
    { kind: 'stall', after: Math.floor(random() * size) },
    { kind: 'status', status: 503 },
    { kind: 'html' },
    { kind: 'hang up' },
  ];
  return lies[Math.floor(random() * lies.length)]!;
}

function ask(url: string, start: number, truth: Buffer): Promise<{ right: boolean; isWhole: boolean }> {
  return new Promise((resolve) => {
    let at = 0;
    let right = true;
    const end = (): void => resolve({ right, isWhole: at === truth.length });
    const headers = { range: `bytes=${start}-${start + truth.length - 1}` };
    const asked = request(url, { headers }, (response) => {
      response.on('data', (piece: Buffer) => {
        if (response.statusCode !== 206) return;
        if (!piece.equals(truth.subarray(at, at + piece.length))) right = false;
        at += piece.length;
      });
      response.on('close', end);
    });
    asked.on('error', end);
    asked.end();
  });
}
