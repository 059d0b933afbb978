import { fileReader } from '../sources/file-reader.ts';
import { getNamed } from '../sources/names-hint.ts';
import { type SourceOptions, withSource } from './session/open-source.ts';
import type { Session } from './session/session.ts';

/**
 * Reads one file of a source.
 * @param name a name; `fdid:N`, `ckey:HEX` or `ekey:HEX` in a build, `index:N` in a PAK
 * @param options.raw the bytes as they are stored, where the source can give them
 * @param write takes its bytes, piece by piece; an error after the last means that none of them may be kept
 * @throws E_NOT_FOUND with names that are alike, E_UNSUPPORTED where there are no stored bytes to be had, else as its source does
 */
export async function readFile(
  session: Session,
  source: string,
  name: string,
  options: SourceOptions & { raw?: boolean | undefined },
  write: (piece: Uint8Array) => Promise<void> | void,
): Promise<void> {
  const { onProgress, raw } = options;
  await withSource(session, source, options, async ({ source: opened, fetcher }) => {
    const read = fileReader(opened, options);
    const entry = await getNamed(opened, name);
    if (entry.note !== undefined) onProgress?.({ type: 'note', text: `${name}: ${entry.note}` });
    const writeAll = async (): Promise<void> => {
      for await (const piece of read(entry)) await write(piece);
    };
    const tell = (done: number, total: number): void => {
      if (total > 0) onProgress?.({ type: 'bytes', phase: 'data', done: Math.min(done, total), total });
    };
    await (fetcher?.network?.telling(tell, writeAll) ?? writeAll());
    if (raw === true || !(await opened.isUnsure?.(entry))) return;
    onProgress?.({ type: 'note', text: `${name} may be wrong: nothing tells whether it was decrypted right` });
  });
}
