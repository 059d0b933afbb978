import { join } from 'node:path';
import { isDamage, isNowhere, messageOf } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import { encodeEncoding } from '../../formats/manifests/encoding/encode.ts';
import { writeDerived } from '../../store/derived/derived-writer.ts';
import type { LookupFolders } from '../../store/layout.ts';
import type { BuildPlace } from '../objects.ts';
import { EncodingFile } from './encoding-file.ts';

/** An encoding file that knows nothing, for builds that have none. */
const emptyEncoding = encodeEncoding({ ckeys: [], ekeys: [], especs: [] });

/** Its name among the decoded manifests, hex. */
export const emptyEncodingKey = md5Hex(emptyEncoding);

/** Puts it where a build looks for its encoding file. @returns its path @throws E_STORE… */
export function keepEmptyEncoding({ manifests, temporary }: LookupFolders): string {
  const path = join(manifests, emptyEncodingKey);
  writeDerived(path, emptyEncoding, temporary);
  return path;
}

/** What stands in for the encoding file of a build that no host has, or has right, or that is malformed. @throws any other error, E_STORE… */
export function emptyEncodingFor(
  { folders, onNote }: Pick<BuildPlace, 'folders' | 'onNote'>,
  error: unknown,
): EncodingFile {
  if (!isNowhere(error) && !isDamage(error)) throw error;
  onNote?.(`${messageOf(error)}; what the indices list is kept without it`);
  return new EncodingFile(keepEmptyEncoding(folders));
}
