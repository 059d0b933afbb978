import { statfsSync } from 'node:fs';

/*
 * Stores flush what they write, and most of a test would be waiting for the disk. So temporary folders are in memory, where the system keeps files
 * there and has room. `TMPDIR=/var/tmp npm test` waits for the disk; the long tests always do.
 */

const inMemory = '/dev/shm';
/** Bytes that must be free there: all tests together take less than 2 GB. */
const roomEnough = 4e9;

/** Called once, before the processes that run tests are started. */
export default function scratchInMemory() {
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    if (bavail * bsize > roomEnough) process.env.TMPDIR ??= inMemory;
  } catch {
    // Not on every system.
  }
}
