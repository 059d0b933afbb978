import { fromHex } from '../../core/bytes.ts';
import { encodeDownload } from '../../formats/manifests/download.ts';
import { encodeEncoding } from '../../formats/manifests/encoding/encode.ts';
import { encodingHeaderSize } from '../../formats/manifests/encoding/pages.ts';
import { encodeInstall } from '../../formats/manifests/install.ts';
import { encodeSize } from '../../formats/manifests/size.ts';
import { maskSize, type Tag } from '../../formats/manifests/tags.ts';
import type { EncodedContent } from '../encode/encode-content.ts';
import { type PublishTag, tagsOf } from '../files/publish-file.ts';
import type { EncodedFile } from '../objects/encode-files.ts';

/** Writes the install manifest: paths with back-slashes, as real ones have them. */
export function makeInstall(files: readonly EncodedFile[]): Uint8Array {
  const installed = files.filter((file) => file.install === true);
  const entries = installed.map(({ name, content }) => ({
    path: name.replaceAll('/', '\\'),
    ckey: content.ckey,
    size: content.size,
  }));
  return encodeInstall({ version: 1, tags: makeTags(installed.map(tagsOf), files), entries });
}

/** An encoded object as the download and size manifests list it. */
interface Listed {
  ekey: Uint8Array;
  size: number;
  priority: number;
  tags: PublishTag[];
}

/** Writes the download and the size manifest: every object once, manifests before files, files in the order of their priorities. */
export function makeDownloadAndSize(
  files: readonly EncodedFile[],
  manifests: readonly EncodedContent[],
): { download: Uint8Array; size: Uint8Array } {
  const byEkey = new Map<string, EncodedFile[]>();
  for (const file of files) byEkey.set(file.content.ekey, [...(byEkey.get(file.content.ekey) ?? []), file]);
  const listed = [...manifests.map((content) => listedManifest(content)), ...[...byEkey.values()].map(listedFiles)];
  listed.sort((a, b) => a.priority - b.priority);
  const ownTags = listed.map((entry) => entry.tags);
  const content = { entries: listed, count: listed.length, tags: makeTags(ownTags, files) };
  return { download: encodeDownload(content), size: encodeSize(content) };
}

function listedManifest({ ekey, encodedSize }: EncodedContent): Listed {
  return { ekey: fromHex(ekey), size: encodedSize, priority: -128, tags: [] };
}

/** Files that share their bytes are one object, which is needed by whoever needs one of them. */
function listedFiles(files: readonly EncodedFile[]): Listed {
  const { ekey, encodedSize } = files[0]!.content;
  const tags = files.map(tagsOf);
  const types = new Set(tags.flat().map((tag) => tag.type));
  const forEveryone = (type: number): boolean => tags.some((own) => own.every((tag) => tag.type !== type));
  return {
    ekey: fromHex(ekey),
    size: encodedSize,
    priority: Math.min(...files.map((file) => file.priority ?? 0)),
    tags: [...types].filter((type) => !forEveryone(type)).flatMap((type) => tags.flat().filter((t) => t.type === type)),
  };
}

/** Alternatives to what everybody has: an entry without such a tag is none. */
const alternateType = 0x4000;

/**
 * The tag table for entries that carry these tags, in the order of types and names. As in real tables it has every tag of the build, for a
 * reader that is asked for a tag looks for it in each of them; and an entry without a tag of a type carries all of that type, for there are
 * readers that want each tag which was chosen.
 */
function makeTags(tagsByEntry: readonly (readonly PublishTag[])[], files: readonly EncodedFile[]): Tag[] {
  const table = new Map<string, Tag>();
  for (const { name, type } of files.flatMap(tagsOf))
    table.set(`${type} ${name}`, { name, type, mask: new Uint8Array(maskSize(tagsByEntry.length)) });
  const tags = [...table.values()].sort((a, b) => a.type - b.type || (a.name < b.name ? -1 : 1));
  tagsByEntry.forEach((own, i) => {
    for (const { name, type, mask } of tags) {
      const ofType = own.filter((tag) => tag.type === type);
      const isFor = ofType.length === 0 ? type !== alternateType : ofType.some((tag) => tag.name === name);
      if (isFor) mask[i >>> 3]! |= 0x80 >>> (i & 7);
    }
  });
  return tags;
}

/** Readers are known that lose entries when the first page of an encoding file starts before this offset; real ones start far behind it. */
const leastPageOffset = 4096;
const filler = `b:{${'64K=n,'.repeat(300)}*=z}`;

/** Writes the encoding file of these encodings, each of which comes once. */
export function makeEncoding(contents: readonly EncodedContent[]): Uint8Array {
  const ckeys = new Map<string, { ckey: string; size: number; ekeys: string[] }>();
  const ekeys = new Map<string, { ekey: string; size: number; especIndex: number }>();
  const especs = [...new Set(contents.map((content) => content.espec))].sort();
  const indexOf = new Map(especs.map((espec, i) => [espec, i]));
  for (const { ckey, ekey, size, encodedSize, espec } of contents) {
    ekeys.set(ekey, { ekey, size: encodedSize, especIndex: indexOf.get(espec) ?? 0 });
    const known = ckeys.get(ckey) ?? { ckey, size, ekeys: [] };
    known.ekeys.push(ekey);
    ckeys.set(ckey, known);
  }
  let offset = encodingHeaderSize + especs.reduce((sum, espec) => sum + espec.length + 1, 0);
  for (; offset < leastPageOffset; offset += filler.length + 1) especs.push(filler);
  return encodeEncoding({ ckeys: [...ckeys.values()], ekeys: [...ekeys.values()], especs });
}
