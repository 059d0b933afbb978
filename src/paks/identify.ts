/** The bytes that a kind of file has at its start. */
interface Signature {
  bytes: readonly number[] | string;
  /** Of these bytes; default 0. */
  offset?: number;
  /** The kind of file, as it ends the sentence "it looks like …". */
  what: string;
}

const signatures: readonly Signature[] = [
  { bytes: 'PK\x03\x04', what: 'a ZIP archive (pk3 files are ZIP archives too)' },
  { bytes: 'PK\x05\x06', what: 'an empty ZIP archive' },
  { bytes: [0x1f, 0x8b], what: 'a gzip file' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], what: 'a Zstandard file' },
  { bytes: [0x04, 0x22, 0x4d, 0x18], what: 'an LZ4 file' },
  { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a], what: 'an xz file' },
  { bytes: 'BZh', what: 'a bzip2 file' },
  { bytes: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], what: 'a 7z archive' },
  { bytes: 'Rar!', what: 'a RAR archive' },
  { bytes: 'ustar', offset: 257, what: 'a tar archive' },
  { bytes: '-==--==--==--==-', what: 'an Unreal IoStore table (.utoc); its PAK lies beside it' },
  { bytes: [0xc1, 0x83, 0x2a, 0x9e], what: 'a single Unreal asset' },
  { bytes: [0x34, 0x12, 0xaa, 0x55], what: 'a Valve VPK' },
  { bytes: 'GBX', what: 'a single GBX file of TrackMania or ManiaPlanet (a map, a replay …)' },
  { bytes: 'NadeoFile', what: 'a single Nadeo file (.mux or .cry)' },
  { bytes: 'IWAD', what: 'a Doom WAD' },
  { bytes: 'PWAD', what: 'a Doom WAD' },
  { bytes: 'WAD2', what: 'a Quake WAD of textures' },
  { bytes: 'WAD3', what: 'a Half-Life WAD of textures' },
  { bytes: 'IBSP', what: 'a Quake map (BSP)' },
  { bytes: 'UnityFS', what: 'a Unity asset bundle' },
  { bytes: 'BLTE', what: 'a BLTE object of a TACT CDN' },
  { bytes: [0x7f, 0x45, 0x4c, 0x46], what: 'a Linux program (ELF)' },
  { bytes: 'MZ', what: 'a Windows program (PE)' },
  { bytes: [0x89, 0x50, 0x4e, 0x47], what: 'a PNG image' },
  { bytes: 'DDS ', what: 'a DDS texture' },
  { bytes: 'RIFF', what: 'a RIFF file (WAV, AVI …)' },
  { bytes: 'OggS', what: 'an Ogg file' },
  { bytes: 'SQLite format 3', what: 'an SQLite database' },
  { bytes: [0x04, 0, 0, 0], what: 'a Chromium resource file, or something else that starts with the number 4' },
  { bytes: [0x05, 0, 0, 0], what: 'a Chromium resource file, or something else that starts with the number 5' },
];

const unrealMagic = [0xe1, 0x12, 0x6f, 0x5a];
const footerReach = 512;

/**
 * The likely kind of a file that no PAK family claims, as it ends the sentence "it looks like …".
 * @param head up to 4 KiB from the start, @param tail up to 4 KiB from the end, @param size of the whole file
 */
export function identify(head: Uint8Array, tail: Uint8Array, size: number): string {
  if (size === 0) return 'an empty file';
  const known = signatures.find((signature) => startsWith(head, signature));
  if (known !== undefined) return known.what;
  const footer = findUnrealMagic(tail);
  if (footer !== undefined) {
    return `an Unreal PAK of a game that changed the footer: the magic is ${footer} bytes before the end, where no version has it`;
  }
  if (head.every((byte) => byte === 0))
    return 'a file that starts with zeros only, such as a download that was never finished';
  if (isText(head)) return /^\s*<(!doctype html|html)/i.test(latin1(head)) ? 'an HTML page' : 'text';
  if (tail.every((byte) => byte === 0)) {
    return 'no format that is known; it ends in zeros, as Unreal PAKs of games do that remove the footer';
  }
  return 'no format that is known (it may be encrypted)';
}

function startsWith(head: Uint8Array, { bytes, offset = 0 }: Signature): boolean {
  const wanted = typeof bytes === 'string' ? [...bytes].map((character) => character.charCodeAt(0)) : bytes;
  return wanted.every((byte, i) => head[offset + i] === byte);
}

/** Distance from the end of the file to the last magic of an Unreal footer, in bytes; undefined when there is none. */
function findUnrealMagic(tail: Uint8Array): number | undefined {
  for (let fromEnd = unrealMagic.length; fromEnd <= Math.min(tail.length, footerReach); fromEnd++) {
    if (unrealMagic.every((byte, i) => tail[tail.length - fromEnd + i] === byte)) return fromEnd;
  }
  return undefined;
}

function isText(head: Uint8Array): boolean {
  return head.every((byte) => byte >= 0x20 || byte === 9 || byte === 10 || byte === 13);
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 64));
}
