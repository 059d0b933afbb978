import type { DurableFile } from '../../files/durable.ts';
import type { EncodedBytes, EncodedContent } from '../encode/encode-content.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import { Contents } from './contents.ts';

/** An encoding that was too large for memory: its chunks, behind room for the head. */
export interface EncodedOnDisk extends EncodedContent {
  file: DurableFile;
  head: Uint8Array;
}

/** Puts every encoding once, into an archive or loose, and remembers it for the encoding file. Needs `close`. */
export class ContentWriter {
  readonly archives: ArchiveWriter;
  readonly contents: Contents;
  /** Encoded. */
  bytes = 0;
  /** Of these: what the folder did not have. */
  readonly added = { objects: 0, bytes: 0 };

  constructor(archives: ArchiveWriter) {
    this.archives = archives;
    this.contents = new Contents(archives.temporary);
  }

  /** Remembers an object that the folder has. */
  know(content: EncodedContent): EncodedContent {
    if (this.contents.numberOf(content) >= 0) return content;
    this.contents.add(content);
    this.bytes += content.encodedSize;
    return content;
  }

  /** Puts an object unless it is there. */
  put({ bytes, ...content }: EncodedBytes, loose = false): EncodedContent {
    if (this.#isNew(content)) {
      if (loose) this.archives.addLoose(content.ekey, bytes);
      else this.archives.add(content.ekey, bytes);
    }
    return content;
  }

  /** Puts a large object, which lies loose, unless it is there. */
  putFile({ file, head, ...content }: EncodedOnDisk): EncodedContent {
    if (this.#isNew(content)) this.archives.addFile(content.ekey, file, head);
    else this.archives.dropFile(file);
    return content;
  }

  /** Lets go of what is not finished, and forgets the contents. */
  close(): void {
    this.archives.close();
    this.contents.close();
  }

  #isNew(content: EncodedContent): boolean {
    if (this.contents.numberOf(content) >= 0) return false;
    this.know(content);
    if (this.archives.has(content.ekey)) return false;
    this.added.objects += 1;
    this.added.bytes += content.encodedSize;
    return true;
  }
}
