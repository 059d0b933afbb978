import { openPakrat, type Pakrat } from '../../src/pakrat.ts';

/** Does work with a session of the library that starts no threads, and closes it. For what a test needs but is not about the program. */
export async function withPakrat<Result>(
  options: Parameters<typeof openPakrat>[0],
  work: (pakrat: Pakrat) => Promise<Result>,
): Promise<Result> {
  const pakrat = await openPakrat({ threads: 0, ...options });
  try {
    return await work(pakrat);
  } finally {
    await pakrat.close();
  }
}
