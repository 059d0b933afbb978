import * as fs from 'node:fs';
import { equalBytes } from '../../core/bytes.ts';
import { writeFileDurable } from '../../files/durable.ts';

/** Replaces a table in one go, unless it is so already. @param out folder on the same file system for the temporary name @throws E_STORE_FULL, E_STORE */
export function putTable(path: string, bytes: Uint8Array, out: string): void {
  if (fs.existsSync(path) && equalBytes(fs.readFileSync(path), bytes)) return;
  writeFileDurable(path, bytes, out);
}
