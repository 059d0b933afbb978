/* The root of Heroes of the Storm and StarCraft II; the layout is described in mndx/decode.ts, that of its tries in mndx/level.ts. */
export { decodeMndx, isMndxRoot, type Mndx, type MndxFile } from './mndx/decode.ts';
export { encodeMar, encodeMndx, type MndxFileContent } from './mndx/encode.ts';
export { decodeMar, type NameTrie, type TrieKey } from './mndx/trie.ts';
