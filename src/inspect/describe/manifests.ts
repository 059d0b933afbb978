import { toHex } from '../../core/bytes.ts';
import { decodeDownload } from '../../formats/manifests/download.ts';
import { decodeEncoding } from '../../formats/manifests/encoding/decode.ts';
import { decodeInstall } from '../../formats/manifests/install.ts';
import { decodeSize } from '../../formats/manifests/size.ts';
import { hasTag, type Tag } from '../../formats/manifests/tags.ts';
import { countOf, type Description, fieldTable, indexedTable, tableOf } from './description.ts';

/** An encoding file: contents and the objects they are encoded as. */
export function describeEncoding(bytes: Uint8Array): Description {
  const encoding = decodeEncoding(bytes);
  const ckeys = countOf(encoding.ckeys);
  const ekeys = countOf(encoding.ekeys);
  return {
    facts: {
      checked: 'page MD5s',
      ckeys,
      ekeys,
      ckeyPages: encoding.layout.ckeyPageCount,
      ekeyPages: encoding.layout.ekeyPageCount,
      especs: encoding.especs.length,
      ownEspec: encoding.ownEspec,
    },
    table: tableOf(
      'contents',
      ['ckey', 'size', 'ekeys', 'encodedSize', 'espec'],
      { count: ckeys, items: encoding.ckeys },
      ({ ckey, size, ekeys }) => {
        const object = encoding.findEkey(ekeys[0] ?? '');
        return [ckey, size, ekeys.join(' '), object?.size, object && encoding.especs[object.especIndex]];
      },
    ),
    more: [
      tableOf(
        'objects',
        ['ekey', 'encodedSize', 'espec'],
        { count: ekeys, items: encoding.ekeys },
        ({ ekey, size, especIndex }) => [ekey, size, encoding.especs[especIndex]],
      ),
    ],
  };
}

/** An install manifest: the files beside the data. */
export function describeInstall(bytes: Uint8Array): Description {
  const { version, entries, tags } = decodeInstall(bytes);
  return {
    facts: {
      version,
      entries: entries.length,
      bytes: entries.reduce((sum, { size }) => sum + size, 0),
      tags: tagLines(tags, entries.length),
    },
    table: fieldTable(
      'entries',
      ['path', 'size', 'ckey', 'tags'],
      entries.map((entry, i) => ({ ...entry, tags: tagsOf(tags, i) })),
    ),
  };
}

/** A download manifest: every encoded object of a build, with its priority. */
export function describeDownload(bytes: Uint8Array): Description {
  const manifest = decodeDownload(bytes);
  const { version, count, tags, hasChecksum, flagSize, basePriority } = manifest;
  let total = 0;
  for (let i = 0; i < count; i++) total += manifest.entry(i).size;
  return {
    facts: { version, entries: count, bytes: total, hasChecksum, flagSize, basePriority, tags: tagLines(tags, count) },
    table: indexedTable('entries', ['ekey', 'size', 'priority', 'tags'], count, (i) => {
      const { ekey, size, priority } = manifest.entry(i);
      return [toHex(ekey), size, priority, tagsOf(tags, i)];
    }),
  };
}

/** A size manifest: how large each object of a build is to be. */
export function describeSize(bytes: Uint8Array): Description {
  const manifest = decodeSize(bytes);
  const { version, count, tags, total, ekeyBytes } = manifest;
  return {
    facts: { version, entries: count, bytes: total, ekeyBytes, tags: tagLines(tags, count) },
    table: indexedTable('entries', ['ekey', 'size', 'tags'], count, (i) => {
      const { ekey, size } = manifest.entry(i);
      return [toHex(ekey), size, tagsOf(tags, i)];
    }),
  };
}

/** A line per tag: name, type, and how many entries carry it. */
function tagLines(tags: readonly Tag[], count: number): string[] {
  return tags.map(({ name, type, mask }) => {
    let entries = 0;
    for (let i = 0; i < count; i++) if (hasTag(mask, i)) entries += 1;
    return `${name} (type ${type}): ${entries}`;
  });
}

function tagsOf(tags: readonly Tag[], i: number): string {
  return tags
    .filter(({ mask }) => hasTag(mask, i))
    .map(({ name }) => name)
    .join(' ');
}
