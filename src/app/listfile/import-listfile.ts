import { createReadStream } from 'node:fs';
import { importListfile as importInto, type ListfileChange } from '../../builds/listfile/listfile-import.ts';
import type { WorkOptions } from '../../core/progress.ts';
import type { Session } from '../session/session.ts';
import { tellBadLines } from '../session/tell-names.ts';

export type { ListfileChange } from '../../builds/listfile/listfile-import.ts';

const pieceBytes = 1 << 20;

/**
 * Takes names of files into the store: `id;name` lines, or plain names. A new name of an id takes the place of the old; other names stay.
 * @param list path of the list, or its bytes
 * Lines that are no rows are passed over and told.
 * @throws E_FORMAT, E_NOT_FOUND, E_STORE…, E_ABORTED
 */
export async function importListfile(
  session: Session,
  list: string | AsyncIterable<Uint8Array>,
  { signal, onProgress }: WorkOptions = {},
): Promise<ListfileChange> {
  const { layout } = await session.store({ create: true });
  const pieces = typeof list === 'string' ? createReadStream(list, { highWaterMark: pieceBytes }) : list;
  const change = await importInto(layout, pieces, signal);
  tellBadLines(change, onProgress);
  return change;
}
