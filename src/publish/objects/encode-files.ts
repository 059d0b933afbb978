import { normalizeName } from '../../core/jenkins.ts';
import { fileChecker, type PublishFile } from '../files/publish-file.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import { type EncodedBytes, type EncodedContent, encodeContent } from './encode-content.ts';
import type { PatchWriter } from './patch-writer.ts';

/** A file that is encoded. One of the install manifest has no id. */
export interface EncodedFile extends Omit<PublishFile, 'read' | 'readPrevious'> {
  content: EncodedContent;
}

/** Puts every encoding once, into an archive or loose, and remembers it for the encoding file. */
export class ContentWriter {
  readonly archives: ArchiveWriter;
  /** By ekey. */
  readonly contents = new Map<string, EncodedContent>();
  /** Encoded. */
  bytes = 0;

  constructor(archives: ArchiveWriter) {
    this.archives = archives;
  }

  /** Puts an object unless it is there. */
  put({ bytes, ...content }: EncodedBytes, loose = false): EncodedContent {
    if (this.contents.has(content.ekey)) return content;
    this.contents.set(content.ekey, content);
    this.bytes += bytes.length;
    if (this.archives.has(content.ekey)) return content;
    if (loose) this.archives.addLoose(content.ekey, bytes);
    else this.archives.add(content.ekey, bytes);
    return content;
  }
}

/** Encodes and puts files, one after the other, and gives those of the root their ids. @throws E_USAGE for a file that cannot be published */
export async function encodeFiles(
  files: Iterable<PublishFile>,
  { data, patches }: { data: ContentWriter; patches: PatchWriter },
  signal?: AbortSignal,
): Promise<EncodedFile[]> {
  const encoded: EncodedFile[] = [];
  const check = fileChecker();
  for (const file of files) {
    signal?.throwIfAborted();
    check(file);
    const { read, readPrevious, ...facts } = file;
    const bytes = await read();
    const content = data.put(encodeContent(bytes, file.key));
    // A patch says what it changes: of an encrypted file there is none.
    const previous = file.key === undefined ? await readPrevious?.() : undefined;
    if (previous !== undefined) {
      const { bytes: _, ...source } = encodeContent(previous);
      if (data.archives.has(source.ekey)) patches.add({ content: source, bytes: previous }, { content, bytes });
    }
    encoded.push({ ...facts, content });
  }
  return numberFiles(encoded);
}

/** Each file's own id, else the next behind the highest that was given, in the order of the names. */
function numberFiles(files: readonly EncodedFile[]): EncodedFile[] {
  const ids = new Map<string, number>();
  const unnumbered = new Set<string>();
  let highest = 0;
  for (const { name, fileDataId, install } of files) {
    if (install === true) continue;
    if (fileDataId === undefined) unnumbered.add(normalizeName(name));
    else ids.set(normalizeName(name), fileDataId);
    highest = Math.max(highest, fileDataId ?? 0);
  }
  for (const name of [...unnumbered].sort()) {
    if (ids.has(name)) continue;
    highest += 1;
    ids.set(name, highest);
  }
  return files.map((file) => ({
    ...file,
    fileDataId: file.install === true ? undefined : ids.get(normalizeName(file.name)),
  }));
}
