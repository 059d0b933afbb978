/*
 * Class ids that the directory of a pack gives to files, by their ending. (GBX.NET's list of extensions, public domain)
 */
import { looksLikeGbx } from './gbx-header.ts';

const otherFile = 0x09020000;
const classByEnding: readonly (readonly [ending: string, classId: number])[] = [
  ['.script.txt', 0x09054000],
  ['.txt', 0x09041000],
  ['.dds', 0x09024000],
  ['.tga', 0x09023000],
  ['.png', 0x0903d000],
  ['.jpg', 0x09022000],
  ['.wav', 0x09031000],
  ['.ogg', 0x0905a000],
  ['.zip', 0x09084000],
  ['.pak', 0x09019000],
];

/** The class of a file: what a GBX says of itself, else what its ending means. Scripts are text before version 6. */
export function fileClassId(name: string, start: Uint8Array, packVersion: number): number {
  if (looksLikeGbx(start) && start.length >= 13) {
    const at = start[3]! >= 4 ? 9 : 8;
    return new DataView(start.buffer, start.byteOffset).getUint32(at, true);
  }
  const lower = name.toLowerCase();
  const found = classByEnding.find(
    ([ending]) => lower.endsWith(ending) && (packVersion >= 6 || ending !== '.script.txt'),
  );
  return found?.[1] ?? otherFile;
}
