import * as fs from 'node:fs';
import { readAt } from '../../files/read-at.ts';
import {
  ckeyEntries,
  decodeEncodingHeader,
  encodingHeaderSize,
  pageTable,
  verifyPage,
} from '../../formats/manifests/encoding/pages.ts';
import { allLocales } from './name-table.ts';
import type { FileVariant, Root } from './root.ts';

const what = 'encoding';

/** What there is of a build whose root is of no known kind. */
export interface UnknownRootPlace {
  /** The decoded encoding file. */
  encodingFile: string;
  /** The names of the install manifest, where the build has one. */
  installed: Root | undefined;
  notes: readonly string[];
}

/** A root without names of its own: the files of the install manifest, then every other content as `ckey:HEX`. Needs `close`. */
export function openUnknownRoot({ encodingFile, installed, notes }: UnknownRootPlace): Root {
  return {
    kind: null,
    notes,
    find: (name) => installed?.find(name) ?? [],
    findId: () => [],
    *list(matches) {
      const named = new Set<string>();
      for (const variant of installed?.list(() => true) ?? []) {
        for (const { ckey } of variant.parts) if (ckey !== undefined) named.add(ckey);
        if (matches(variant.name!)) yield variant;
      }
      for (const variant of contents(encodingFile)) {
        if (!named.has(variant.parts[0]!.ckey!) && matches(variant.name!)) yield variant;
      }
    },
    close: () => installed?.close(),
  };
}

/** Every content of an encoding file, a page in memory at a time. */
function* contents(file: string): Generator<FileVariant> {
  const fd = fs.openSync(file, 'r');
  try {
    const layout = decodeEncodingHeader(readAt(fd, 0, encodingHeaderSize, what));
    const { ckeyTableOffset, ckeyPagesOffset, ckeyPageCount, ckeyPageSize } = layout;
    const table = pageTable(readAt(fd, ckeyTableOffset, ckeyPageCount * 32, what), layout, 'ckey');
    for (let page = 0; page < ckeyPageCount; page++) {
      const bytes = readAt(fd, ckeyPagesOffset + page * ckeyPageSize, ckeyPageSize, what);
      verifyPage(bytes, table.at(page));
      for (const { ckey, size } of ckeyEntries(bytes, layout)) {
        yield { name: `ckey:${ckey}`, localeFlags: allLocales, contentFlags: 0, parts: [{ ckey, size }] };
      }
    }
  } finally {
    fs.closeSync(fd);
  }
}
