import { PakratError } from '../../core/errors.ts';
import { normalizeName } from '../../core/jenkins.ts';
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
  /** Lies beside the data in an install: it goes into the install manifest, not into the root. */
  install?: boolean | undefined;
  /** Its number in the root. Absent: the next that is free, in the order of the names. Variants of a name share one. */
  fileDataId?: number | undefined;
  /** Encrypts it. */
  key?: TactKey | undefined;
  /** The content. Called once, and the bytes are let go of before the next file is read. */
  read(): Uint8Array | Promise<Uint8Array>;
  /** What the file was in the build before, when it was: makes a patch, which whoever holds that build can take instead of the file. */
  readPrevious?: (() => Uint8Array | Promise<Uint8Array>) | undefined;
}

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

/** A check to be given every file in turn. It throws E_USAGE for one that was there before or that formats cannot hold. */
export function fileChecker(): (file: PublishFile) => void {
  const seen = new Set<string>();
  return (file) => {
    const { name, priority = 0 } = file;
    const key = `${localeFlagsOf(file)} ${file.install === true} ${normalizeName(name)}`;
    // Files of an install may share a path: their tags tell them apart.
    if (file.install !== true && seen.has(key)) throw refuse(file, 'it comes twice; case and slashes do not count');
    seen.add(key);
    if (name === '' || name.includes('\0')) throw refuse(file, 'a name must have a character, and no NUL');
    if (!(Number.isInteger(priority) && priority >= -128 && priority <= 127)) {
      throw refuse(file, `priority ${priority} is outside −128 to 127`);
    }
  };
}

function refuse({ name, locale }: PublishFile, problem: string): PakratError {
  return new PakratError('E_USAGE', `${JSON.stringify(name)} cannot be published: ${problem}`, {
    data: { name, locale },
  });
}
