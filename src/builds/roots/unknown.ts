import type { EncodingFile } from '../manifests/encoding-file.ts';
import { allLocales } from './name-table.ts';
import type { FileVariant, Root } from './root.ts';

/**
 * A root without names of its own: the files of the install manifest, then every other content as `ckey:HEX`. Needs `close`.
 * @param installed the names of the install manifest, where the build has one
 */
export function openUnknownRoot(encoding: EncodingFile, installed: Root | undefined, notes: readonly string[]): Root {
  return {
    kind: null,
    notes,
    find: (name) => installed?.find(name) ?? [],
    findId: () => [],
    checkAll: () => encoding.checkAll(),
    *list(matches) {
      const named = new Set<string>();
      for (const variant of installed?.list(() => true) ?? []) {
        for (const { ckey } of variant.parts) if (ckey !== undefined) named.add(ckey);
        if (matches(variant.name ?? '')) yield variant;
      }
      for (const { ckey, size } of encoding.ckeys()) {
        const name = `ckey:${ckey}`;
        if (!named.has(ckey) && matches(name)) yield variantOf(name, ckey, size);
      }
    },
    close: () => installed?.close(),
  };
}

function variantOf(name: string, ckey: string, size: number): FileVariant {
  return { name, localeFlags: allLocales, contentFlags: 0, parts: [{ ckey, size }] };
}
