import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './loopback.ts';

/*
 * A whole CDN, products `wow` and `wow_old`, made and served for a test. The server is a process of its own, so that a test may wait for the program
 * without stopping the server.
 */

/** A tree that is served. */
export interface ServedTree {
  /** For --patch-url. */
  url: string;
  ribbitUrl: string;
  /** What was asked of the server so far. */
  requests(): ServedRequest[];
  /** Bytes of bodies that the server meant to send so far. */
  bytesSent(): number;
  close(): Promise<void>;
}

/** A line of the server's log. */
export interface ServedRequest {
  status: number;
  /** With the slash in front. */
  path: string;
  range: string | undefined;
  bytes: number;
}

/** A served tree, made for the occasion. */
export interface SyntheticCdn extends ServedTree {
  /** Folder with www/, ribbit/, truth/. */
  root: string;
  /** The keys of both builds and more: truth/summary.json. */
  summary: Record<string, unknown>;
}

/** How to make and serve a tree. */
export interface SyntheticOptions {
  /** As gencdn.py has it. Default a small tree. */
  make?: readonly string[];
  /** As serve.py has it: how badly to serve. */
  serve?: readonly string[];
}

/** Who makes trees, and serves them. */
export interface TreeMaker {
  /** @param host `host:port`, as the `cdns` of the tree names it */
  make(root: string, host: string, args: readonly string[]): void;
  /** The program that serves a tree, and its first argument. */
  server: readonly [program: string, script: string];
}

/** What a test does with the trees of a maker. */
export interface Trees {
  /** Makes a tree in a folder that need not be there. `port` is what its `cdns` names. */
  makeTree(root: string, port: number, make?: readonly string[]): void;
  /** Serves a tree over HTTP and Ribbit on free ports, as well or badly as `args` say. */
  serveTree(root: string, args?: readonly string[], port?: number): Promise<ServedTree>;
  /** Makes a tree and serves it. */
  syntheticCdn(options?: SyntheticOptions): Promise<SyntheticCdn>;
}

/** Trees of a maker. */
export function treesOf({ make: makeWith, server: [program, script] }: TreeMaker): Trees {
  const makeTree: Trees['makeTree'] = (root, port, make = ['--files', '200', '--total-bytes', '1M']) =>
    makeWith(root, `127.0.0.1:${port}`, make);

  const serveTree: Trees['serveTree'] = async (root, args = [], port) => {
    const [http, ribbit] = [port ?? (await freePort()), await freePort()];
    const log = join(root, `requests-${http}.log`);
    const ports = ['--port', String(http), '--ribbit', String(ribbit)];
    const server = spawn(program, [script, '--root', root, ...ports, '--log', log, ...args], { stdio: 'ignore' });
    const ended = new Promise((resolve) => server.on('close', resolve));
    await Promise.all([listening(http), listening(ribbit)]);
    const requests = (): ServedRequest[] => readFileSync(log, 'utf8').split('\n').flatMap(parseRequest);
    return {
      url: `http://127.0.0.1:${http}`,
      ribbitUrl: `ribbit://127.0.0.1:${ribbit}`,
      requests,
      bytesSent: () => requests().reduce((sum, { bytes }) => sum + bytes, 0),
      async close() {
        server.kill('SIGKILL');
        await ended;
      },
    };
  };

  const syntheticCdn: Trees['syntheticCdn'] = async (options = {}) => {
    const root = mkdtempSync(join(tmpdir(), 'pakrat-cdn-'));
    const port = await freePort();
    makeTree(root, port, options.make);
    const served = await serveTree(root, options.serve, port);
    return {
      ...served,
      root,
      summary: JSON.parse(readFileSync(join(root, 'truth', 'summary.json'), 'utf8')) as Record<string, unknown>,
      async close() {
        await served.close();
        rmSync(root, { recursive: true });
      },
    };
  };
  return { makeTree, serveTree, syntheticCdn };
}

/** `206 GET /tpr/wow/data/… bytes=0-99 100 host=…` */
function parseRequest(line: string): ServedRequest[] {
  const match = /^(\d+) [A-Z]+ (\S+) (\S+) (\d+) host=/.exec(line);
  if (match === null) return [];
  const [status, path, range, bytes] = match.slice(1) as [string, string, string, string];
  return [{ status: Number(status), path, range: range === '-' ? undefined : range, bytes: Number(bytes) }];
}

/** Waits until somebody listens on a port of 127.0.0.1. */
export async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => resolve(false));
      socket.on('connect', () => {
        socket.destroy();
        resolve(true);
      });
    });
    if (open) return;
    await sleep(20);
  }
  throw new Error(`nobody listens on port ${port}`);
}
