import { damagedFile } from '../store/derived-file.ts';

/**
 * Runs work that reads derived files. Where one turns out to be damaged, which removes it, it is run once more after `mend`.
 * @param mend makes again what is not there
 * @throws E_FORMAT_CHECKSUM when a file is damaged a second time, else as the work does
 */
export async function retryDamaged<Result>(
  work: () => Promise<Result> | Result,
  mend: () => Promise<void>,
): Promise<Result> {
  const mended = new Set<string>();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const file = damagedFile(error);
      if (file === undefined || mended.has(file)) throw error;
      mended.add(file);
      await mend();
    }
  }
}
