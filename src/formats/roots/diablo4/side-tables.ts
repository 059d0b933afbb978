// The tables beside CoreTOC.dat in Diablo IV's Base folder. Little-endian; all of them may be missing.
//
//   EncryptedSNOs.dat                    4d 33 bf 4c; u32 n; n times u32 group, u32 SNO id, u64 key name
//   EncryptedNameDict-0x<key name>.dat   67 45 cd ab; u32 n; n times u32 group, u32 SNO id; then n names, NUL-terminated, in the same order.
//                                        The file is locked with that key.
//   CoreTOCSharedPayloadsMapping.dat     03 00 ba ab; u32 n; n times u32 SNO id, u32 SNO id whose payload it has;
//                                        in later builds u32 m; m times u32 SNO id, u32 sub id, and the same of the one it has
//
// Known from what other readers take; no real ones were at hand.

import { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { type Format, startsWithU32le } from '../../format.ts';

const encryptedFormat = 'Diablo IV EncryptedSNOs';
const namesFormat = 'Diablo IV EncryptedNameDict';
const sharedFormat = 'Diablo IV shared payloads';
const encryptedMagic = 0x4cbf334d;
const namesMagic = 0xabcd4567;
const sharedMagic = 0xabba0003;
const maxName = 512;

/** Told by its magic. */
export const encryptedSnosFormat: Format = { name: encryptedFormat, matches: startsWithU32le(encryptedMagic) };

/** Told by its magic. */
export const encryptedNamesFormat: Format = { name: namesFormat, matches: startsWithU32le(namesMagic) };

/** Told by its magic. */
export const sharedPayloadsFormat: Format = { name: sharedFormat, matches: startsWithU32le(sharedMagic) };

/** An asset whose name and content are locked. */
export interface EncryptedSno {
  group: number;
  snoId: number;
  /** Its key, as a number. */
  keyName: bigint;
}

/** The name of a locked asset. */
export interface EncryptedName {
  group: number;
  snoId: number;
  name: string;
}

/** A child of an asset. */
export interface SnoChild {
  snoId: number;
  subId: number;
}

/** Which assets have the payloads of others. */
export interface SharedPayloads {
  payloads: { snoId: number; payloadOf: number }[];
  /** Undefined in the older form, which ends before them. */
  children?: { child: SnoChild; payloadOf: SnoChild }[];
}

/** Reads EncryptedSNOs.dat. @throws E_FORMAT… */
export function decodeEncryptedSnos(bytes: Uint8Array): EncryptedSno[] {
  const reader = new ByteReader(bytes, encryptedFormat);
  reader.magicU32le(encryptedMagic);
  const count = reader.count(reader.u32le(), 16);
  const snos = Array.from({ length: count }, () => ({
    group: reader.u32le(),
    snoId: reader.u32le(),
    keyName: reader.u64leBig(),
  }));
  reader.end();
  return snos;
}

/** Writes EncryptedSNOs.dat. */
export function encodeEncryptedSnos(snos: readonly EncryptedSno[]): Uint8Array {
  const writer = new ByteWriter().u32le(encryptedMagic).u32le(snos.length);
  for (const { group, snoId, keyName } of snos) writer.u32le(group).u32le(snoId).u64le(keyName);
  return writer.bytes();
}

/** Reads EncryptedNameDict-….dat. @throws E_FORMAT… */
export function decodeEncryptedNames(bytes: Uint8Array): EncryptedName[] {
  const reader = new ByteReader(bytes, namesFormat);
  reader.magicU32le(namesMagic);
  const count = reader.count(reader.u32le(), 9);
  const ids = Array.from({ length: count }, () => ({ group: reader.u32le(), snoId: reader.u32le() }));
  const names = ids.map((id) => ({ ...id, name: reader.cstring(maxName) }));
  reader.end();
  return names;
}

/** Writes EncryptedNameDict-….dat. */
export function encodeEncryptedNames(names: readonly EncryptedName[]): Uint8Array {
  const writer = new ByteWriter().u32le(namesMagic).u32le(names.length);
  for (const { group, snoId } of names) writer.u32le(group).u32le(snoId);
  for (const { name } of names) writer.cstring(name);
  return writer.bytes();
}

/** Reads CoreTOCSharedPayloadsMapping.dat. @throws E_FORMAT… */
export function decodeSharedPayloads(bytes: Uint8Array): SharedPayloads {
  const reader = new ByteReader(bytes, sharedFormat);
  reader.magicU32le(sharedMagic);
  const count = reader.count(reader.u32le(), 8);
  const payloads = Array.from({ length: count }, () => ({ snoId: reader.u32le(), payloadOf: reader.u32le() }));
  if (reader.remaining === 0) return { payloads };
  const childCount = reader.count(reader.u32le(), 16);
  const child = (): SnoChild => ({ snoId: reader.u32le(), subId: reader.u32le() });
  const children = Array.from({ length: childCount }, () => ({ child: child(), payloadOf: child() }));
  reader.end();
  return { payloads, children };
}

/** Writes CoreTOCSharedPayloadsMapping.dat; the older form when there is no word of children. */
export function encodeSharedPayloads({ payloads, children }: SharedPayloads): Uint8Array {
  const writer = new ByteWriter().u32le(sharedMagic).u32le(payloads.length);
  for (const { snoId, payloadOf } of payloads) writer.u32le(snoId).u32le(payloadOf);
  if (children === undefined) return writer.bytes();
  writer.u32le(children.length);
  for (const { child, payloadOf } of children) {
    for (const { snoId, subId } of [child, payloadOf]) writer.u32le(snoId).u32le(subId);
  }
  return writer.bytes();
}
