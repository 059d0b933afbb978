import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The files below a folder, sorted; none where there is no folder. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}
