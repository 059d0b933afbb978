/* The TVFS manifest; the layout is described in tvfs/layout.ts. */
export { decodeTvfs, type Tvfs } from './tvfs/decode.ts';
export { encodeTvfs, type TvfsContent, type TvfsFileContent } from './tvfs/encode.ts';
export {
  type TvfsFile,
  TvfsFlags,
  type TvfsHeader,
  type TvfsPatch,
  type TvfsSpan,
  type TvfsTable,
} from './tvfs/layout.ts';
export { parseWowTvfsName, type WowTvfsName } from './tvfs/wow-name.ts';
