import { PakratError } from '../core/errors.ts';
import { noting } from '../core/progress.ts';
import type { ProofThreads } from '../keep/proofs/prove-objects.ts';
import type { VerifyResult } from '../verify/verify-result.ts';
import { besideFolder, findSourceName, type SourceOptions, splitChoice, withSource } from './session/open-source.ts';
import type { Session } from './session/session.ts';

export { archiveOf, type VerifyProblem, type VerifyResult } from '../verify/verify-result.ts';

/** The answer to damage, beside the options of a source. */
export interface VerifyOptions extends SourceOptions {
  /** Fetch again what is damaged, where it can be fetched. */
  repair?: boolean | undefined;
  /** Of a PAK: decode what is compressed, too. Needs the key of what is encrypted. */
  decode?: boolean | undefined;
  /** Threads. Default: one for each core, where that pays, and 4 at most but for PAKs. */
  jobs?: number | undefined;
}

/**
 * Checks every byte of a source against its hashes: a PAK, a folder with a build, what the store holds of a build, or the whole store.
 * Damage in the store is no longer counted as held.
 * @param name undefined for the whole store
 * @throws E_NOT_FOUND when there is no such source, E_USAGE, E_ABORTED, E_STORE…
 */
export async function verify(
  session: Session,
  name: string | undefined,
  options: VerifyOptions = {},
): Promise<VerifyResult> {
  const named = name === undefined ? undefined : await findSourceName(name, options);
  if (options.decode === true && named?.scheme !== 'pak') {
    options.onProgress?.({ type: 'note', text: 'only PAKs are decoded; this is checked by its hashes' });
  }
  if (name === undefined || named === undefined || named.scheme === 'tact') {
    return besideFolder(name ?? '', verifyHeld(session, named?.rest, options));
  }
  if (options.repair === true) {
    options.onProgress?.({ type: 'note', text: 'nothing can be fetched for this source; it is only checked' });
  }
  if (named.scheme === 'pak') return verifyPakSource(session, name, options);
  if (named.scheme === 'cdn') return verifyCdn(session, named.rest, options);
  return verifyInstall(session, name, named.rest, options);
}

/** A session without threads starts none, whatever is asked. */
function threadsOf({ options }: Session, { jobs }: VerifyOptions): number | undefined {
  return options.threads === 0 ? 0 : jobs;
}

function useOf(session: Session, options: VerifyOptions): ProofThreads {
  return { threads: threadsOf(session, options), workerUrl: session.options.workerUrl };
}

async function verifyPakSource(session: Session, name: string, work: VerifyOptions): Promise<VerifyResult> {
  const { isPakSource } = await import('../sources/paks/pak-source.ts');
  const { verifyPak } = await import('../sources/paks/run-pak-tasks.ts');
  const { countedFiles } = await import('../sources/counted-files.ts');
  const { signal, onProgress, decode } = work;
  return withSource(session, name, { ...work, readsAll: true }, async ({ source }) => {
    if (!isPakSource(source)) throw new Error('a PAK that is no PAK');
    const { onPlan, onFile } = countedFiles('verify', onProgress);
    return verifyPak(source, { decode, threads: threadsOf(session, work), signal, onPlan, onEntry: onFile });
  });
}

/** All of the folder is checked, not only what belongs to one build: that needs none. */
async function verifyCdn(session: Session, rest: string, work: VerifyOptions): Promise<VerifyResult> {
  const { verifyCdnFolder } = await import('../keep/proofs/verify-folder.ts');
  return verifyCdnFolder(splitChoice(rest).path, { ...work, use: useOf(session, work) });
}

/** All of the install is checked, not only what belongs to one build. */
async function verifyInstall(session: Session, name: string, rest: string, work: VerifyOptions): Promise<VerifyResult> {
  const { verifyFolder } = await import('../keep/proofs/verify-folder.ts');
  const { collectChecks } = await import('../installs/check-folder.ts');
  const { openFolder } = await import('../installs/open-folder.ts');
  const { isBuildSource } = await import('../sources/build-source.ts');
  const { path, choice } = splitChoice(rest);
  const folder = openFolder('casc', path, choice);
  try {
    const { check, checkWith } = folder;
    const bytes = folder.checkBytes?.() ?? 0;
    if (check !== undefined) return await verifyFolder(check, bytes, { ...work, use: useOf(session, work) });
    return await withSource(session, name, work, ({ source }) => {
      if (!isBuildSource(source)) throw new Error('a folder without a build');
      return collectChecks(checkWith?.(source.build, work.signal) ?? [], bytes, work);
    });
  } finally {
    folder.close();
  }
}

async function verifyHeld(session: Session, name: string | undefined, work: VerifyOptions): Promise<VerifyResult> {
  const { repair = false, signal, onProgress } = work;
  const { offline } = session.options;
  if (repair && offline) {
    throw new PakratError('E_USAGE', '--repair fetches, and --offline forbids that', {
      hint: 'Leave one of them away.',
    });
  }
  const { verifyStore } = await import('../keep/verify-store.ts');
  const { buildOpener } = await import('./session/build-opener.ts');
  const { knownBuild } = await import('../builds/resolve/resolve-build.ts');
  const { settleStore } = await import('../store/settle-store.ts');
  const store = await session.store({ create: false });
  if (store.writable) await settleStore(store, signal);
  const build = name === undefined ? undefined : knownBuild(await session.knownBuilds(), name);
  return verifyStore(store, {
    build,
    repair,
    use: useOf(session, work),
    signal,
    opener: buildOpener(session, { signal, onProgress }),
    onProgress: (phase, done, total) => onProgress?.({ type: 'bytes', phase, done, total }),
    onNote: noting(onProgress),
  });
}
