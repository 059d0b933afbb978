import { createHash } from 'node:crypto';
import { encodeBlte } from '../../../src/formats/blte/encode.ts';
import { reverseName, type TactKey } from '../../../src/formats/configs/key-list.ts';
import type { EncodedBytes, EncodedContent } from '../../../src/publish/encode/encode-content.ts';
import { ArchiveWriter, type CdnFolder } from '../../../src/publish/objects/archive-writer.ts';
import { ContentWriter } from '../../../src/publish/objects/content-writer.ts';
import { stream } from './content.ts';
import type { TreeOptions } from './options.ts';
import type { Encoding } from './plan.ts';

/** MD5 as Node has it, lower-case hex. */
export function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex');
}

/** How a content is to be stored. */
export interface StoreHow {
  encoding: Encoding;
  isLoose?: boolean;
  /** For the encrypted ones. */
  key?: TactKey | undefined;
  /** A second encoding is made, too. */
  isTwice?: boolean;
}

/** The objects of a tree, each stored once for all builds. */
export class TreeObjects {
  readonly data: ContentWriter;
  readonly #options: TreeOptions;
  readonly #perArchive: number;
  #stored = 0;
  readonly #byCkey = new Map<string, EncodedContent[]>();
  readonly #byName = new Map<string, EncodedContent[]>();

  constructor(folder: CdnFolder, options: TreeOptions) {
    this.#options = options;
    this.data = new ContentWriter(new ArchiveWriter(folder, 'data', 2 ** 28 - 1));
    this.#perArchive = Math.ceil((options.files + 1) / options.archives);
  }

  /** Stores the content of a name, which is made only once. @returns its encodings */
  storeNamed(name: string, make: () => Uint8Array, how: StoreHow): EncodedContent[] {
    const stored = this.#byName.get(name) ?? this.store(make(), how);
    this.#byName.set(name, stored);
    return stored;
  }

  /** Stores a content, unless it is there. @returns its encodings */
  store(content: Uint8Array, how: StoreHow): EncodedContent[] {
    const ckey = md5(content);
    const known = this.#byCkey.get(ckey);
    if (known !== undefined) return known;
    this.#stored += 1;
    if (this.#stored % this.#perArchive === 0) this.data.archives.endArchive();
    const encodings = how.isTwice ? [how.encoding, 'bn' as const] : [how.encoding];
    const stored = encodings.map((encoding) => {
      const encoded = this.#encode(content, { ...how, encoding });
      return this.data.put({ ...encoded, ckey }, how.isLoose);
    });
    this.#byCkey.set(ckey, stored);
    return stored;
  }

  #encode(content: Uint8Array, { encoding, key }: StoreHow): EncodedBytes {
    const { zlevel, rawZ } = this.#options;
    const espec = especOf(encoding, content, key);
    // What is deflated at another level than the spec says is what nobody can make again from the spec.
    const real = espec.replaceAll('z', `z:${zlevel}`);
    const keys = { find: (name: string) => (name === key?.name ? Buffer.from(key.key, 'hex') : undefined) };
    const { bytes, ekey } = encodeBlte(content, real, { keys, zlib: zlevel === 9 ? 'exact' : 'fast' });
    if (encoding === 'z' && !rawZ && bytes.length >= content.length) return this.#encode(content, { encoding: 'n' });
    return { bytes, ekey, espec, ckey: md5(content), size: content.length, encodedSize: bytes.length };
  }
}

/** The spec of an encoding. The IV follows from the content. */
function especOf(encoding: Encoding, content: Uint8Array, key: TactKey | undefined): string {
  const { length } = content;
  const lock = `${reverseName(key?.name ?? '')},${stream(md5(content), 4).toString('hex')}`.toUpperCase();
  const [fifth, half] = [Math.floor(length / 5), Math.floor(length / 2)];
  const especs: Record<Encoding, () => string> = {
    n: () => 'n',
    z: () => 'z',
    bz: () => 'b:{256K*=z}',
    bn: () => 'b:{256K*=n}',
    mix: () => `b:{${fifth}=n,${half - fifth}=z,4K*=n}`,
    ez: () => `b:{64K*=e:{${lock},z}}`,
    en: () => `b:{${half}=n,*=e:{${lock},n}}`,
  };
  return especs[encoding]();
}
