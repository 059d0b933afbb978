import { existsSync, statSync } from 'node:fs';
import { type Build, openBuild } from '../builds/build.ts';
import { PakratError } from '../core/errors.ts';
import { findInstall } from '../installs/casc/find-install.ts';
import { openInstall } from '../installs/casc/open-install.ts';
import { cdnBytes, checkCdn } from '../installs/cdn-folder/check-cdn.ts';
import { openCdnFolder } from '../installs/cdn-folder/open-cdn-folder.ts';
import type { CheckedObject } from '../installs/check-folder.ts';
import type { LocalBuild } from '../installs/folder-build.ts';
import { openStatic } from '../installs/static/open-static.ts';
import { buildSource } from '../sources/build-source.ts';
import type { VerifyResult } from '../sources/paks/verify-pak.ts';
import type { Source } from '../sources/source.ts';
import { openStore } from '../store/store.ts';
import type { SessionHooks } from './compose.ts';
import type { GlobalOptions } from './global-options.ts';
import type { Progress } from './render/progress.ts';

/** A folder that holds a build, as a person names it. */
export interface LocalName {
  scheme: 'casc' | 'cdn';
  /** `PATH` or `PATH@BUILD`. */
  rest: string;
}

/** Takes `PATH[@BUILD]` apart: a path that exists is one, whatever is in it. */
export function splitChoice(text: string): { path: string; choice: string | undefined } {
  const at = text.lastIndexOf('@');
  if (at <= 0 || existsSync(text)) return { path: text, choice: undefined };
  return { path: text.slice(0, at), choice: text.slice(at + 1) };
}

/**
 * Opens an installed game or a folder in the layout of a CDN, runs `body` with it, and closes it. The folder is only read: what is
 * derived of it (decoded manifests, sorted names) goes to the store, from which keys and lists of names are taken, too.
 * @throws E_NOT_FOUND, E_USAGE when several builds are meant, or as openBuild
 */
export async function withLocalBuild<Result>(
  options: GlobalOptions,
  name: LocalName,
  { hooks, tellNotes = true }: { hooks: SessionHooks; tellNotes?: boolean },
  body: (source: Source, opened: { local: LocalBuild; build: Build }) => Promise<Result>,
): Promise<Result> {
  const local = openFolder(name);
  try {
    const store = openStore(options.store, { create: true });
    try {
      local.prepare?.(store.layout);
      const { identity, objects, cdnConfig } = local;
      const build = await openBuild({ store, identity, objects, cdnConfig, onStep: hooks.onStep });
      try {
        return await body(sourceOf(build, local, options), { local, build });
      } finally {
        build.close();
        if (tellNotes) for (const note of local.notes) hooks.note(`Note: ${note}.`);
      }
    } finally {
      store.close();
    }
  } finally {
    local.close();
  }
}

function demandFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new PakratError('E_NOT_FOUND', `there is no folder ${path}`, { data: { path } });
}

function openFolder({ scheme, rest }: LocalName): LocalBuild {
  const { path, choice } = splitChoice(rest);
  demandFolder(path);
  if (scheme === 'cdn') return openCdnFolder(path, choice);
  const install = findInstall(path);
  return install.buildInfo === undefined ? openStatic(install, path) : openInstall(install, path, choice);
}

/** The build as a source, which also says what of it is in the folder. */
function sourceOf(build: Build, local: LocalBuild, { locale }: GlobalOptions): Source {
  const { isHere } = local;
  const noteOf = (ekeys: readonly string[]): string | undefined =>
    isHere === undefined || ekeys.length === 0 || isHere(ekeys) ? undefined : 'not installed';
  const source = buildSource(build, { locale, noteOf });
  return {
    ...source,
    kind: local.kind,
    label: local.path,
    async info() {
      const { kind, archives, archiveEntries, looseFiles, notes = [], ...facts } = await source.info();
      const own = await local.info(build);
      const told = [...(notes as string[]), ...((own.notes as string[]) ?? [])];
      return { kind: local.kind, ...own, ...facts, notes: told };
    },
  };
}

/**
 * Checks everything in such a folder: all of it, not only what belongs to one build. A folder in the layout of a CDN needs none for that.
 * @throws as withLocalBuild, E_ABORTED
 */
export async function verifyLocalBuild(
  options: GlobalOptions,
  name: LocalName,
  hooks: SessionHooks & { progress: Progress },
): Promise<VerifyResult> {
  if (name.scheme === 'cdn') {
    const { path } = splitChoice(name.rest);
    demandFolder(path);
    return collect(checkCdn(path), cdnBytes(path), hooks);
  }
  const local = openFolder(name);
  try {
    if (local.check !== undefined) return await collect(local.check(), local.checkBytes?.() ?? 0, hooks);
  } finally {
    local.close();
  }
  return withLocalBuild(options, name, { hooks }, (_, { local, build }) =>
    collect(local.checkWith?.(build) ?? [], local.checkBytes?.() ?? 0, hooks),
  );
}

async function collect(
  objects: AsyncIterable<CheckedObject> | Iterable<CheckedObject>,
  total: number,
  { signal, progress }: SessionHooks & { progress: Progress },
): Promise<VerifyResult> {
  const result: VerifyResult = { checked: { entries: 0, bytes: 0 }, bad: [], repaired: 0 };
  const { checked } = result;
  for await (const { name, bytes, problem } of objects) {
    signal?.throwIfAborted();
    checked.entries += 1;
    checked.bytes += bytes;
    if (problem !== undefined) result.bad.push({ name, ...problem });
    progress.update({ phase: 'verify', done: checked.bytes, total });
    // Hashing waits for nothing: without this nobody would hear an interruption.
    if (checked.entries % 64 === 0) await new Promise(setImmediate);
  }
  return result;
}
