import { Numbered } from '../../core/tables/numbered.ts';
import { maskSize, type Tag } from '../../formats/manifests/tags.ts';
import type { PublishTag } from '../files/publish-file.ts';

/**
 * Whose tags entries carry: those of one file, or of several that are one object. Few of them differ among millions of entries, so they are kept
 * once, by a number.
 */
export class TagLists {
  /** The tags of files, and those of objects: of each the files' that it is, by their numbers. */
  readonly #files = new Numbered<readonly PublishTag[]>();
  readonly #objects = new Numbered<readonly number[]>();

  /** The tags of an object that is one file. @returns their number */
  of(tags: readonly PublishTag[]): number {
    return this.#objects.numberOf([this.#files.numberOf(tags)]);
  }

  /** The tags of an object that is one file more. @param number of its tags before */
  with(number: number, tags: readonly PublishTag[]): number {
    const [before, added] = [this.#objects.at(number), this.#files.numberOf(tags)];
    return before.includes(added) ? number : this.#objects.numberOf([...before, added].sort((a, b) => a - b));
  }

  /** Every tag of a file, in the order of types and names. */
  get all(): PublishTag[] {
    const tags = new Map(this.#files.values.flat().map((tag) => [`${tag.type} ${tag.name}`, tag]));
    return [...tags.values()].sort((a, b) => a.type - b.type || (a.name < b.name ? -1 : 1));
  }

  /** The tags of an object: it is needed by whoever needs one of the files, and a tag of a type without which one of them is for everyone is none. */
  tagsOf(number: number): readonly PublishTag[] {
    const files = this.#objects.at(number).map((file) => this.#files.at(file));
    const forEveryone = (type: number): boolean => files.some((own) => own.every((tag) => tag.type !== type));
    return files.flat().filter(({ type }) => !forEveryone(type));
  }
}

/** Alternatives to what everybody has: an entry without such a tag is none. */
const alternateType = 0x4000;

/**
 * The tag table for entries, in the order of types and names. As in real tables it has every tag of the build, for a reader that is asked for a
 * tag looks for it in each of them; and an entry without a tag of a type carries all of that type, for there are readers that want each tag
 * which was chosen.
 * @param entries the number of each entry's tags @param count number of entries
 */
export function makeTags(lists: TagLists, entries: Iterable<number>, count: number): Tag[] {
  const tags = lists.all.map(({ name, type }) => ({ name, type, mask: new Uint8Array(maskSize(count)) }));
  const masksOf = new Map<number, Uint8Array[]>();
  let i = 0;
  for (const number of entries) {
    const masks = masksOf.get(number) ?? masksFor(tags, lists.tagsOf(number));
    masksOf.set(number, masks);
    for (const mask of masks) mask[i >>> 3]! |= 0x80 >>> (i & 7);
    i += 1;
  }
  return tags;
}

/** The masks of the tags that an entry carries. */
function masksFor(tags: readonly (Tag & { mask: Uint8Array })[], own: readonly PublishTag[]): Uint8Array[] {
  return tags.flatMap(({ name, type, mask }) => {
    const ofType = own.filter((tag) => tag.type === type);
    const isFor = ofType.length === 0 ? type !== alternateType : ofType.some((tag) => tag.name === name);
    return isFor ? [mask] : [];
  });
}
