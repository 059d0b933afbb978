import { PakratError } from '../../core/errors.ts';
import { normalizeName } from '../../core/jenkins.ts';
import { Numbered } from '../../core/tables/numbered.ts';
import type { TactKey } from '../../formats/configs/key-list.ts';
import { localeFlag } from '../../formats/roots/locale.ts';

/** A tag of the download, install and size manifests. */
export interface PublishTag {
  name: string;
  /** Tags of one type are alternatives: 1 platform, 2 architecture, 3 locale, 5 speech or text. */
  type: number;
}

/** A file to publish. */
export interface PublishFile {
  /** With `/` between the parts. */
  name: string;
  /** The locale that it is the variant for, such as `deDE`; absent for all. It becomes a tag, too. */
  locale?: string | undefined;
  /** What it is for, beside the locale; a file without tags is for everyone. */
  tags?: readonly PublishTag[] | undefined;
  /** Lower comes sooner; −128 to 127, default 0. */
  priority?: number | undefined;
  /** Lies beside the data in an install: it goes into the install manifest, and not into a root of the kind `wow`. */
  install?: boolean | undefined;
  /** Its number in the root. Absent: the next that is free, in the order of the names. Variants of a name share one. */
  fileDataId?: number | undefined;
  /** Encrypts it. */
  key?: TactKey | undefined;
  /** Where it lies, and its size in bytes: a large file is read from there piece by piece, and `read` is not called. */
  path?: string | undefined;
  size?: number | undefined;
  /** The content. Called once, and the bytes are let go of when they are encoded. */
  read(): Uint8Array | Promise<Uint8Array>;
  /** The content that it had in the live build, where that does not know names (a root of the kind `wow`): for a patch from it. */
  readPrevious?: (() => Uint8Array | Promise<Uint8Array>) | undefined;
}

/**
 * How names travel. `tvfs`: with the build, as paths, for every reader of now. `wow`: as hashes and ids, as World of Warcraft has them, for
 * readers with a list of names; a name may have variants for locales.
 */
export type RootKind = 'tvfs' | 'wow';

/** Locale flags of files that have no locale. */
const allLocales = 0xffffffff;

/** The locale bits that a file's root row has. @throws E_USAGE for a locale that is none */
export function localeFlagsOf(file: Pick<PublishFile, 'locale'>): number {
  return file.locale === undefined ? allLocales : localeFlag(file.locale);
}

/** All tags of a file, its locale among them. */
export function tagsOf(file: Pick<PublishFile, 'locale' | 'tags'>): PublishTag[] {
  const own = file.tags ?? [];
  return file.locale === undefined ? [...own] : [...own, { name: file.locale, type: 3 }];
}

/** Largest part of a path and largest path of a TVFS, and largest object of any format, in bytes. */
const [maxPart, maxPath, maxSize] = [254, 1024, 0xffffffff];

/**
 * A check to be given every file in turn. Names that differ in their case only are two in a TVFS, and one in a root of World of Warcraft.
 * It throws E_USAGE for a name that formats cannot hold, and for a root of World of Warcraft for one that was there before: in a TVFS that shows when its paths are sorted.
 */
export function fileChecker(root: RootKind): (file: PublishFile) => void {
  const seen = new Map<string, string>();
  return (file) => {
    const { name, priority = 0, size = 0 } = file;
    if (root === 'wow') checkOnce(file, seen);
    if (name === '' || name.includes('\0')) throw refuse(file, 'a name must have a character, and no NUL');
    if (root === 'tvfs') checkPath(file);
    if (size > maxSize) throw refuse(file, 'it has more than 4 GiB');
    if (!(Number.isInteger(priority) && priority >= -128 && priority <= 127)) {
      throw refuse(file, `priority ${priority} is outside −128 to 127`);
    }
  };
}

function checkOnce(file: PublishFile, seen: Map<string, string>): void {
  const key = `${localeFlagsOf(file)} ${file.install === true} ${normalizeName(file.name)}`;
  const other = seen.get(key);
  seen.set(key, file.name);
  // Files of an install may share a path: their tags tell them apart.
  if (other === undefined || file.install === true) return;
  throw refuse(file, `it comes twice; case and slashes do not count, so it is ${JSON.stringify(other)}`);
}

/** The error for a path of a TVFS that is there twice. */
export function comesTwice(name: string): PakratError {
  return refuse({ name }, 'it comes twice');
}

/** Readers take a back-slash for a slash. */
function checkPath(file: PublishFile): void {
  const parts = file.name.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    throw refuse(file, 'it is no relative path with / between its parts');
  if (file.name.includes('\\')) throw refuse(file, 'readers take a back-slash for a slash');
  if (Math.max(...parts.map((part) => Buffer.byteLength(part))) > maxPart || Buffer.byteLength(file.name) > maxPath)
    throw refuse(file, `a path may have ${maxPath} bytes, and each part of it ${maxPart}`);
}

function refuse({ name, locale }: Pick<PublishFile, 'name' | 'locale'>, problem: string): PakratError {
  return new PakratError('E_USAGE', `${JSON.stringify(name)} cannot be published: ${problem}`, {
    data: { name, locale },
  });
}

/** What is said of a file beside its name and its content. */
export type FileFacts = Pick<PublishFile, 'locale' | 'tags' | 'priority' | 'install' | 'key'>;

/** What is said of many files, each once: few of millions are told apart by it. */
export class FactTable {
  readonly #facts = new Numbered<FileFacts>();

  /** The number of what is said of a file. */
  numberOf({ locale, tags, priority, install, key }: FileFacts): number {
    return this.#facts.numberOf({ locale, tags, priority, install, key });
  }

  at(number: number): FileFacts {
    return this.#facts.at(number);
  }
}
