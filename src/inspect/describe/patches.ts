import { toHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { decodePatchIndex } from '../../formats/patches/patch-index.ts';
import {
  decodePatchManifest,
  type FilePatch,
  type PatchedFile,
  type PatchManifest,
} from '../../formats/patches/patch-manifest.ts';
import { countOf, type Description, indexedTable, tableOf } from './description.ts';

/** A patch manifest: which patches make a file out of which older ones. */
export function describePatchManifest(bytes: Uint8Array): Description {
  const manifest = decodePatchManifest(bytes);
  const { key, version, flags, fileCount, encoding } = manifest;
  const count = countOf(patchesOf(manifest));
  const ofEncoding = encoding && {
    encodingCkey: toHex(encoding.ckey),
    encodingEkey: toHex(encoding.ekey),
    encodingSize: encoding.size,
    encodingEncodedSize: encoding.encodedSize,
    encodingEspec: encoding.espec,
  };
  return {
    facts: { name: key, checked: 'block MD5s', version, flags, files: fileCount, patches: count, ...ofEncoding },
    table: tableOf(
      'patches',
      ['targetCkey', 'targetSize', 'sourceEkey', 'sourceSize', 'patchEkey', 'patchSize', 'order'],
      { count, items: patchesOf(manifest) },
      ([{ targetCkey, targetSize }, { sourceEkey, sourceSize, patchEkey, patchSize, order }]) => [
        toHex(targetCkey),
        targetSize,
        toHex(sourceEkey),
        sourceSize,
        toHex(patchEkey),
        patchSize,
        order,
      ],
    ),
    names: { 'MD5 of the header': key },
  };
}

/** Every patch of a manifest with the file that it makes. */
function* patchesOf({ files }: PatchManifest): Generator<[PatchedFile, FilePatch]> {
  for (const file of files) for (const patch of file.patches) yield [file, patch];
}

/** A binary difference between two contents: its head alone, for the rest means nothing without the old content. */
export function describeZbsdiff(bytes: Uint8Array): Description {
  const what = 'ZBSDIFF1 patch';
  const reader = new ByteReader(bytes, what);
  reader.magic('ZBSDIFF1');
  const [controlSize, diffSize, resultSize] = [reader.u64le(), reader.u64le(), reader.u64le()];
  const extraSize = reader.remaining - controlSize - diffSize;
  if (extraSize >= 0) return { facts: { controlSize, diffSize, extraSize, resultSize } };
  const facts = { offset: reader.pos, expected: controlSize + diffSize, found: reader.remaining };
  const problem = formatError('E_FORMAT_TRUNCATED', what, 'it is shorter than its header says', facts);
  return { facts: { controlSize, diffSize, resultSize }, problem };
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
