import classes from '../../../../data/nadeo-classes.json' with { type: 'json' };
import { looksLikeGbx } from './gbx-header.ts';
import { classIdOf } from './node-classes.ts';

const otherFile = 0x09020000;

/** The class of a file: what a GBX says of itself, else what its ending means. Scripts are text before version 6. */
export function fileClassId(name: string, start: Uint8Array, packVersion: number): number {
  if (looksLikeGbx(start) && start.length >= 13) {
    const at = start[3]! >= 4 ? 9 : 8;
    return new DataView(start.buffer, start.byteOffset).getUint32(at, true);
  }
  const lower = name.toLowerCase();
  const found = Object.entries(classes.endings).find(
    ([ending]) => lower.endsWith(ending) && (packVersion >= 6 || ending !== '.script.txt'),
  );
  return found === undefined ? otherFile : classIdOf(found[1]);
}
