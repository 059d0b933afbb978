import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { listfilePaths, listfileVersion } from '../builds/listfile/listfile-paths.ts';
import { breathe } from '../core/breathe.ts';
import { codeOf, messageOf, resultUnless } from '../core/errors.ts';
import { namesIn, type OnUnread } from '../files/walk.ts';
import { isLost } from '../store/clear-way.ts';
import { DerivedFile, damagedFile, isLacking } from '../store/derived/derived-file.ts';
import type { Store } from '../store/store.ts';
import type { VerifyProblem } from '../verify/verify-result.ts';
import type { Damage } from './damage.ts';
import { unreadable } from './store-checks.ts';

/** The outcome for one derived file, or for a folder of which a broken disk does not give the names. */
interface DerivedFinding {
  bytes?: 0;
  problem?: VerifyProblem;
  damage?: Damage;
  /** For such a folder. */
  unread?: boolean;
}

/** Derived files by their folder: decoded manifests, archive groups, what builds name, what selections want, names. Nothing else is looked at there. */
const patterns = {
  manifests: /^[0-9a-f]{32}$/,
  groups: /^[0-9a-f]{32}\.index$/,
  marks: /^[0-9a-f]{32}$/,
  wants: /^[0-9a-f]{32}\.[0-9a-f]{8}$/,
  names:
    /^(?:[0-9a-f]{32}\.(?:ids|named|blocks|files|notes|paths|vfsids|order|misfits)|listfile.*\.(?:json|names|txt|ids|hashes|updated))$/,
} as const;

/** The ending of the file that one with this ending belongs to. */
const owners: Readonly<Record<string, string>> = {
  notes: 'files',
  paths: 'files',
  ids: 'names',
  hashes: 'names',
  misfits: 'order',
};

/**
 * Checks every derived file of a store, to its last byte. What is damaged is made again when it is needed; the text of an imported list is
 * not, and stays for a person to see.
 * @throws E_ABORTED, E_STORE
 */
export async function* checkDerived(
  { layout }: Store,
  signal: AbortSignal | undefined,
): AsyncGenerator<DerivedFinding> {
  const unread = new Map<string, DerivedFinding>();
  for (const [folder, pattern] of Object.entries(patterns)) {
    const isOne = (name: string): boolean => pattern.test(name);
    const onUnread: OnUnread = (_, error) => unread.set(folder, { problem: unreadable(folder, error), unread: true });
    for (const name of namesIn(join(layout.root, folder), isOne, onUnread)) {
      const path = join(layout.root, folder, name);
      const message = await damageIn(path, signal);
      yield { bytes: 0, ...(message !== undefined && foundDamage(`${folder}/${name}`, path, message)) };
    }
  }
  yield* unread.values();
  if (unread.has('names')) return;
  const base = listfileVersion(layout, { keep: true })?.base;
  const { text, unsorted } = listfilePaths(layout, base ?? '');
  // Of one that is lost it was said above.
  if (base !== undefined && ![text, unsorted].some((file) => existsSync(file) || isLost(file)))
    yield { bytes: 0, ...foundDamage(`names/${basename(text)}`, '', 'it is gone') };
}

function foundDamage(name: string, file: string, message: string): Omit<DerivedFinding, 'bytes'> {
  const problem = { name, code: 'E_FORMAT_CHECKSUM', message };
  if (!/\.(?:names|txt)$/.test(name)) return { problem, damage: { kind: 'derived', file } };
  const advice = 'import the list of names again with `pakrat listfile import FILE` or `pakrat listfile update`';
  return { problem: { ...problem, message: `${message}; ${advice}` } };
}

/** The damage of a derived file in words; undefined for none. */
async function damageIn(path: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  let file: DerivedFile | undefined;
  try {
    file = new DerivedFile(path, { keep: true, of: ownerMark(path) });
    for (const _ of file.checkAll()) await breathe(signal);
    return undefined;
  } catch (error) {
    if (damagedFile(error) !== undefined) return messageOf(error).replace(`${path} is damaged: `, '');
    // Another process has made it anew, or a newer one.
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  } finally {
    file?.close();
  }
}

/** The mark of the file whose offsets this one has; undefined where it has none, or that one is damaged itself. */
function ownerMark(path: string): number | undefined {
  const [, base = '', ending = ''] = /^(.*)\.(\w+)$/.exec(path) ?? [];
  const owner = owners[ending];
  if (owner === undefined) return undefined;
  return resultUnless(isLacking, () => {
    const file = new DerivedFile(`${base}.${owner}`, { keep: true });
    file.close();
    return file.mark;
  });
}
