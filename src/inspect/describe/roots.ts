import { toHex } from '../../core/bytes.ts';
import { localeNames } from '../../formats/roots/locale.ts';
import { decodeMndx } from '../../formats/roots/mndx/decode.ts';
import { decodeMar } from '../../formats/roots/mndx/trie.ts';
import { decodeOverwatchRoot } from '../../formats/roots/overwatch.ts';
import { decodeTextRoot } from '../../formats/roots/text.ts';
import { decodeTvfs, type Tvfs } from '../../formats/roots/tvfs/decode.ts';
import { TvfsFlags, type TvfsSpan } from '../../formats/roots/tvfs/layout.ts';
import { decodeWowRoot, fillFileDataIds, rowBlock, rowCkey, rowNameHash } from '../../formats/roots/wow/decode.ts';
import { countOf, type Description, fieldTable, indexedTable, tableOf } from './description.ts';

/** A WoW root: file data ids and name hashes. */
export function describeWowRoot(bytes: Uint8Array): Description {
  const root = decodeWowRoot(bytes);
  const ids = fillFileDataIds(root);
  return {
    facts: {
      version: root.form,
      blocks: root.blocks.length,
      rows: root.rowCount,
      headerTotal: root.total,
      headerNamed: root.named,
    },
    table: indexedTable(
      'files',
      ['fileDataId', 'ckey', 'nameHash', 'locales', 'contentFlags'],
      root.rowCount,
      (row) => {
        const { localeFlags, contentFlags } = rowBlock(root, row);
        const hash = rowNameHash(root, row);
        const locales = localeNames(localeFlags).join(' ') || `0x${localeFlags.toString(16)}`;
        return [ids[row], toHex(rowCkey(root, row)), hash && toHex(hash), locales, `0x${contentFlags.toString(16)}`];
      },
    ),
  };
}

/** A TVFS manifest: paths and the encoded pieces behind them. */
export function describeTvfs(bytes: Uint8Array): Description {
  const tvfs = decodeTvfs(bytes);
  const { header, fileCount, skippedCount, especs } = tvfs;
  const flagNames = Object.entries(TvfsFlags).filter(([, bit]) => (header.flags & bit) !== 0);
  return {
    facts: {
      version: header.version,
      flags: flagNames.map(([name]) => name),
      ekeyBytes: header.ekeySize,
      maxDepth: header.maxDepth,
      files: fileCount,
      skipped: skippedCount,
      especs,
    },
    table: tableOf(
      'files',
      ['path', 'size', 'spans', 'ekey', 'ckey'],
      { count: fileCount, items: tvfs.files },
      ({ path, spans }) => {
        const size = spans.reduce((sum, span) => sum + span.size, 0);
        const first = spans[0];
        return [path, size, spans.length, first && toHex(first.ekey), first?.ckey && toHex(first.ckey)];
      },
    ),
    more: [
      tableOf(
        'spans',
        ['path', 'offset', 'size', 'ekey', 'encodedSize', 'contentSize'],
        { count: countOf(spansOf(tvfs)), items: spansOf(tvfs) },
        ([path, { offset, size, ekey, encodedSize, contentSize }]) => [
          path,
          offset,
          size,
          toHex(ekey),
          encodedSize,
          contentSize,
        ],
      ),
    ],
  };
}

/** Every piece of every file. */
function* spansOf({ files }: Tvfs): Generator<[path: string, TvfsSpan]> {
  for (const { path, spans } of files) for (const span of spans) yield [path, span];
}

/** An MNDX root: packages and the files in them. */
export function describeMndx(bytes: Uint8Array): Description {
  const { packages, fileCount, files } = decodeMndx(bytes);
  return {
    facts: { packages, files: fileCount },
    table: fieldTable('files', ['name', 'size', 'ckey'], { count: fileCount, items: files }),
  };
}

/** A trie of names, as an MNDX root has three of. */
export function describeMar(bytes: Uint8Array): Description {
  const keys = [...decodeMar(bytes).keys];
  return {
    facts: { names: keys.length },
    table: tableOf('names', ['id', 'name'], keys, ({ id, name }) => [id, new TextDecoder().decode(name)]),
  };
}

/** A root that is a table with named columns. */
export function describeOverwatch(bytes: Uint8Array): Description {
  const { columns, files } = decodeOverwatchRoot(bytes);
  return {
    facts: { columns, files: files.length },
    table: tableOf('files', columns, files, ({ values }) => values),
  };
}

/** A root that is a list of lines. */
export function describeTextRoot(bytes: Uint8Array): Description {
  const { rows } = decodeTextRoot(bytes);
  return {
    facts: { files: rows.length },
    table: fieldTable('files', ['path', 'ckey', 'locale', 'flags'], rows),
  };
}
