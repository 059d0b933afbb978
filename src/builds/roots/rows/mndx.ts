import { decodeMndx } from '../../../formats/roots/mndx/decode.ts';
import type { NameRow } from '../name-table.ts';

/** The files of an MNDX root. A package says by its name which locale it is for, so every file is for all. @throws E_FORMAT… */
export function* mndxRows(bytes: Uint8Array): Generator<NameRow> {
  for (const { name, ckey, size } of decodeMndx(bytes).files) {
    yield { name: name.replaceAll('\\', '/'), parts: [{ ckey, size }] };
  }
}
