import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from '@jest/globals';
import { conformanceTool } from './conformance.ts';
import { freePort } from './loopback.ts';

/*
 * A whole CDN that none of our code made: the generator beside the conformance files makes it, and its server serves it,
 * in a process of its own, so that a test may wait for the program without stopping the server.
 */

/** A served tree. */
export interface SyntheticCdn {
  /** Folder with www/, ribbit/, truth/. */
  root: string;
  /** For --patch-url. */
  url: string;
  ribbitUrl: string;
  /** The keys of both builds and more: truth/summary.json. */
  summary: Record<string, unknown>;
  close(): Promise<void>;
}

/** How to make and serve a tree. */
export interface SyntheticOptions {
  /** For `gencdn.py make`. Default a small tree. */
  make?: readonly string[];
  /** For `serve.py`: how badly to serve. */
  serve?: readonly string[];
}

const hasTools = existsSync(conformanceTool('gencdn.py')) && spawnSync('python3', ['--version']).status === 0;

/** `describe` that needs the generator. Without it (or python3) it says so, and fails where real files are required. */
export function describeSynthetic(name: string, body: () => void): void {
  if (hasTools || process.env.PAKRAT_REQUIRE_CONFORMANCE) {
    describe(name, body);
  } else {
    console.warn(`SKIPPED, no generator at ${conformanceTool('gencdn.py')} or no python3: ${name}`);
    describe.skip(name, body);
  }
}

/** Makes a tree, product `wow`, and serves it over HTTP and Ribbit on free ports. */
export async function syntheticCdn(options: SyntheticOptions = {}): Promise<SyntheticCdn> {
  const root = mkdtempSync(join(tmpdir(), 'pakrat-cdn-'));
  const [port, ribbit] = [await freePort(), await freePort()];
  const make = options.make ?? ['--files', '200', '--total-bytes', '1M'];
  const made = spawnSync('python3', [
    conformanceTool('gencdn.py'),
    'make',
    '--out',
    root,
    '--host',
    `127.0.0.1:${port}`,
    ...make,
  ]);
  if (made.status !== 0) throw new Error(`gencdn.py: ${made.stderr}`);
  const server = spawn(
    'python3',
    [
      conformanceTool('serve.py'),
      '--root',
      root,
      '--port',
      String(port),
      '--ribbit',
      String(ribbit),
      ...(options.serve ?? []),
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => server.on('close', resolve));
  await Promise.all([listening(port), listening(ribbit)]);
  return {
    root,
    url: `http://127.0.0.1:${port}`,
    ribbitUrl: `ribbit://127.0.0.1:${ribbit}`,
    summary: JSON.parse(readFileSync(join(root, 'truth', 'summary.json'), 'utf8')) as Record<string, unknown>,
    async close() {
      server.kill('SIGKILL');
      await ended;
      rmSync(root, { recursive: true });
    },
  };
}

async function listening(port: number): Promise<void> {
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
