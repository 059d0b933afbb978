import { readdirSync, readFileSync } from 'node:fs';
import { conformancePath, hasConformance } from './conformance.ts';

/** What a fixture must read as. */
export interface ExpectedFile {
  name: string;
  size: number;
  storedSize: number;
  method: string;
  encrypted: boolean;
  /** SHA-256 of the content; undefined where the list does not have it. */
  sha256: string | undefined;
}

/** A real PAK with what is in it. */
export interface PakFixture {
  family: string;
  /** For test names. */
  label: string;
  path: string;
  version: string;
  files: ExpectedFile[];
  facts: Record<string, unknown>;
}

/** Keys of all fixtures. */
export function fixtureKeys(): Uint8Array[] {
  const crypto = JSON.parse(readFileSync(conformancePath('pak/unreal/repak/crypto.json'), 'utf8'));
  return [
    new TextEncoder().encode('CUE4ParseFixtureAESKey0123456789'),
    new Uint8Array(Buffer.from(crypto.EncryptionKey.Key, 'base64')),
  ];
}

/** Every real PAK of the families that have their expected values in this form. */
export function pakFixtures(): PakFixture[] {
  return hasConformance ? [...unrealFixtures(), ...quakeFixtures()] : [];
}

interface UnrealExpectation {
  version: number;
  footerSize: number;
  encryptedIndex: boolean;
  mountPoint: string;
  pathHashSeed?: string;
  files: Record<string, { usize: number; csize: number; enc: number; method: string | null; sha256: string | null }>;
}

function expected<T>(family: string): Record<string, T> {
  return JSON.parse(readFileSync(conformancePath('pak', family, 'expected.json'), 'utf8'));
}

function unrealFixtures(): PakFixture[] {
  return Object.entries(expected<UnrealExpectation>('unreal')).map(([label, pak]) => ({
    family: 'unreal',
    label,
    path: conformancePath('pak/unreal', label),
    version: pak.version === 8 ? (pak.footerSize === 189 ? '8A' : '8B') : String(pak.version),
    files: Object.entries(pak.files).map(([name, file]) => ({
      name,
      size: file.usize,
      storedSize: file.csize,
      encrypted: file.enc === 1,
      method: file.method?.toLowerCase() ?? 'none',
      sha256: file.sha256 ?? undefined,
    })),
    facts: {
      mountPoint: pak.mountPoint,
      encryptedIndex: pak.encryptedIndex,
      ...(pak.pathHashSeed === undefined ? {} : { pathHashSeed: pak.pathHashSeed }),
    },
  }));
}

interface QuakeExpectation {
  dirOffset: number;
  dirCrc16: number;
  files: { name: string; size: number; sha256: string }[];
}

function quakeFixtures(): PakFixture[] {
  return Object.entries(expected<QuakeExpectation>('quake')).map(([label, pak]) => ({
    family: 'quake',
    label,
    path: conformancePath('pak/quake', label),
    version: 'PACK',
    files: pak.files.map(({ name, size, sha256 }) => {
      return { name, size, storedSize: size, method: 'none', encrypted: false, sha256 };
    }),
    facts: { directoryOffset: pak.dirOffset, directoryCrc16: pak.dirCrc16 },
  }));
}

/** Every file in the folders of PAKs, whatever its family; only the name is looked at. */
export function everyPakFile(): { family: string; path: string }[] {
  if (!hasConformance) return [];
  return readdirSync(conformancePath('pak'), { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const isPak = entry.isFile() && /\.(pak|pack\.gbx)$/i.test(entry.name);
    const path = `${entry.parentPath}/${entry.name}`;
    return isPak ? [{ family: path.slice(conformancePath('pak').length + 1).split('/')[0]!, path }] : [];
  });
}
