/* The root of World of Warcraft; the layout is described in wow/layout.ts. */
export { decodeWowRoot, fillFileDataIds, isWowRoot, rowBlock, rowCkey, rowNameHash } from './wow/decode.ts';
export { encodeWowRoot, type WowRootBlockContent, type WowRootContent, type WowRootRow } from './wow/encode.ts';
export type { WowRoot, WowRootBlock, WowRootFormat } from './wow/layout.ts';
