import { toHex } from '../../core/bytes.ts';
import { ByteReader } from '../../core/reader.ts';
import { decodePatchIndex } from '../../formats/patches/patch-index.ts';
import { decodePatchManifest } from '../../formats/patches/patch-manifest.ts';
import { type Description, indexedTable, tableOf } from './description.ts';

/** A patch manifest: which patches make a file out of which older ones. */
export function describePatchManifest(bytes: Uint8Array): Description {
  const manifest = decodePatchManifest(bytes);
  const { key, version, flags, fileCount, encoding } = manifest;
  const ofEncoding = encoding && {
    encodingCkey: toHex(encoding.ckey),
    encodingEkey: toHex(encoding.ekey),
    encodingSize: encoding.size,
    encodingEncodedSize: encoding.encodedSize,
    encodingEspec: encoding.espec,
  };
  return {
    facts: { name: key, checked: 'block MD5s', version, flags, files: fileCount, ...ofEncoding },
    table: tableOf(
      'files',
      ['targetCkey', 'targetSize', 'patches', 'patchEkey', 'patchSize'],
      { count: fileCount, items: manifest.files },
      ({ targetCkey, targetSize, patches }) => {
        const first = patches[0];
        return [toHex(targetCkey), targetSize, patches.length, first && toHex(first.patchEkey), first?.patchSize];
      },
    ),
    names: { 'MD5 of the header': key },
  };
}

/** A binary difference between two contents: its head alone, for the rest means nothing without the old content. */
export function describeZbsdiff(bytes: Uint8Array): Description {
  const reader = new ByteReader(bytes, 'ZBSDIFF1 patch');
  reader.magic('ZBSDIFF1');
  return { facts: { controlSize: reader.u64le(), diffSize: reader.u64le(), resultSize: reader.u64le() } };
}

/** A patch index: the patches between encoded objects. */
export function describePatchIndex(bytes: Uint8Array): Description {
  const index = decodePatchIndex(bytes);
  const { keySize, blocks, count } = index;
  return {
    facts: { keySize, blocks: blocks.map(({ type, bytes }) => `type ${type}: ${bytes.length} bytes`), entries: count },
    table: indexedTable('patches', ['sourceEkey', 'sourceSize', 'patchEkey', 'patchSize', 'targetEkey'], count, (i) => {
      const { sourceEkey, sourceSize, patchEkey, patchSize, targetEkey } = index.entry(i);
      return [toHex(sourceEkey), sourceSize, toHex(patchEkey), patchSize, toHex(targetEkey)];
    }),
  };
}
