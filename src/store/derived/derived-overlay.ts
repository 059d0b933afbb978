import * as fs from 'node:fs';
import { join } from 'node:path';
import { inStore } from '../../files/durable.ts';
import { namesIn } from '../../files/walk.ts';
import type { LookupFolders } from '../layout.ts';

/**
 * Makes the derived files of a store that may only be read appear in folders that can be written, as links: what is damaged or not there is
 * then made again beside them.
 * @throws E_STORE
 */
export function linkDerived(store: LookupFolders, over: LookupFolders): void {
  for (const folder of ['groups', 'manifests', 'names'] as const) {
    fs.mkdirSync(over[folder], { recursive: true });
    for (const name of namesIn(store[folder])) linkOrCopy(join(store[folder], name), join(over[folder], name));
  }
}

/** Not every system lets everybody make links. */
function linkOrCopy(from: string, to: string): void {
  try {
    fs.symlinkSync(from, to);
  } catch {
    inStore(to, () => fs.copyFileSync(from, to));
  }
}
