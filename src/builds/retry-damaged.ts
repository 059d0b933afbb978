import { damagedFile } from '../store/derived/derived-file.ts';

/**
 * Runs work that reads derived files. Where one turns out to be damaged, which removes it, it is run once more after `mend`, which may meet
 * another.
 * @param mend makes again what is not there
 * @throws E_FORMAT_CHECKSUM when a file is damaged a second time, else as the work does
 */
export async function retryDamaged<Result>(
  work: () => Promise<Result> | Result,
  mend: () => Promise<void>,
): Promise<Result> {
  const damaged = new Set<string>();
  for (;;) {
    try {
      if (damaged.size > 0) await mend();
      return await work();
    } catch (error) {
      const file = damagedFile(error);
      if (file === undefined || damaged.has(file)) throw error;
      damaged.add(file);
    }
  }
}
