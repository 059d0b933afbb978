import type { ByteSource } from '../../core/byte-source.ts';
import { formatError, isPakratError, type PakratError, withHint } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { nameDecoder, startsWith } from '../names.ts';
import { NameBook } from './directory/names.ts';
import { packCipherKey } from './entries/cipher-stream.ts';
import type { EntryContext } from './entries/entry-reader.ts';
import { nodeClasses } from './gbx/node-classes.ts';
import { closedError, type OpenedHeader, openHeader } from './header/open-header.ts';
import { newestVersion } from './header/public-header.ts';
import { choosePackKey } from './keys/choose-key.ts';
import { type KeyCandidate, keyCandidates } from './keys/keys.ts';
import { NadeoPak } from './nadeo-pak.ts';
import type { OpenedDirectory } from './opened-directory.ts';
import type { NadeoOptions } from './options.ts';

const magic = 'NadeoPak';
const startSize = 12;

/**
 * Opens a NadeoPak: reads its header, and a little of its files where only they tell which key is right. An encrypted
 * directory that no key opens gives a PAK whose entries cannot be asked, but whose facts can.
 * @throws E_FORMAT… for damage, E_USAGE for an unknown encoding
 */
export async function openNadeoPak(source: ByteSource, options: NadeoOptions = {}): Promise<NadeoPak> {
  const start = await source.read(0, Math.min(startSize, source.size));
  const version = readVersion(start, options);
  const candidatesFor = (contentsChecksum: Uint8Array | undefined): KeyCandidate[] =>
    keyCandidates(options, options.packName ?? source.name, contentsChecksum);
  const header = await openHeader(source, {
    version,
    decodeText: nameDecoder(options.encoding),
    candidates: candidatesFor,
    ignoreHashes: options.ignoreHashes,
  });
  const candidates = candidatesFor(header.publicPart?.contentsChecksum);
  const directory = await openDirectory(source, header, { candidates, options });
  // A directory that cannot be read is taken for one only where the magic says that it is there.
  if (isPakratError(directory) && !startsWith(start, magic)) throw directory;
  const book = new NameBook();
  for (const name of options.hashedNames ?? []) book.add(name);
  const pak = new NadeoPak(source, { header, directory, book });
  if (options.resolveNames === true) await pak.resolveNames();
  return pak;
}

function readVersion(start: Uint8Array, { ignoreMagic, forceVersion }: NadeoOptions): number {
  const reader = new ByteReader(start, magic);
  if (ignoreMagic) reader.skip(magic.length);
  else reader.magic(magic);
  const version = forceVersion ?? reader.u32le();
  if (version >= 1 && version <= newestVersion) return version;
  const facts = { offset: magic.length, expected: `1 to ${newestVersion}`, found: version };
  const error = formatError('E_FORMAT_VERSION', magic, 'unknown version', facts);
  throw withHint(error, '--force-version N reads it as a version that is known.');
}

/** The directory with what reading its files takes, or why it cannot be had. */
async function openDirectory(
  source: ByteSource,
  { version, privatePart, packKey }: OpenedHeader,
  { candidates, options }: { candidates: readonly KeyCandidate[]; options: NadeoOptions },
): Promise<OpenedDirectory | PakratError> {
  if (privatePart === undefined) return closedError(source, candidates.length);
  const context: EntryContext = {
    source,
    version,
    dataOffset: privatePart.dataOffset,
    key: undefined,
    dictionary: options.lz4Dictionary,
    classes: nodeClasses(version),
    ignoreHashes: options.ignoreHashes ?? false,
    keysTried: candidates.length,
  };
  const chosen = packKey
    ? { candidate: packKey, isProven: true }
    : await choosePackKey(context, privatePart, candidates);
  const key = chosen && packCipherKey(chosen.candidate.key, version);
  const isKeyProven = chosen?.isProven !== false;
  return { records: privatePart, context: { ...context, key }, packKey: chosen?.candidate, isKeyProven };
}
