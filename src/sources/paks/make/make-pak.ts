import { basename, dirname, resolve } from 'node:path';
import { breathe } from '../../../core/breathe.ts';
import { PakratError } from '../../../core/errors.ts';
import type { OnProgress, WorkOptions } from '../../../core/progress.ts';
import { IdSet } from '../../../core/tables/id-set.ts';
import { clearDeadTemporaries } from '../../../files/temporary.ts';
import { openPak, type PakOptions } from '../../../paks/index.ts';
import type { PackFile, PackResult, PackSink } from '../../../paks/packing.ts';
import type { Pak } from '../../../paks/pak.ts';
import type { SortedFiles } from '../../../paks/sorted-files.ts';
import { countedFiles } from '../../counted-files.ts';
import { parseKeys } from '../given-keys.ts';
import { DiskFile, type PackReading, SortedDiskFiles } from './disk-files.ts';
import { filesOf, inputFile, originsOf, readPackList } from './pack-inputs.ts';
import { planRewrite } from './plan-rewrite.ts';
import { refuseExisting, writePak } from './write-pak.ts';

/** Options of making a PAK, whatever its family. */
export interface PackOptions extends WorkOptions {
  /** Write over a file that is there. */
  force?: boolean | undefined;
  /** A file with a list of what is packed, or the bytes of one: a file or folder a line, its name in the PAK behind a semicolon. */
  list?: string | AsyncIterable<Uint8Array> | undefined;
  /** An older PAK, whose form the new one has: order, flags, ids, versions, names; and what is not given stays as it is stored. */
  like?: string | undefined;
  /** Files by the names of entries of the older PAK whose content they take the place of. */
  replace?: Readonly<Record<string, string>> | undefined;
}

/** A PAK that was made, as `pack --json` prints it. */
export interface PackReport extends PackResult {
  path: string;
  /** Of an older PAK: entries that were taken over as they are stored. */
  kept?: number;
}

interface PackWork {
  /** Family of the PAK. */
  family: string;
  /** Files and folders. */
  inputs: string | readonly string[];
  options: PackOptions;
  /** How an older PAK is read. */
  pak: () => Promise<PakOptions>;
  /** Options of its form by their flags: those of an older PAK count. */
  form: Readonly<Record<string, unknown>>;
  /** As `exact` of packing. */
  exact?: boolean | undefined;
  /** Writes a PAK that is new. */
  write: (files: SortedFiles, to: PackTarget) => Promise<PackResult>;
}

/** Where a PAK goes that is written, and what of its making memory should not hold. */
export interface PackTarget {
  sink: PackSink;
  /** A folder. */
  temporary: string;
}

/**
 * Makes a PAK of files and folders, or out of an older PAK.
 * @throws E_USAGE when it is there already or there are no files, and as the families do
 */
export async function makePak(path: string, work: PackWork): Promise<PackReport> {
  const { inputs, options } = work;
  const { force = false, list, like, replace = {}, signal, onProgress } = options;
  if (!force) refuseExisting(path);
  const given = (typeof inputs === 'string' ? [inputs] : inputs).map((input) => ({ path: input }));
  const listed = list === undefined ? [] : await readPackList(list);
  const reading: PackReading = { signal, made: 0, counted: new IdSet() };
  onProgress?.({ type: 'step', step: 'files', bytes: 0 });
  // What a killed run left there may lie in a folder that is packed.
  clearDeadTemporaries(dirname(resolve(path)));
  const origins = originsOf([...given, ...listed]);
  const hasInputs = given.length > 0 || list !== undefined;
  const passed = { first: '', count: 0 };
  const onPassed = (one: string): void => {
    if (passed.count++ === 0) passed.first = one;
  };
  const found = filesOf(origins, { out: path, onPassed });
  if (like !== undefined) {
    const files: PackFile[] = [];
    for (const { name, origin, stat } of found) {
      await breathe(signal);
      files.push(new DiskFile(name, { origin: origins[origin]!, stat }, reading));
    }
    tellPassed(passed, onProgress);
    return rewritePak(path, like, { ...work, files: hasInputs ? files : undefined, reading });
  }
  const files = new SortedDiskFiles(path, origins, reading);
  try {
    for (const { name, origin, stat } of found) {
      await breathe(signal);
      files.add(name, origin, stat);
    }
    tellPassed(passed, onProgress);
    if (Object.keys(replace).length > 0) {
      throw new PakratError('E_USAGE', 'there is no PAK in which something could be replaced', {
        hint: 'Name it with --like.',
      });
    }
    if (files.count === 0) {
      const what = hasInputs
        ? `${given.map((input) => input.path).join(', ') || 'the list'} has no files in it`
        : 'nothing to pack';
      throw new PakratError('E_USAGE', what, {
        hint: 'Name files or folders, a --list of them, or an older PAK with --like.',
      });
    }
    const { onPlan, onFile } = countedFiles('pack', onProgress);
    onPlan(files.count, files.bytes);
    reading.onRead = onFile;
    const temporary = dirname(resolve(path));
    return { path, ...(await writePak(path, force, (sink) => work.write(files, { sink, temporary }))) };
  } finally {
    files.close();
  }
}

function tellPassed({ first, count }: { first: string; count: number }, onProgress: OnProgress | undefined): void {
  if (count === 0) return;
  const more = count > 1 ? ` and ${count - 1} more` : '';
  onProgress?.({ type: 'note', text: `not packed, for it is no file and no link to one: ${first}${more}` });
}

async function rewritePak(
  path: string,
  like: string,
  work: PackWork & { files: PackFile[] | undefined; reading: PackReading },
): Promise<PackReport> {
  const { family, options, pak: readOptions, form, exact, files, reading } = work;
  const { force = false, replace = {}, signal, onProgress } = options;
  const own = Object.keys(form).filter((flag) => form[flag] !== undefined && form[flag] !== false);
  if (own.length > 0) {
    throw new PakratError('E_USAGE', `--like takes ${own.join(', ')} from ${like}`, { hint: 'Leave that away.' });
  }
  const replaced = new Map(Object.entries(replace).map(([name, file]) => [name, inputFile(file, name, reading)]));
  const pak = await openPak(like, await readOptions());
  try {
    checkFamily(pak, family, like);
    const plan = await planRewrite(pak, { files, replaced, signal });
    const { onPlan, onFile } = countedFiles('pack', onProgress);
    const { rows } = plan;
    const sizes = rows.map(({ old, file }) => file?.size ?? pak.entries[old ?? -1]?.storedSize ?? 0);
    onPlan(
      rows.length,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    reading.onRead = onFile;
    const { notes, ...result } = await writePak(path, force, (sink) =>
      pak.rewrite(rows, sink, { exact, signal, onKept: onFile }),
    );
    return { path, kept: plan.kept, ...result, notes: [...plan.notes, ...notes] };
  } finally {
    await pak.close();
  }
}

function checkFamily(pak: Pak, family: string, like: string): asserts pak is Pak & Required<Pick<Pak, 'rewrite'>> {
  if (pak.family === family && pak.rewrite !== undefined) return;
  const hint = pak.rewrite === undefined ? 'Name one PAK.' : `Use \`pakrat pack ${pak.family}\`.`;
  throw new PakratError('E_USAGE', `${like} is no PAK of the family ${family}, but ${pak.family}`, { hint });
}

/**
 * The key to pack with: the only one given, or of a list the one for this PAK.
 * @throws E_USAGE when more than one may be meant
 */
export async function packKey(texts: readonly string[] | undefined, out: string): Promise<Uint8Array | undefined> {
  const keys = await parseKeys(texts ?? []);
  const stem = basename(out)
    .replace(/\.(pak|pack\.gbx)$/i, '')
    .toLowerCase();
  const own = keys.filter(({ name }) => name?.toLowerCase() === stem);
  const chosen = own.length > 0 ? own : keys;
  if (chosen.length > 1) {
    throw new PakratError('E_USAGE', `${chosen.length} keys are given, and a PAK is packed with one`, {
      hint: 'Give one key with --key.',
    });
  }
  return chosen[0]?.key;
}
