/* The names of Diablo IV over its TVFS: the layout of CoreTOC.dat is in diablo4/core-toc.ts, that of the tables beside it in diablo4/side-tables.ts. */
export {
  type Diablo4Toc,
  type Diablo4TocEntry,
  type Diablo4TocGroup,
  decodeDiablo4Toc,
  encodeDiablo4Toc,
  isDiablo4Toc,
} from './diablo4/core-toc.ts';
export { type Diablo4Group, diablo4Group } from './diablo4/groups.ts';
export {
  type Diablo4Names,
  type Diablo4Path,
  diablo4Namer,
  parseDiablo4Path,
  printDiablo4Path,
} from './diablo4/names.ts';
export {
  decodeEncryptedNames,
  decodeEncryptedSnos,
  decodeSharedPayloads,
  type EncryptedName,
  type EncryptedSno,
  encodeEncryptedNames,
  encodeEncryptedSnos,
  encodeSharedPayloads,
  type SharedPayloads,
  type SnoChild,
} from './diablo4/side-tables.ts';
