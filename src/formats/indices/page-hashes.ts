import { digestSize, Md5Lanes, memoryToHash, type Stretch } from '../../codecs/md5-lanes/index.ts';
import { md5 } from '../../core/hash.ts';

/** Bytes of pages that are hashed together, and pages that are hashed one by one before: to make what hashes many takes as long as some thousands do. */
const togetherBytes = 1 << 18;
const pagesBefore = 2500;

let hashed = 0;
let together: { lanes: Md5Lanes; room: Uint8Array } | undefined;

/** The MD5 of each page of some bytes, 16 bytes each; who has thousands of pages gets them in a third of the time. */
export function pageHashes(bytes: Uint8Array, pageSize: number): Uint8Array {
  const count = Math.floor(bytes.length / pageSize);
  const hashes = new Uint8Array(count * digestSize);
  const most = Math.floor(togetherBytes / pageSize);
  hashed += count;
  if (most < 2 || count < 2 || hashed < pagesBefore) {
    for (let i = 0; i < count; i++) hashes.set(md5(pageOf(bytes, pageSize, i)), i * digestSize);
    return hashes;
  }
  for (let first = 0; first < count; first += most) {
    const pages = bytes.subarray(first * pageSize, Math.min(count, first + most) * pageSize);
    hashes.set(hashTogether(pages, pageSize), first * digestSize);
  }
  return hashes;
}

function pageOf(bytes: Uint8Array, pageSize: number, page: number): Uint8Array {
  return bytes.subarray(page * pageSize, (page + 1) * pageSize);
}

function hashTogether(pages: Uint8Array, size: number): Uint8Array {
  together ??= makeTogether();
  const { lanes, room } = together;
  room.set(pages);
  const messages: Stretch[] = [];
  for (let at = 0; at < pages.length; at += size) messages.push({ offset: room.byteOffset + at, size });
  return lanes.digest(messages);
}

function makeTogether(): { lanes: Md5Lanes; room: Uint8Array } {
  const memory = memoryToHash(togetherBytes);
  return { lanes: new Md5Lanes(memory), room: new Uint8Array(memory.buffer, Md5Lanes.reservedBytes, togetherBytes) };
}
