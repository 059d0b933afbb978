import { buildsByAge } from '../builds/resolve/build-order.ts';
import { breathe } from '../core/breathe.ts';
import { isOurTrouble, isPakratError, PakratError } from '../core/errors.ts';
import type { WorkOptions } from '../core/progress.ts';
import { HeldSpans } from '../fetch/held-spans.ts';
import { type FoundFile, findInBuild } from '../sources/diff/find-in-build.ts';
import type { BuildRow } from '../store/ledger/rows.ts';
import type { Session } from './session/session.ts';

/** A file in one build, as `which --json` prints it. */
export interface FileInBuild {
  product: string;
  name: string;
  buildConfig: string;
  /** Against the build before that could be read: `absent` in both; null for a build that cannot be read. */
  change: 'new' | 'same' | 'changed' | 'gone' | 'absent' | null;
  /** Of a file that is one content, where the root tells it; else null. */
  ckey: string | null;
  /** Decoded size; null where nothing tells. */
  size: number | null;
  /** True when all of the file is held. */
  held: boolean;
  /** The reason for which a build cannot be read without a network. */
  problem?: { code: string; message: string };
}

/** A file through the builds of a store. */
export interface WhichReport {
  name: string;
  /** Product by product; those of one by age, the oldest first. */
  builds: FileInBuild[];
}

/** The builds that are looked at. */
export interface WhichOptions extends WorkOptions {
  /** Only builds of this product. */
  product?: string | undefined;
  /** As for reading: of a file with several variants. */
  locale?: string | undefined;
}

/**
 * Tells which builds that the ledger knows have a file, and where it changed from one to the next. Nothing is fetched.
 * @param name a name, `fdid:N`, `ckey:HEX` or `ekey:HEX`
 * @throws E_NOT_FOUND when no build has it, or there is none; E_USAGE for a malformed name; E_ABORTED, E_STORE…
 */
export async function findWhich(session: Session, name: string, options: WhichOptions = {}): Promise<WhichReport> {
  const { product: wanted, signal, onProgress } = options;
  const { ledger } = await session.store({ create: false });
  const products = new Set(ledger.builds(wanted).map(({ product }) => product));
  const rows = [...products].sort().flatMap((product) => buildsByAge(ledger, product).reverse());
  const builds: FileInBuild[] = [];
  /** The contents of the file in the build before, by product; undefined where that did not have it. */
  const before = new Map<string, string | undefined>();
  for (const { row } of rows) {
    await breathe(signal);
    onProgress?.({ type: 'entry', phase: 'builds', done: builds.length, total: rows.length });
    const { product, name: build, buildConfig } = row;
    const found = await lookIn(session, row, name, options);
    const own = { product, name: build, buildConfig, ckey: null, size: null, held: false };
    if ('problem' in found) builds.push({ ...own, change: null, ...found });
    else {
      const { contents, ...facts } = found;
      builds.push({ ...own, change: changeOf(before.get(product), contents), ...facts });
      before.set(product, contents);
    }
  }
  if (!builds.some(isThere)) throw notThere(name, wanted, builds);
  return { name, builds };
}

function changeOf(before: string | undefined, now: string | undefined): FileInBuild['change'] {
  if (now === undefined) return before === undefined ? 'absent' : 'gone';
  return before === undefined ? 'new' : before === now ? 'same' : 'changed';
}

type Found = FoundFile | { contents: undefined } | Required<Pick<FileInBuild, 'problem'>>;

async function lookIn(session: Session, row: BuildRow, name: string, options: WhichOptions): Promise<Found> {
  const { signal, locale = session.options.locale } = options;
  try {
    const { build, fetcher, close } = await session.openFetched(row, { offline: true, signal });
    try {
      return (
        (await findInBuild(build, name, { locale, spans: new HeldSpans(fetcher.store) })) ?? { contents: undefined }
      );
    } finally {
      await close();
    }
  } catch (error) {
    if (isOurTrouble(error) || !isPakratError(error) || error.code === 'E_USAGE') throw error;
    const { code, message } = error;
    return { problem: { code, message } };
  }
}

function isThere({ change }: FileInBuild): boolean {
  return change === 'new' || change === 'same' || change === 'changed';
}

function notThere(name: string, product: string | undefined, builds: readonly FileInBuild[]): PakratError {
  const unread = builds.flatMap((build) => (build.problem === undefined ? [] : build));
  const what = product === undefined ? 'build' : `build of ${product}`;
  const [first] = unread;
  const hint =
    first === undefined
      ? undefined
      : `${unread.length} of them cannot be read without a network: ${first.product}@${first.name}: ${first.problem?.message}`;
  return new PakratError(
    'E_NOT_FOUND',
    builds.length === 0 ? `the store has no ${what}` : `no ${what} in the store has ${name}`,
    {
      hint,
      data: { name, product },
    },
  );
}
