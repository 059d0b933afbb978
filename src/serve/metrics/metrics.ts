import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { LogEntry } from '../logs/log-line.ts';

/** Figures of a server, in the text form of Prometheus. */
export interface Metrics {
  /** Others add their own figures to it. */
  readonly registry: Registry;
  /** Counts a request that has ended. */
  count(entry: LogEntry): void;
}

/** What is measured when somebody asks. */
interface Gauges {
  connections: () => number;
  /** Bytes of objects that the store holds. */
  heldBytes: () => number;
}

/** Bytes held are a sum over the ledger: a scraper that asks without end does not make it anew each time. */
const heldMs = 5_000;

/** Figures that count from now. */
export function openMetrics({ connections, heldBytes }: Gauges): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'pakrat_requests_total',
    help: 'Requests by what they asked for and the status of their answer.',
    labelNames: ['kind', 'status'],
    registers,
  });
  const bytes = new Counter({
    name: 'pakrat_sent_bytes_total',
    help: 'Bytes of bodies that were sent, by what was asked for.',
    labelNames: ['kind'],
    registers,
  });
  const seconds = new Histogram({
    name: 'pakrat_request_seconds',
    help: 'Time from a request to the end of its answer, by what was asked for.',
    labelNames: ['kind'],
    buckets: [0.005, 0.025, 0.1, 0.5, 2, 10, 60],
    registers,
  });
  new Gauge({
    name: 'pakrat_connections',
    help: 'Connections that are open.',
    registers,
    collect() {
      this.set(connections());
    },
  });
  let [held, heldAt] = [0, Number.NEGATIVE_INFINITY];
  new Gauge({
    name: 'pakrat_store_held_bytes',
    help: 'Bytes of objects that the store holds.',
    registers,
    collect() {
      if (performance.now() - heldAt > heldMs) [held, heldAt] = [heldBytes(), performance.now()];
      this.set(held);
    },
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  return {
    registry,
    count(entry) {
      const kind = kindOf(entry);
      requests.inc({ kind, status: entry.status });
      bytes.inc({ kind }, entry.bytes);
      seconds.observe({ kind }, entry.ms / 1000);
    },
  };
}

/** A few kinds, whatever clients ask: each is a line for as long as the server runs. */
function kindOf({ method, url }: LogEntry): string {
  if (method === 'RIBBIT') return 'ribbit';
  const path = url.replace(/[?#].*$/s, '');
  if (method === '' || path === '/metrics' || path === '/healthz') return method === '' ? 'unreadable' : 'watch';
  if (path === '/' || path.startsWith('/-/')) return 'page';
  if (/^\/summary$|^\/v2\/|^\/[^/]+\/[a-z]+$/.test(path)) return 'answer';
  return 'object';
}
