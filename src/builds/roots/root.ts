import type { NeededText } from '../../core/glob.ts';
import type { IdSet } from '../../core/tables/id-set.ts';

/** A piece of a file: the content that `ckey` or `ekey` names, or its first `size` bytes. */
export interface FilePart {
  ckey?: string | undefined;
  /** Hex; TVFS knows the first 9 bytes only. */
  ekey?: string | undefined;
  /** Undefined: the whole content. */
  size: number | undefined;
  /** Of the encoded object, where the root tells it and the encoding file may not. */
  encodedSize?: number | undefined;
}

/** One row of a root: a file in one of its variants. */
export interface FileVariant {
  /** With `/` between the parts; undefined when only a hash or an id is known. */
  name?: string | undefined;
  fileDataId?: number | undefined;
  /** Locales it is for, as bits; 0xffffffff for all. */
  localeFlags: number;
  contentFlags: number;
  /** One part, the whole content, for all but TVFS files in several spans. */
  parts: FilePart[];
  /** The name that was asked for stands for several files, and only these names tell them apart. */
  oneOf?: readonly string[];
}

/** What decides which variant of a file is picked. */
export type VariantFlags = Pick<FileVariant, 'localeFlags' | 'contentFlags'>;

/** Picks one of the variants of a file, or none. */
export type PickVariant = <Variant extends VariantFlags>(variants: readonly Variant[]) => Variant | undefined;

/** What is known of the names that are wanted. */
export interface WantedNames {
  /** Each has one of these texts; undefined for any name. */
  needed?: readonly NeededText[] | undefined;
  /** Where folders are listed: of those in each, one file is enough. */
  folders?: WantedFolders | undefined;
}

/** The folders of a listing that shows no more of them than that they are there. */
export interface WantedFolders {
  /** What the names of the folder begin with as which a file is listed; undefined for one that is listed by itself, or not at all. */
  folderOf: (name: string) => string | undefined;
  /** Picks the variant of a file that shows its folder. */
  pick: PickVariant;
}

/** The names of a build, of whichever kind. An open handle; needs `close`. */
export interface Root {
  /** `wow`, `tvfs`, …; null for a root of no known kind. */
  readonly kind: string | null;
  /** Notes on the names for a reader: that the install manifest stands in for a root, say. */
  readonly notes?: readonly string[];
  /** Ids whose imported name turned out to be another file's, as far as names were looked up. */
  readonly misfits?: number;
  /** Every variant of a name; case and the direction of slashes do not matter. */
  find(name: string): FileVariant[];
  /** Every variant of an id; none where files have no ids. */
  findId(fileDataId: number): FileVariant[];
  /** Makes and checks all that {@link list} and {@link find} read: who lists after it does not end half-way. @throws E_FORMAT_CHECKSUM */
  checkAll(): Promise<void>;
  /**
   * All rows whose name `matches`, sorted by the bytes of their names; a row without a name goes by `fdid:N`, and comes last. Neighbours with the
   * same id or name are variants of one file. For those who called {@link checkAll}.
   */
  list(matches: (name: string) => boolean): Iterable<FileVariant>;
  /**
   * Finds the few names that are wanted without a look at each, and checks what {@link list} reads of these alone: {@link checkAll} reads several times as much.
   * @returns what {@link list} is for them; undefined where names are not there to be gone through. Absent where they are few. @throws E_FORMAT_CHECKSUM
   */
  narrow?(names: WantedNames): Promise<Root['list'] | undefined>;
  /**
   * The ids that another root of this kind has as well, under the same name and with the same content, in the variants that `pick` picks.
   * @returns undefined where they cannot be told at once. Absent where files have no ids. For those who called {@link checkAll} of both.
   */
  sameIds?(other: Root, pick: PickVariant, signal?: AbortSignal): Promise<IdSet | undefined>;
  /** As {@link list}, without some ids that {@link sameIds} gave. */
  listWithout?(ids: IdSet, matches: (name: string) => boolean): Iterable<FileVariant>;
  close(): void;
}
