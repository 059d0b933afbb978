import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { conformanceTool } from './conformance.ts';
import { freePort } from './loopback.ts';
import { makeOwnTree } from './own-tree/make-tree.ts';

/*
 * A whole CDN. Where there is the generator beside the conformance files it makes the tree, so that none of our code did, and its server
 * serves it; else we make one that is alike, of which the same is true. The server is a process of its own, so that a test may wait
 * for the program without stopping the server.
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
  /** For `gencdn.py make`. Default a small tree. */
  make?: readonly string[];
  /** For `serve.py`: how badly to serve. */
  serve?: readonly string[];
}

/** Trees are made by the generator: it and python3 are there, and PAKRAT_OWN_TREES does not forbid it. */
export const hasGenerator =
  !process.env.PAKRAT_OWN_TREES &&
  existsSync(conformanceTool('gencdn.py')) &&
  // Looked for, not started: half a hundred files of tests ask.
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'python3')));

/** Makes a tree, products `wow` and `wow_old`, in a folder that need not be there. `port` is what its `cdns` names. */
export function makeTree(
  root: string,
  port: number,
  make: readonly string[] = ['--files', '200', '--total-bytes', '1M'],
): void {
  const host = `127.0.0.1:${port}`;
  if (!hasGenerator) {
    makeOwnTree(root, host, make);
    return;
  }
  const made = spawnSync('python3', [conformanceTool('gencdn.py'), 'make', '--out', root, '--host', host, ...make]);
  if (made.status !== 0) throw new Error(`gencdn.py: ${made.stderr}`);
}

/** Serves a tree over HTTP and Ribbit on free ports, as well or badly as `args` for `serve.py` say. @param by whose server; the generator's where it is */
export async function serveTree(
  root: string,
  args: readonly string[] = [],
  port?: number,
  by: 'generator' | 'own' = hasGenerator ? 'generator' : 'own',
): Promise<ServedTree> {
  const [http, ribbit] = [port ?? (await freePort()), await freePort()];
  const log = join(root, `requests-${http}.log`);
  const ports = ['--port', String(http), '--ribbit', String(ribbit)];
  const [program, script] =
    by === 'generator'
      ? ['python3', conformanceTool('serve.py')]
      : [process.execPath, 'test/support/own-tree/server.js'];
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
}

/** Makes a tree and serves it. */
export async function syntheticCdn(options: SyntheticOptions = {}): Promise<SyntheticCdn> {
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
