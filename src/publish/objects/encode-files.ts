import { breathe } from '../../core/breathe.ts';
import { isDamage, isNotFound, resultUnless } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import type { EarlierBuild } from '../earlier/earlier-build.ts';
import { bytesContent, type Content, hashContent, openContent } from '../encode/content.ts';
import type { EncodedBytes, EncodedContent } from '../encode/encode-content.ts';
import { encodeInMemory, encodeOnDisk, memoryBytes, type ToEncode } from '../encode/encode-object.ts';
import { type Encoder, encodingWeight } from '../encode/encoder.ts';
import { type EspecChoice, especsFor } from '../encode/espec-choice.ts';
import { inOrder, type Started } from '../encode/in-order.ts';
import { fileChecker, type PublishFile, type RootKind } from '../files/publish-file.ts';
import type { ContentWriter, EncodedOnDisk } from './content-writer.ts';
import { EncodedFiles } from './encoded-files.ts';
import type { PatchWriter } from './patch-writer.ts';

/** The writers of a build, and how its files are encoded. */
export interface EncodeWork {
  data: ContentWriter;
  patches: PatchWriter;
  encoder: Encoder;
  especs: EspecChoice;
  root: RootKind;
  /** The build that is live, if there is one. */
  earlier: EarlierBuild | undefined;
  /** Called with bytes of files as they are done, and with a file that is done. */
  onProgress?: ((done: { bytes: number; files: number }) => void) | undefined;
}

/** An encoding: of an object that the folder has, in memory, or on disk. */
type Encoded = EncodedContent | EncodedBytes | EncodedOnDisk;

interface Outcome {
  file: PublishFile;
  /** What the content and its encoding are known by while it is encoded. */
  id: string;
  encoded: Encoded;
  patch?: MadePatch | undefined;
  /** Its bytes were told of while it was encoded. */
  told?: true;
}

interface MadePatch {
  source: EncodedContent;
  bytes: Uint8Array;
}

/** A request costs more than a patch of less saves. */
const leastPatchedBytes = 512;

/** Encodes and puts files, in their order, and gives those of the root their ids. What it gives needs `close`. @throws E_USAGE for a file that cannot be published */
export async function encodeFiles(published: Iterable<PublishFile>, work: EncodeWork): Promise<EncodedFiles> {
  const { data, encoder } = work;
  const done = new EncodedFiles(data.contents, data.archives.temporary);
  const files = new FileEncoder(work);
  try {
    for await (const outcome of inOrder(files.start(published), encoder.windowBytes)) {
      const content = files.put(outcome);
      done.add(outcome.file, content);
      work.onProgress?.({ bytes: outcome.told === undefined ? content.size : 0, files: 1 });
    }
    if (work.root === 'wow') done.numberAll();
    return done;
  } catch (error) {
    // Nothing is to write into files that are closed next.
    await encoder.end();
    await files.settled();
    done.close();
    throw error;
  }
}

function put(encoded: Encoded, data: ContentWriter): EncodedContent {
  if ('bytes' in encoded) return data.put(encoded);
  if ('file' in encoded) return data.putFile(encoded);
  return data.know(encoded);
}

class FileEncoder {
  readonly #work: EncodeWork;
  /** Encodings that have begun and are not put, by content and spec: equal files are encoded once. */
  readonly #begun = new Map<string, Promise<EncodedContent>>();

  constructor(work: EncodeWork) {
    this.#work = work;
  }

  /** Puts what a file became, in the order in which files were given. */
  put({ id, encoded, patch }: Outcome): EncodedContent {
    const { data, patches } = this.#work;
    const content = put(encoded, data);
    if (patch !== undefined) patches.put(patch.source, content, patch.bytes);
    this.#begun.delete(id);
    return content;
  }

  async *start(files: Iterable<PublishFile>): AsyncGenerator<Started<Outcome>> {
    const check = fileChecker(this.#work.root);
    for (const file of files) {
      await breathe(this.#work.encoder.signal);
      check(file);
      const isLarge = (file.size ?? 0) > memoryBytes && file.path !== undefined;
      yield isLarge ? await this.#startLarge(file, file.path ?? '') : await this.#startWhole(file);
    }
  }

  /** Waits until nothing is encoded any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#begun.values());
  }

  async #startWhole(file: PublishFile): Promise<Started<Outcome>> {
    const bytes = await file.read();
    const ckey = md5Hex(bytes);
    const { encoder } = this.#work;
    const content = bytesContent(file.name, bytes);
    const started = this.#start(file, { content, ckey, weight: encodingWeight(bytes.length) }, (one) =>
      encodeInMemory(one, encoder),
    );
    if (started.isKnown) return started;
    const patch = await this.#patch(file, bytes, ckey);
    return {
      ...started,
      result: Promise.all([started.result, patch?.()]).then(([one, made]) => ({ ...one, patch: made })),
    };
  }

  async #startLarge(file: PublishFile, path: string): Promise<Started<Outcome>> {
    const content = openContent(file.name, path);
    const { encoder, data, onProgress } = this.#work;
    try {
      const ckey = await hashContent(content, encoder.signal);
      const onChunk = (bytes: number): void => onProgress?.({ bytes, files: 0 });
      const started = this.#start(file, { content, ckey, weight: memoryBytes }, (one) =>
        encodeOnDisk(one, { encoder, archives: data.archives, onChunk }),
      );
      const result = started.result.finally(() => content.close());
      return started.isKnown ? { ...started, result } : { ...started, result: result.then(withTold) };
    } catch (error) {
      content.close();
      throw error;
    }
  }

  /** Begins to encode a content, unless that has begun before or the live build has it. */
  #start(
    file: PublishFile,
    { content, ckey, weight }: { content: Content; ckey: string; weight: number },
    encode: (one: ToEncode) => Promise<Encoded>,
  ): Started<Outcome> & { isKnown: boolean } {
    const especs = especsFor(this.#work.especs, ckey, file.key);
    const id = `${ckey} ${especs[0]}`;
    const { data, earlier } = this.#work;
    const known = this.#begun.get(id) ?? data.contents.find(ckey, especs) ?? earlier?.find(ckey, especs);
    if (known !== undefined) {
      const result = Promise.resolve(known).then((encoded) => ({ file, id, encoded }));
      // It takes next to nothing, and so that not too many wait it counts as an empty file does.
      return { weight: encodingWeight(0), result, isKnown: true };
    }
    const begun = encode({ content, ckey, especs, key: file.key });
    // Without its bytes, which are let go of when they are written.
    const facts = begun.then(({ ekey, size, encodedSize, espec }) => ({ ckey, ekey, size, encodedSize, espec }));
    facts.catch(() => {});
    this.#begun.set(id, facts);
    const result = begun.then((encoded) => ({ file, id, encoded }));
    result.catch(() => {});
    return { weight, result, isKnown: false };
  }

  /** A patch says what it changes: of an encrypted file there is none. @returns what makes it */
  async #patch(file: PublishFile, bytes: Uint8Array, ckey: string): Promise<(() => Promise<MadePatch>) | undefined> {
    const { earlier, encoder } = this.#work;
    if (file.key !== undefined || earlier === undefined) return undefined;
    if (bytes.length < leastPatchedBytes || bytes.length > memoryBytes) return undefined;
    const given = await file.readPrevious?.();
    const source = given === undefined ? await earlier.contentOf(file.name) : earlier.findPlain(md5Hex(given));
    if (source === undefined || source.ckey === ckey || source.size > memoryBytes) return undefined;
    const previous = given ?? resultUnless(isLost, () => earlier.read(source));
    if (previous === undefined) return undefined;
    return async () => {
      const { bytes: patch } = await encoder.run({ kind: 'patch', content: bytes, previous });
      return { source, bytes: patch };
    };
  }
}

/** Patches are a saving: where the older content is lost there is none. */
function isLost(error: unknown): boolean {
  return isDamage(error) || isNotFound(error);
}

function withTold(outcome: Outcome): Outcome {
  return { ...outcome, told: true };
}
