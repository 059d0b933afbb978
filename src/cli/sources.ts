import { existsSync, statSync } from 'node:fs';
import { fileSource } from '../files/file-source.ts';
import { isInstall } from '../installs/casc/find-install.ts';
import { isCdnFolder } from '../installs/cdn-folder/find-cdn.ts';
import { findPakFamily, isCalledPak, openPak, type PakOptions } from '../paks/index.ts';
import type { PakPath, PakPool } from '../sources/paks/pak-pool.ts';
import { pakSource } from '../sources/paks/pak-source.ts';
import type { Source } from '../sources/source.ts';
import type { Session, SessionHooks } from './compose.ts';
import type { GlobalOptions } from './global-options.ts';
import { localOptions, type PakFlags } from './pak-options.ts';

/** How a person names a source. */
export interface SourceName {
  scheme: 'tact' | 'pak' | 'casc' | 'cdn';
  /** What stands behind the scheme. */
  rest: string;
}

/** An existing path is local, anything else is a product; `tact:`, `pak:`, `casc:`, `cdn:` in front force the reading. */
export function parseSourceName(text: string): SourceName {
  const [, scheme, rest] = /^(tact|pak|casc|cdn):(.*)$/.exec(text) ?? [];
  if (scheme !== undefined) return { scheme: scheme as SourceName['scheme'], rest: rest! };
  return { scheme: existsSync(text) || looksLikePath(text) ? localScheme(text) : 'tact', rest: text };
}

/** What a path is; the build that is meant may stand behind it: `PATH@BUILD`. */
function localScheme(text: string): 'pak' | 'casc' | 'cdn' {
  const path = existsSync(text) ? text : text.replace(/@[^@]*$/, '');
  if (isCdnFolder(path)) return 'cdn';
  return isInstall(path) ? 'casc' : 'pak';
}

/** A product has no slash in its name, and no ending. */
function looksLikePath(text: string): boolean {
  return /[/\\]/.test(text) || isCalledPak(text);
}

/** What a source is opened with. */
export interface SourceContext {
  hooks: SessionHooks;
  /** How a PAK is read. */
  pak?: PakFlags | undefined;
  threads?: number;
  /** All of the source will be read: what that takes is started while it is opened. */
  readsAll?: boolean;
  /** Whether its oddities are told as notes. Default true. */
  tellNotes?: boolean;
}

/** Opens what a person names, runs `body` with it (and, for a build of the store, with its session), and closes it. */
export async function withSource<Result>(
  options: GlobalOptions,
  text: string,
  context: SourceContext,
  body: (source: Source, session?: Session) => Promise<Result>,
): Promise<Result> {
  const { scheme, rest } = parseSourceName(text);
  if (scheme === 'pak') return withPak(options, rest, context, body);
  if (scheme === 'tact') return withBuild(options, rest, context, body);
  const { withLocalBuild } = await import('./local-source.ts');
  return withLocalBuild(options, { scheme, rest }, context, (source) => body(source));
}

/** PAKs from this size on are worth threads. */
const largeBytes = 64 << 20;

async function withPak<Result>(
  options: GlobalOptions,
  path: string,
  { hooks, pak: flags = {}, readsAll = false, tellNotes = true }: SourceContext,
  body: (source: Source) => Promise<Result>,
): Promise<Result> {
  const from = { path, options: await withStoredKeys(options, path, await localOptions(flags, path)) };
  const pool = readsAll && isLarge(path) ? await startPool(from) : undefined;
  try {
    const pak = await openPak(path, from.options);
    try {
      if (tellNotes) for (const note of pak.notes) hooks.note(`Note: ${note}.`);
      return await body(pakSource(pak, path, { from, pool }));
    } finally {
      await pak.close();
    }
  } finally {
    await pool?.end();
  }
}

async function startPool(from: PakPath): Promise<PakPool | undefined> {
  const { PakPool, usefulThreads } = await import('../sources/paks/pak-pool.ts');
  const threads = usefulThreads();
  return threads > 1 ? new PakPool(from, threads) : undefined;
}

function isLarge(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size >= largeBytes;
}

/** Adds the keys of packs that were imported. Only these packs have such keys: others are opened without looking for a store. */
async function withStoredKeys(options: GlobalOptions, path: string, local: PakOptions): Promise<PakOptions> {
  if (!(await isNadeoPak(path))) return local;
  const { storedPackKeys } = await import('./pack-keys.ts');
  return { ...local, namedKeys: [...(local.namedKeys ?? []), ...storedPackKeys(options.store)] };
}

async function isNadeoPak(path: string): Promise<boolean> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const source = await fileSource(path);
  try {
    return (await findPakFamily(source))?.name === 'nadeo';
  } finally {
    await source.close();
  }
}

async function withBuild<Result>(
  options: GlobalOptions,
  spec: string,
  { hooks, threads = 0 }: SourceContext,
  body: (source: Source, session: Session) => Promise<Result>,
): Promise<Result> {
  const { Session } = await import('./compose.ts');
  const { buildSource } = await import('../sources/build-source.ts');
  const session = new Session(options, { create: true, threads }, hooks);
  try {
    const build = await session.openBuild(await session.resolve(spec));
    const source = buildSource(build, { locale: options.locale });
    try {
      return await body(source, session);
    } finally {
      await source.close();
    }
  } finally {
    await session.close();
  }
}
