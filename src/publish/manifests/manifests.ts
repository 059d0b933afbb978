import { fromHex, u32At } from '../../core/bytes.ts';
import { orderOf } from '../../core/sorting/merge-sort.ts';
import { sortRecords } from '../../core/sorting/sort-records.ts';
import { KeyTable } from '../../core/tables/key-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import { type DownloadEntry, encodeDownload } from '../../formats/manifests/download.ts';
import { encodeEncoding } from '../../formats/manifests/encoding/encode.ts';
import { type CkeyEntry, type EkeyEntry, encodingHeaderSize } from '../../formats/manifests/encoding/pages.ts';
import { encodeInstall, type InstallEntry } from '../../formats/manifests/install.ts';
import { encodeSize } from '../../formats/manifests/size.ts';
import type { Tag, TaggedEntries } from '../../formats/manifests/tags.ts';
import type { EncodedContent } from '../encode/encode-content.ts';
import { type PublishTag, tagsOf } from '../files/publish-file.ts';
import type { EncodedFile } from '../objects/encoded-files.ts';
import { makeTags, TagLists } from './tag-lists.ts';

/** Writes the install manifest: paths with back-slashes, as real ones have them. */
export function makeInstall(files: Iterable<EncodedFile>): Uint8Array {
  const lists = new TagLists();
  const entries: InstallEntry[] = [];
  const tags: number[] = [];
  for (const file of files) {
    const own = lists.of(tagsOf(file));
    if (file.install !== true) continue;
    const { ckey, size } = file.content;
    entries.push({ path: file.name.replaceAll('/', '\\'), ckey, size });
    tags.push(own);
  }
  return encodeInstall({ version: 1, tags: makeTags(lists, tags), entries });
}

/** Writes the download and the size manifest: every object once, manifests before files, files in the order of their priorities. */
export function makeDownloadAndSize(
  files: Iterable<EncodedFile>,
  manifests: readonly EncodedContent[],
): { download: Uint8Array; size: Uint8Array } {
  const objects = new ListedObjects();
  for (const { ekey, encodedSize } of manifests)
    objects.add(ekey, { size: encodedSize, priority: manifestPriority, tags: [] });
  for (const file of files) {
    const { ekey, encodedSize } = file.content;
    objects.add(ekey, { size: encodedSize, priority: file.priority ?? 0, tags: tagsOf(file) });
  }
  const order = objects.inOrder();
  const tags = objects.tagsIn(order);
  const content = (): TaggedEntries<DownloadEntry> => ({ entries: objects.entries(order), count: order.length, tags });
  return { download: encodeDownload(content()), size: encodeSize(content()) };
}

/** Manifests come first. */
const manifestPriority = -128;

/** Objects as the download and size manifests list them, each once. Files that share their bytes are one object, which is needed by whoever needs one of them. */
class ListedObjects {
  readonly #ekeys = new KeyTable();
  readonly #sizes: number[] = [];
  readonly #priorities: number[] = [];
  readonly #lists = new TagLists();
  readonly #tags: number[] = [];

  add(ekey: string, { size, priority, tags }: { size: number; priority: number; tags: readonly PublishTag[] }): void {
    const number = this.#ekeys.add(fromHex(ekey));
    if (number === this.#sizes.length) {
      this.#sizes.push(size);
      this.#priorities.push(priority);
      this.#tags.push(this.#lists.of(tags));
      return;
    }
    this.#priorities[number] = Math.min(priority, this.#priorities[number]!);
    this.#tags[number] = this.#lists.with(this.#tags[number]!, tags);
  }

  /** The numbers of all in the order of their priorities. */
  inOrder(): Uint32Array {
    const priorities = this.#priorities;
    return orderOf(priorities.length, (a, b) => priorities[a]! - priorities[b]!);
  }

  *entries(order: Uint32Array): Generator<DownloadEntry> {
    for (const i of order) yield { ekey: this.#ekeys.at(i), size: this.#sizes[i]!, priority: this.#priorities[i]! };
  }

  tagsIn(order: Uint32Array): Tag[] {
    return makeTags(
      this.#lists,
      Array.from(order, (i) => this.#tags[i]!),
    );
  }
}

/** Readers are known that lose entries when the first page of an encoding file starts before this offset; real ones start far behind it. */
const leastPageOffset = 4096;
const filler = `b:{${'64K=n,'.repeat(300)}*=z}`;

/** Writes the encoding file of these encodings, each of which comes once. */
export function makeEncoding(contents: Pick<readonly EncodedContent[], 'length' | 'at'>): Uint8Array {
  const found = new Set<string>();
  const byCkey = new ByteWriter(contents.length * ckeyRowSize);
  for (let i = 0; i < contents.length; i++) {
    const { ckey, espec } = contents.at(i)!;
    found.add(espec);
    byCkey.key(ckey).u32(i);
  }
  const especs = [...found].sort();
  const indexOf = new Map(especs.map((espec, i) => [espec, i]));
  let offset = encodingHeaderSize + especs.reduce((sum, espec) => sum + espec.length + 1, 0);
  for (; offset < leastPageOffset; offset += filler.length + 1) especs.push(filler);
  const ekeys = function* (): Generator<EkeyEntry> {
    for (let i = 0; i < contents.length; i++) {
      const { ekey, encodedSize, espec } = contents.at(i)!;
      yield { ekey, size: encodedSize, especIndex: indexOf.get(espec) ?? 0 };
    }
  };
  const sorted = sortRecords(byCkey.written, ckeyRowSize, keySize);
  return encodeEncoding({ ckeys: ckeyEntries(contents, sorted), ekeys: ekeys(), especs });
}

const keySize = 16;
/** A ckey, and the number of a content that has it. */
const ckeyRowSize = keySize + 4;

/** The contents of each ckey, which may have several encodings. */
function* ckeyEntries(contents: Pick<readonly EncodedContent[], 'at'>, sorted: Uint8Array): Generator<CkeyEntry> {
  let entry: CkeyEntry | undefined;
  for (let at = 0; at < sorted.length; at += ckeyRowSize) {
    const { ckey, size, ekey } = contents.at(u32At(sorted, at + keySize))!;
    if (entry?.ckey === ckey) entry.ekeys.push(ekey);
    else {
      if (entry !== undefined) yield entry;
      entry = { ckey, size, ekeys: [ekey] };
    }
  }
  if (entry !== undefined) yield entry;
}
