/* The root of Diablo III: its layout is in diablo3/folder.ts, that of the tables of names in diablo3/core-toc.ts. */
export {
  type CoreToc,
  type CoreTocEntry,
  decodeCoreToc,
  decodePackages,
  encodeCoreToc,
  encodePackages,
} from './diablo3/core-toc.ts';
export {
  type Diablo3Asset,
  type Diablo3Folder,
  type Diablo3Named,
  decodeDiablo3Folder,
  decodeDiablo3Root,
  encodeDiablo3Folder,
  encodeDiablo3Root,
  isDiablo3Root,
} from './diablo3/folder.ts';
export { type AssetGroup, assetGroup } from './diablo3/groups.ts';
export { diablo3Namer } from './diablo3/names.ts';
