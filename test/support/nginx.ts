import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from '@jest/globals';
import { freePort } from './loopback.ts';
import { listening, type ServedRequest } from './served-cdn.ts';

/*
 * nginx, the server that real mirrors run, as the other side of a test: one process of our own on a free port, over a folder,
 * with keep-alive. `tcp_nopush` is off, for with it ranges over 64 KiB stall on loopback.
 */

/** How to serve. */
export interface NginxOptions {
  /** Folder served as /. */
  folder: string;
  /** Default: a free one. */
  port?: number;
  /** Bytes a second for each answer. Default: no limit. */
  bytesPerSecond?: number;
  /** Bytes of an answer that may wait in a connection, which count as sent. Default: 256 KiB. */
  sendBuffer?: number;
  /** More lines of its `server` block, to be a bad host on purpose. */
  rules?: string;
  /** A `server` block instead of all of that; it listens on the port. */
  server?: string;
}

/** A running nginx. */
export interface Nginx {
  /** `127.0.0.1:port`. */
  host: string;
  /** For --patch-url. */
  url: string;
  /** What was asked so far, once nothing is being sent any more. */
  requests(): Promise<ServedRequest[]>;
  /** Bytes of bodies sent so far, once nothing is being sent any more. */
  bytesSent(): Promise<number>;
  close(): Promise<void>;
}

/** True when the program is there. */
export const hasNginx = spawnSync('nginx', ['-v']).status === 0;

/** `describe` that needs nginx. Without it it says so, and fails where real parts are required (PAKRAT_REQUIRE_CONFORMANCE). */
export function describeNginx(name: string, body: () => void): void {
  if (hasNginx) {
    describe(name, body);
  } else if (process.env.PAKRAT_REQUIRE_CONFORMANCE) {
    test(`${name} (nginx)`, () => {
      throw new Error('nginx is required, but is not installed');
    });
  } else {
    console.warn(`SKIPPED, nginx is not installed: ${name}`);
    describe.skip(name, body);
  }
}

/** Starts nginx over a folder. */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const home = mkdtempSync(join(tmpdir(), 'pakrat-nginx-'));
  const port = options.port ?? (await freePort());
  mkdirSync(join(home, 'logs'));
  writeFileSync(join(home, 'nginx.conf'), configuration(port, options));
  const args = ['-p', home, '-e', join(home, 'logs/error.log'), '-c', join(home, 'nginx.conf')];
  const server = spawn('nginx', args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => server.on('close', resolve));
  const early = ended.then(() => {
    throw new Error(`nginx did not start: ${readFileSync(join(home, 'logs/error.log'), 'utf8')}`);
  });
  await Promise.race([listening(port), early]);
  early.catch(() => {});
  const url = `http://127.0.0.1:${port}`;
  const requests = async (): Promise<ServedRequest[]> => {
    await idle(url);
    return readFileSync(join(home, 'logs/access.log'), 'utf8').split('\n').flatMap(parseRequest);
  };
  return {
    host: `127.0.0.1:${port}`,
    url,
    requests,
    bytesSent: async () => (await requests()).reduce((sum, { bytes }) => sum + bytes, 0),
    async close() {
      server.kill('SIGTERM');
      await ended;
      rmSync(home, { recursive: true });
    },
  };
}

/** One process without a master: it runs as whoever runs the tests, and there is one id to end. */
function configuration(
  port: number,
  { folder, bytesPerSecond, sendBuffer = 256 * 1024, rules = '', server }: NginxOptions,
): string {
  const rate = bytesPerSecond === undefined ? '' : `limit_rate ${Math.round(bytesPerSecond)};`;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((part) => `${part}_temp_path logs;`);
  const usual = `
  server {
    listen 127.0.0.1:${port} sndbuf=${sendBuffer};
    ${rate}
    location = /nginx-status { stub_status; access_log off; limit_rate 0; }
    location / { root ${folder}; }
    ${rules}
  }`;
  return `
daemon off; master_process off; pid logs/nginx.pid;
events { worker_connections 1024; }
http {
  log_format short '$status $body_bytes_sent $uri "$http_range"';
  access_log logs/access.log short;
  ${temporary.join(' ')}
  sendfile on; tcp_nopush off; keepalive_timeout 60s; keepalive_requests 1000000;
  default_type application/octet-stream;
  ${server ?? usual}
}
`;
}

/** Waits until no answer is being written: only then the log has all of them. */
async function idle(url: string): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    const status = await (await fetch(`${url}/nginx-status`, { headers: { connection: 'close' } })).text();
    // The question itself is being written.
    if (/Writing: 1 /.test(status)) return;
    await sleep(20);
  }
  throw new Error(`${url} is still busy`);
}

function parseRequest(line: string): ServedRequest[] {
  const match = /^(\d+) (\d+) (\S+) "(.*)"$/.exec(line);
  if (match === null) return [];
  const [status, bytes, path, range] = match.slice(1) as [string, string, string, string];
  return [{ status: Number(status), path, range: range === '-' ? undefined : range, bytes: Number(bytes) }];
}
