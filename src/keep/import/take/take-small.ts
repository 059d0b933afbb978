import { codeOf, isDamage } from '../../../core/errors.ts';
import { claimObject } from '../../../fetch/claimed-fetch.ts';
import { hasObject } from '../../../fetch/small-objects.ts';
import { type ObjectName, objectPath } from '../../../store/layout.ts';
import { checkObject } from '../../../verify/check-object.ts';
import type { FoundFile } from '../find/found-files.ts';
import { addAmount } from '../import-report.ts';
import type { ImportRun } from '../import-run.ts';
import { readPlain } from './entry-source.ts';
import { placeWhole } from './place-whole.ts';
import { tellWrong } from './take-entries.ts';

/** The largest objects that are read whole: configs are some MB of text, patches and indices may be more. */
const mostConfigBytes = 32 << 20;
const mostBytes = 256 << 20;

/** The bytes of a small object, decrypted, out of the store or, in a dry run, out of the folder; undefined where neither has it right. */
export function readSmall({ store, seen }: ImportRun, name: ObjectName): Uint8Array | undefined {
  try {
    const held = store.readObject(name);
    const file = seen.get(objectPath(name));
    const bytes =
      held ?? (file === undefined ? undefined : store.objectKeys.decrypt(objectPath(name), readPlain(file, mostBytes)));
    if (bytes !== undefined) checkObject(name, bytes);
    return bytes;
  } catch (error) {
    if (isDamage(error) || codeOf(error) === 'E_KEY_MISSING' || codeOf(error) === 'E_NOT_FOUND') return undefined;
    throw error;
  }
}

/** True when a small object is in the store, or in a dry run right in the folder. */
export function hasSmall({ store, seen }: ImportRun, name: ObjectName): boolean {
  return hasObject(store, name) || seen.has(objectPath(name));
}

/** Takes an object that is checked as a whole: a config, an index, a patch. @throws E_ABORTED, E_STORE… */
export async function takeSmall(run: ImportRun, found: FoundFile): Promise<void> {
  const { store, report, settings, seen } = run;
  const { name, file, size } = found;
  const path = objectPath(name);
  run.pass(size);
  if (hasObject(store, name)) {
    addAmount(report.held, { objects: 1, bytes: size });
    return;
  }
  const bytes = await bytesIfRight(run, found);
  if (bytes === undefined) return;
  if (settings.dryRun) seen.set(path, file);
  else if (!(await addSmall(run, found, bytes))) return;
  run.touch(path);
  report.taken.bytes += bytes.length;
}

async function bytesIfRight(run: ImportRun, { name, file }: FoundFile): Promise<Uint8Array | undefined> {
  const path = objectPath(name);
  try {
    const bytes = readPlain(file, name.kind === 'config' || name.kind === 'product' ? mostConfigBytes : mostBytes);
    checkObject(name, run.store.objectKeys.decrypt(path, bytes));
    return bytes;
  } catch (error) {
    tellWrong(run, path, error);
    return undefined;
  }
}

async function addSmall(run: ImportRun, { name, file }: FoundFile, bytes: Uint8Array): Promise<boolean> {
  const { store, report } = run;
  const path = objectPath(name);
  const claim = await claimObject(store, path, run.waiting);
  try {
    if (hasObject(store, name)) return false;
    const isWhole = async (copy: string): Promise<boolean> => Buffer.from(readPlain(copy, mostBytes)).equals(bytes);
    const copy = { kind: 'link' as const, file, path, size: bytes.length };
    const outcome = run.canLink ? await placeWhole(store, copy, isWhole) : 'wrong';
    if (outcome === 'cannot') run.noLinks();
    if (outcome === 'placed') {
      report.linked.objects += 1;
      report.linked.bytes += bytes.length;
      if (name.suffix === '.index') store.files.settle(objectPath({ ...name, suffix: '' }));
    } else {
      store.addObject(name, bytes);
    }
    return true;
  } finally {
    claim?.release();
  }
}
