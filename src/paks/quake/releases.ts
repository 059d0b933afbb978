/*
 * The marks by which the engine of Quake knows its own files: the number of entries of pak0.pak and a CRC-16 over its
 * directory as stored (polynomial 0x1021, start 0xFFFF, most significant bit first, nothing at the end). Any other PAK
 * makes the game "modified", and a modified game does not start without gfx/pop.lmp of the registered version.
 * (WinQuake checks 1.06 only; the other values are those of QuakeSpasm and QuakeWorld.)
 */

const releases = [
  { entries: 339, crc: 32981, name: 'Quake 1.06' },
  { entries: 339, crc: 62751, name: 'Quake 1.01' },
  { entries: 339, crc: 13900, name: 'Quake 1.00' },
  { entries: 339, crc: 52883, name: 'QuakeWorld' },
  { entries: 308, crc: 28804, name: 'Quake 0.91 or 0.92 (pre-release)' },
];

/** The entry that only the registered version has, and its size. */
export const registeredProof = { name: 'gfx/pop.lmp', size: 256 } as const;

/** The release whose pak0.pak has this many entries and this directory CRC, or undefined. */
export function quakeRelease(entries: number, crc: number): string | undefined {
  return releases.find((release) => release.entries === entries && release.crc === crc)?.name;
}

/** CRC-16 as the engine takes it over a directory. */
export function quakeCrc16(bytes: Uint8Array): number {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}
