import { aesBlockSize, aesCtr, aesEcbDecrypt, aesKeySize } from '../../codecs/ciphers/aes.ts';
import { viewOf } from '../../core/bytes.ts';
import { formatError, PakratError } from '../../core/errors.ts';
import type { EncryptionMethod, Footer } from './footer.ts';

const maxMountPointLength = 256;

/** The keys that can be Unreal's: 32 bytes. */
export function aesKeys(keys: readonly Uint8Array[] = []): Uint8Array[] {
  return keys.filter((key) => key.length === aesKeySize);
}

/** One thing that is encrypted for itself: a part of the index, or an entry. */
export interface CipherUnit {
  encryption: EncryptionMethod;
  /** 12 bytes; AES-CTR only. */
  iv: Uint8Array | undefined;
}

/**
 * Decrypts whole blocks of a unit.
 * @param position offset of the bytes in the unit, a multiple of 16
 * @throws E_FORMAT for bytes that are no whole blocks, or an IV that is not there
 */
export function decryptUnit(
  bytes: Uint8Array,
  key: Uint8Array,
  { unit, position = 0 }: { unit: CipherUnit; position?: number },
): Uint8Array {
  if (unit.encryption === 'AES-256-ECB') return aesEcbDecrypt(bytes, key);
  if (unit.iv === undefined) throw formatError('E_FORMAT', 'Unreal PAK', 'an encrypted part without its IV');
  return aesCtr(bytes, key, { iv: unit.iv, block: position / aesBlockSize });
}

/**
 * True when decrypted bytes can be the start of an index: a mount point that is printable as far as it can be seen.
 * A wrong key passes once in billions.
 */
export function looksLikeIndex(bytes: Uint8Array): boolean {
  if (bytes.length < aesBlockSize) return false;
  const view = viewOf(bytes);
  const length = view.getInt32(0, true);
  if (Math.abs(length) > maxMountPointLength) return false;
  const step = length > 0 ? 1 : 2;
  for (let i = 0; i < Math.abs(length); i++) {
    const at = 4 + i * step;
    if (at + step > bytes.length) break;
    const unit = step === 1 ? bytes[at]! : view.getUint16(at, true);
    const isLast = i === Math.abs(length) - 1;
    if (isLast ? unit !== 0 : unit < 0x20) return false;
  }
  return true;
}

/** The error for something that is encrypted and cannot be opened with the keys at hand. */
export function missingKey(
  what: string,
  { keyGuid, encryption }: Footer,
  { given, possible = 0 }: { given: number; possible?: number },
): PakratError {
  const isMain = /^0+$/.test(keyGuid);
  const tried =
    given === 0
      ? 'no AES key was given'
      : possible > 0
        ? `nothing in the PAK tells which of ${possible} AES keys given is its own`
        : given === 1
          ? 'the AES key given does not fit'
          : `none of the ${given} AES keys given fits`;
  return new PakratError('E_KEY_MISSING', `${what} is encrypted, and ${tried}`, {
    hint:
      possible > 0
        ? 'Give one of them alone with --key.'
        : 'Give the key of the game with --key: 64 hex digits, or base64.',
    data: { keyGuid, isMainKey: isMain, encryption, keysTried: given },
  });
}
