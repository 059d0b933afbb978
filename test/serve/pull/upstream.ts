import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Session } from '../../../src/app/session/session.ts';
import { publishBuild } from '../../../src/publish/publish-build.ts';
import { type Server, startServer } from '../../../src/serve/server.ts';
import type { ServeOptions } from '../../../src/serve/serving.ts';
import { type LyingServer, lyingServer } from '../../support/lying-server.ts';

/** Bytes that do not compress, the same for the same number. */
export function noise(seed: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let state = seed * 2654435761 + 1;
  for (let at = 0; at < size; at++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    bytes[at] = state >>> 16;
  }
  return bytes;
}

/** A published build on a host of its own, in memory. Needs `close`. */
export async function publishedUpstream(out: string, sizes: readonly number[]): Promise<LyingServer> {
  const upstream = await lyingServer();
  await publishMore(upstream, out, { sizes, buildId: 1 });
  return upstream;
}

/** Publishes a build to a host, beside those that it has. @param build.seed other files than those of another number */
export async function publishMore(
  upstream: LyingServer,
  out: string,
  { sizes, buildId, seed = 0 }: { sizes: readonly number[]; buildId: number; seed?: number },
): Promise<void> {
  const files = sizes.map((size, i) => ({
    name: `file${seed + i}.bin`,
    fileDataId: seed + i + 1,
    read: () => noise(seed + i + 1, size),
  }));
  const place = { product: 'game', out, hosts: [upstream.host], regions: ['us'] };
  await publishBuild({ ...place, version: `1.0.${buildId}`, buildId, files });
  for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' }))
    if (statSync(join(out, name)).isFile()) upstream.objects.set(name, new Uint8Array(readFileSync(join(out, name))));
}

/** The paths of archives of a host's objects. */
export function archivesOf({ objects }: Pick<LyingServer, 'objects'>): string[] {
  return [...objects.keys()].filter((path) => objects.has(`${path}.index`));
}

/** A server over a store that may be empty. Needs `close`. */
export async function pullServer(
  store: string,
  upstream: LyingServer,
  options: ServeOptions = {},
): Promise<Server & { session: Session }> {
  const network = { idleMs: 2_000, connectMs: 2_000, attemptsPerHost: 2 };
  const session = new Session({ store, patchUrl: upstream.base, settings: { network } });
  const server = await startServer(session, { port: 0, pullThrough: true, ...options });
  return {
    ...server,
    session,
    close: async () => {
      await server.close();
      await session.close();
    },
  };
}
