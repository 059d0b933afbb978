// Modules of the source, which the package does not offer one by one.
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { bin } from './parts.js';

/** A module of the source beside the program, built for this process. @param path below src */
export async function loadSource(path) {
  const root = join(dirname(bin), '..');
  const folder = fs.mkdtempSync(join(root, 'node_modules', '.bench-'));
  const outfile = join(folder, 'module.mjs');
  await build({
    entryPoints: [join(root, 'src', path)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['better-sqlite3'],
    banner: { js: "import { createRequire as of } from 'node:module'; const require = of(import.meta.url);" },
  });
  const module = await import(outfile);
  fs.rmSync(folder, { recursive: true });
  return module;
}
