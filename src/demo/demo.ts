import * as fs from 'node:fs';
import { join } from 'node:path';
import { type ExtractResult, extract } from '../app/extract.ts';
import { importKeys, type KeyImport } from '../app/keys/import-keys.ts';
import { isListedFolder, listFiles } from '../app/list.ts';
import { importListfile } from '../app/listfile/import-listfile.ts';
import { readFile } from '../app/read.ts';
import { withSession } from '../app/session/session.ts';
import type { SessionOptions } from '../app/session/session-options.ts';
import { readStatus } from '../app/status.ts';
import { type SyncReport, sync } from '../app/sync.ts';
import { abortError, codeOf, PakratError } from '../core/errors.ts';
import type { OnProgress, WorkOptions } from '../core/progress.ts';
import { formatBytes, formatDuration } from '../core/quantities.ts';
import { removeTemporaryFolder } from '../files/temporary.ts';
import { encodeKeyList } from '../formats/configs/key-list.ts';
import { encodeListfile } from '../formats/roots/listfile.ts';
import type { FolderFile } from '../publish/files/folder-files.ts';
import { type PublishedBuild, publishBuild } from '../publish/publish-build.ts';
import { type ServeStats, type StaticServer, serveFolder } from '../serve/static-server.ts';
import { type Comparison, compareWithGame } from './compare.ts';
import { claimDemoFolder, type DemoFolder, shownPath } from './folder.ts';
import { demoBuild, demoKey, demoLocales, sampleGame } from './game.ts';

type Amount = SyncReport['wanted'];

interface DemoRequest {
  /** Folder to work in. */
  to: string;
  /** The program in the commands that are shown: `pakrat`, `node bin/run.js`. */
  program: string;
  settings?: SessionOptions['settings'];
}

interface DemoHooks extends WorkOptions {
  log: (text: string) => void;
}

/** The steps of a demo and their outcome, as `demo --json` prints them. */
export interface DemoReport {
  folder: string;
  published: Omit<PublishedBuild, 'names'>;
  /** The sync that was stopped: what the store held then, and what the server had sent until then. */
  interrupted: { code: string; wanted: Amount; held: Amount; served: ServeStats };
  /** The same sync again. */
  resumed: Pick<SyncReport, 'wanted' | 'held' | 'missing' | 'fetched'> & { served: ServeStats };
  /** Files that could not be extracted before the key was there. */
  locked: ExtractResult['failed'];
  keys: KeyImport;
  extracted: { files: number; bytes: number };
  compared: Comparison;
  seconds: number;
}

/**
 * The words that start this program: whoever has not installed it can still copy the commands that are shown.
 * @param script what node was started with, @param bin the name when it is installed
 */
export function programName(script: string | undefined, bin: string): string {
  return script?.endsWith('run.js') ? `node ${shownPath(script)}` : bin;
}

/** Seconds that the server takes for the whole game: long enough to see a bar, and to stop it. */
const servingSeconds = 4;
/** The part of the data after which the sync is stopped. What is in flight is still taken. */
const stopAfter = 0.45;
/** So small that a small game has some. */
const archiveBytes = 48 * 1024;
const jobs = 2;

/** What to do after a demo that was interrupted. */
export const interruptedHint = 'Run it again: a demo begins anew.';

/**
 * Publishes the sample game, serves it, syncs it with an interruption, extracts it and compares it with the original, and tells of each step.
 * Nothing is left but the folder that was named; no network is used but the loopback.
 * @throws E_USAGE for a folder that is not the demo's, E_INTEGRITY when a file came out wrong, E_ABORTED
 */
export async function runDemo(request: DemoRequest, hooks: DemoHooks): Promise<DemoReport> {
  const started = performance.now();
  const folder = claimDemoFolder(request.to);
  const game = sampleGame();
  const demo: Demo = {
    game,
    folder,
    hooks,
    options: { store: folder.store, region: 'us', settings: request.settings },
  };
  hooks.log(
    'Lantern Deep, a small game made up for this, goes from a folder to a CDN, into a store, and back to files.',
  );
  hooks.log(`All of it happens in ${shownPath(folder.root)} and on this machine.`);
  try {
    const synced = await publishAndSync(demo);
    // No service, no host: what is synced can be read without a network.
    const offline: Demo = { ...demo, options: { ...demo.options, offline: true } };
    const read = await extractAll(offline);
    await showFiles(offline);
    showMore(demo, request.program);
    return { folder: folder.root, ...synced, ...read, seconds: Math.round(performance.now() - started) / 1000 };
  } catch (error) {
    // What it does says that it goes on where it stopped, which a demo does not.
    if (codeOf(error) !== 'E_ABORTED') throw error;
    throw new PakratError('E_ABORTED', 'interrupted', { hint: interruptedHint });
  } finally {
    removeTemporaryFolder(folder.temporary);
  }
}

interface Demo {
  game: readonly FolderFile[];
  folder: DemoFolder;
  options: SessionOptions;
  hooks: DemoHooks;
}

async function publishAndSync(demo: Demo): Promise<Pick<DemoReport, 'published' | 'interrupted' | 'resumed'>> {
  const { folder, hooks, options } = demo;
  const bytesPerSecond = servingRate(demo.game);
  const server = await serveFolder(folder.cdn, { bytesPerSecond });
  try {
    const { names, ...published } = await publish(demo, server);
    fs.writeFileSync(folder.listfile, encodeListfile(names));
    step(hooks, 2, `Serve it at ${server.url}, no faster than ${formatBytes(bytesPerSecond)} a second`);
    const online: Demo = { ...demo, options: { ...options, patchUrl: server.url } };
    const interrupted = await syncHalf(online, server);
    const resumed = await syncRest(online, server, interrupted.held);
    step(hooks, 5, 'Stop the server: from here on the store is enough');
    return { published, interrupted, resumed };
  } finally {
    await server.close();
  }
}

/** Encoded, the game is about half as large. */
function servingRate(game: readonly FolderFile[]): number {
  const bytes = game.reduce((sum, { path }) => sum + fs.statSync(path).size, 0);
  return Math.ceil(bytes / 2 / servingSeconds);
}

async function publish({ game, folder, hooks }: Demo, server: StaticServer): Promise<PublishedBuild> {
  step(hooks, 1, 'Publish: make a build of the folder, as a CDN has it');
  const built = await publishBuild({
    ...demoBuild,
    files: game,
    root: 'wow',
    out: folder.cdn,
    cdnPath: `tpr/${demoBuild.product}`,
    archiveBytes,
    hosts: [new URL(server.url).host],
    signal: hooks.signal,
  });
  const { files, bytes, archives, looseObjects, objects, objectBytes } = built;
  const encrypted = game.filter((file) => file.key !== undefined).length;
  hooks.log(`   ${files} files, ${formatBytes(bytes)}, ${encrypted} of them encrypted, ${demoLocales.join(' and ')}`);
  hooks.log(`   → ${objects} objects, ${formatBytes(objectBytes)}, in ${archives} archives and ${looseObjects} loose`);
  hooks.log(`   → build config ${built.buildConfig}, CDN config ${built.cdnConfig}`);
  return built;
}

/** The real thing: the signal that Ctrl-C sets, set when a part of the data has come. */
async function syncHalf(demo: Demo, server: StaticServer): Promise<DemoReport['interrupted']> {
  const { hooks, options } = demo;
  step(hooks, 3, 'Sync it into an empty store, and press Ctrl-C half-way');
  const served = countServed(server);
  const stop = new AbortController();
  const signals = hooks.signal === undefined ? [stop.signal] : [hooks.signal, stop.signal];
  const onProgress = watched(hooks.onProgress, stopAfter, () => stop.abort(abortError()));
  let code = 'none';
  try {
    await runSync(demo, { onProgress, signal: AbortSignal.any(signals) });
  } catch (error) {
    if (hooks.signal?.aborted || codeOf(error) !== 'E_ABORTED') throw error;
    code = 'E_ABORTED';
  }
  const [build] = (await withSession(options, (session) => readStatus(session, demoBuild.product))).builds;
  if (build === undefined) throw new Error('the build that was synced is not known');
  const { wanted, held } = build;
  hooks.log(`   stopped with ${code}; \`pakrat status\` says: ${heldOf(held, wanted)}`);
  hooks.log(`   the server has sent ${servedText(served())}`);
  return { code, wanted, held, served: served() };
}

async function syncRest(demo: Demo, server: StaticServer, before: Amount): Promise<DemoReport['resumed']> {
  const { hooks } = demo;
  step(hooks, 4, 'Sync again: the same command goes on where it stopped');
  const served = countServed(server);
  const { wanted, held, missing, fetched, seconds } = await runSync(demo, hooks);
  hooks.log(`   ${heldOf(held, wanted)}, after ${formatDuration(seconds)}`);
  hooks.log(`   ${formatBytes(wanted.bytes - before.bytes)} were missing; the server has sent ${servedText(served())}`);
  return { wanted, held, missing, fetched, served: served() };
}

function runSync({ options }: Demo, { signal, onProgress }: WorkOptions): Promise<SyncReport> {
  return withSession(options, (session) => sync(session, demoBuild.product, { jobs, signal, onProgress }));
}

/** Passes events on, and calls `reached` once when that share of the bytes is done. */
function watched(onProgress: OnProgress | undefined, share: number, reached: () => void): OnProgress {
  let told = false;
  return (event) => {
    onProgress?.(event);
    if (told || event.type !== 'bytes' || event.total === 0 || event.done < event.total * share) return;
    told = true;
    reached();
  };
}

function countServed({ stats }: StaticServer): () => ServeStats {
  const before = { ...stats };
  return () => ({ requests: stats.requests - before.requests, bytes: stats.bytes - before.bytes });
}

async function extractAll(demo: Demo): Promise<Pick<DemoReport, 'locked' | 'keys' | 'extracted' | 'compared'>> {
  const { hooks } = demo;
  step(hooks, 6, 'Import the names of files, for a build knows only their hashes, and extract everything');
  const { folder, options } = demo;
  const { ids } = await withSession(options, (session) => importListfile(session, folder.listfile));
  hooks.log(`   ${ids} names`);
  const [first, second] = demoLocales;
  const before = await extractLocale(demo, first);
  const locked = before.failed;
  for (const { name, message } of locked) hooks.log(`   not ${name}: ${message}`);
  step(hooks, 7, 'Import the key that is missing, and extract in both languages');
  fs.writeFileSync(folder.keys, encodeKeyList([demoKey]));
  const keys = await withSession(options, (session) => importKeys(session, [folder.keys]));
  hooks.log(`   ${demoKey.name.toUpperCase()} ${demoKey.key.toUpperCase()}: ${keys.added} new key`);
  const results = [before, await extractLocale(demo, first), await extractLocale(demo, second)];
  const extracted = {
    files: results.reduce((sum, { files }) => sum + files, 0),
    bytes: results.reduce((sum, { bytes }) => sum + bytes, 0),
  };
  return { locked, keys, extracted, compared: compareAll(demo) };
}

async function extractLocale({ options, folder, hooks }: Demo, locale: string): Promise<ExtractResult> {
  const to = join(folder.extracted, locale);
  const { signal, onProgress } = hooks;
  const result = await withSession({ ...options, locale }, (session) =>
    extract(session, demoBuild.product, { to, signal, onProgress }),
  );
  const { files, bytes, skipped } = result;
  const already = skipped > 0 ? `, ${skipped} were there already` : '';
  hooks.log(`   ${files} ${files === 1 ? 'file' : 'files'} (${formatBytes(bytes)}) to ${shownPath(to)}${already}`);
  return result;
}

function compareAll({ game, folder, hooks }: Demo): Comparison {
  step(hooks, 8, 'Compare every file with the original');
  const all: Comparison = { files: 0, bytes: 0, different: [] };
  for (const locale of demoLocales) {
    const { files, bytes, different } = compareWithGame(game, join(folder.extracted, locale), locale);
    all.files += files;
    all.bytes += bytes;
    all.different.push(...different);
  }
  const [one, ...others] = all.different;
  if (one !== undefined) {
    const what = others.length === 0 ? '1 file is' : `${all.different.length} files are`;
    throw new PakratError('E_INTEGRITY', `${what} not as published: ${one}${others.length === 0 ? '' : ', …'}`, {
      hint: 'This is a bug in pakrat. Please report it.',
      data: { different: all.different },
    });
  }
  hooks.log(`   ${all.files} files, ${formatBytes(all.bytes)}: the same, byte for byte`);
  return all;
}

async function showFiles({ options, hooks }: Demo): Promise<void> {
  const { product } = demoBuild;
  step(hooks, 9, `Look at it: ls ${product} 'scripts/*'`);
  await withSession(options, (session) =>
    listFiles(session, product, { names: ['scripts/*'] }, async (rows) => {
      for await (const row of rows)
        if (!isListedFolder(row)) hooks.log(`${String(row.size).padStart(10)}  ${row.name}`);
    }),
  );
  const name = 'texts/story.txt';
  step(hooks, 10, `Read one: cat ${product} ${name} --locale deDE`);
  const pieces: Uint8Array[] = [];
  await withSession(options, (session) =>
    readFile(session, product, name, { locale: 'deDE' }, (piece) => void pieces.push(piece)),
  );
  for (const line of Buffer.concat(pieces).toString().trimEnd().split('\n')) hooks.log(`   ${line}`.trimEnd());
}

function showMore({ folder, hooks }: Demo, program: string): void {
  const store = `--store ${shownPath(folder.store)}`;
  hooks.log(`
Done. ${shownPath(folder.root)} keeps the store and what was extracted. Without any network, try:

  ${program} ls ${demoBuild.product} --offline ${store}
  ${program} cat ${demoBuild.product} secrets/ending.txt --offline ${store}

With a real product:

  ${program} sync wow_classic_era --tags Windows,x86_64,enUS      (Ctrl-C, and the same again)
  ${program} status
  ${program} keys import WoW.txt
  ${program} listfile import community-listfile.csv
  ${program} ls wow_classic_era 'interface/icons/*'
  ${program} extract wow_classic_era 'interface/icons/*.blp' --to icons`);
}

function step(hooks: DemoHooks, number: number, title: string): void {
  hooks.log(`\n${String(number).padStart(2)} ${title}`);
}

function heldOf(held: Amount, wanted: Amount): string {
  return `${held.entries} of ${wanted.entries} objects are held, ${formatBytes(held.bytes)} of ${formatBytes(wanted.bytes)}`;
}

function servedText({ requests, bytes }: ServeStats): string {
  return `${formatBytes(bytes)} in ${requests} answers`;
}
