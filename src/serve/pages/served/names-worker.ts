/* A thread that opens a build of a store for itself and writes its names: what has to be made for that the first time takes seconds. */
import { closeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Session } from '../../../app/session/session.ts';
import { notesTo } from '../../../core/progress.ts';
import { buildSource } from '../../../sources/build-source.ts';
import type { MadeNames, NamesOrder } from './names-thread.ts';
import { writeNameFile } from './write-names.ts';

// An error ends the thread, and whoever started it is told.
void writeNames(workerData as NamesOrder);

async function writeNames({ store, locale, product, buildConfig }: NamesOrder): Promise<void> {
  const session = new Session({ store, locale, offline: true, threads: 0 });
  try {
    const { ledger } = await session.store({ create: false });
    const row = ledger.builds(product).find((build) => build.buildConfig === buildConfig);
    if (row === undefined) return;
    const notes: string[] = [];
    const { build, close } = await session.openFetched(row, { offline: true, onProgress: notesTo(notes) });
    const { temporary } = await session.folders();
    const { fd, ...file } = await writeNameFile(buildSource(build, { locale }), temporary);
    closeSync(fd);
    await close();
    parentPort?.postMessage({ file, notes } satisfies MadeNames);
  } finally {
    await session.close();
  }
}
