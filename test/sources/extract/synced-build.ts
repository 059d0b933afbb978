import * as fs from 'node:fs';
import { join } from 'node:path';
import { type BuildSource, buildSource } from '../../../src/sources/build-source.ts';
import { syncBuild } from '../../../src/sync/sync-build.ts';
import { type GeneratedCdn, generateCdn, hostOf, openGenerated } from '../../sync/generated-build.ts';

/** A build in a store, all of it. */
export interface SyncedBuild {
  cdn: GeneratedCdn;
  store: string;
}

export async function syncedBuild(store: string): Promise<SyncedBuild> {
  const cdn = generateCdn();
  const server = await hostOf(cdn);
  const online = await openGenerated({ root: store, cdn, build: 'a', servers: [server] });
  await syncBuild(online.fetcher, online.build, { tags: [], include: [], all: false });
  await online.close();
  await server.close();
  return { cdn, store };
}

/** A build as a source, and the names of the files that this thread read of it. Needs `close`. */
export async function openWatched(
  cdn: GeneratedCdn,
  root: string,
): Promise<{ source: BuildSource; read: Set<string>; close: () => Promise<void> }> {
  const { build, close } = await openGenerated({ root, cdn, build: 'a', servers: [] });
  const source = buildSource(build, { locale: 'enUS' });
  const read = new Set<string>();
  const watched: BuildSource = {
    ...source,
    read(entry) {
      read.add(entry.name);
      return source.read(entry);
    },
  };
  return { source: watched, read, close };
}

/** Copies a store, with damage here and there in its archives. */
export function damagedCopy(store: string, root: string): void {
  fs.cpSync(store, root, { recursive: true });
  const archives = fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\/data\/..\/..\/[0-9a-f]{32}$/.test(name))
    .map((name) => join(root, name));
  for (const file of archives) {
    const bytes = fs.readFileSync(file);
    if (bytes.length > 100_000) for (let i = 5000; i < bytes.length; i += 50_000) bytes[i]! ^= 0x55;
    fs.writeFileSync(file, bytes);
  }
}
