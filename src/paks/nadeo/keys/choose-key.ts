import { isPakratError } from '../../../core/errors.ts';
import { type FileRecord, fileFlag } from '../directory/directory.ts';
import { readMetadata } from '../directory/metadata.ts';
import { packCipherKey } from '../entries/cipher-stream.ts';
import { contentSize, type EntryContext, isEncrypted, methodOf, startPieces } from '../entries/entry-reader.ts';
import { looksLikeGbx } from '../gbx/gbx-header.ts';
import type { PrivateHeader } from '../header/private-header.ts';
import type { KeyCandidate } from './keys.ts';

const maxSamples = 8;

/** The key of a pack, and whether something in it shows that it is. */
interface ChosenKey {
  candidate: KeyCandidate;
  isProven: boolean;
}

/**
 * The pack key among some candidates, for a pack whose header is not encrypted with it: tried on the metadata, then
 * on files that show by their first bytes whether they were decrypted right. Where nothing shows it, the first
 * candidate, unproven.
 */
export async function choosePackKey(
  context: EntryContext,
  header: PrivateHeader,
  candidates: readonly KeyCandidate[],
): Promise<ChosenKey | undefined> {
  const samples = header.files
    .filter((file) => isEncrypted(file) && (file.flags & fileFlag.isSeekable) === 0n)
    .filter((file) => contentSize(file, context.version) >= 8)
    .filter((file) => methodOf(file, context.version) !== 'none' || /\.gbx$/i.test(file.name))
    .slice(0, maxSamples);
  let untested: KeyCandidate | undefined;
  for (const candidate of candidates) {
    const tried = { ...context, key: packCipherKey(candidate.key, context.version) };
    if (await opensMetadata(tried, header)) return { candidate, isProven: true };
    const verdicts = await Promise.all(samples.map((file) => startsRight(tried, file)));
    const telling = verdicts.filter((verdict) => verdict !== undefined);
    if (telling.length === 0) untested ??= candidate;
    else if (telling.filter((isRight) => isRight).length * 2 > telling.length) return { candidate, isProven: true };
  }
  return untested && { candidate: untested, isProven: false };
}

async function opensMetadata(context: EntryContext, header: PrivateHeader): Promise<boolean> {
  if (header.metadataStoredSize === 0) return false;
  return (await verdict(async () => Boolean(await readMetadata(context, header, undefined)))) === true;
}

/** True when a file starts as it should; undefined when that cannot be told. */
function startsRight(context: EntryContext, file: FileRecord): Promise<boolean | undefined> {
  return verdict(async () => {
    for await (const piece of startPieces(context, file)) {
      // What inflates is taken for right; only plain files have to show what they are.
      return methodOf(file, context.version) !== 'none' || looksLikeGbx(piece);
    }
    return false;
  });
}

/** False when the bytes are refused; undefined when the LZ4 dictionary is missing, which says nothing of a key. */
async function verdict(test: () => Promise<boolean>): Promise<boolean | undefined> {
  try {
    return await test();
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return error.code === 'E_UNSUPPORTED' ? undefined : false;
  }
}
