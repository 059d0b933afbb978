import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll } from '@jest/globals';
import { buildSync } from 'esbuild';

/**
 * The URL of a module of the source, built for another process or a thread of Node, which know no TypeScript.
 * @param path from the project's folder: `src/fetch/transfer/engine.ts`
 */
export function builtModule(path: string): string {
  // Inside of the project, so that native packages are found from there.
  const folder = mkdtempSync(join('node_modules', '.pakrat-built-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = resolve(folder, 'module.mjs');
  buildSync({
    entryPoints: [path],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['better-sqlite3', 'fuse-native', 'ooz-wasm'],
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
  });
  return pathToFileURL(outfile).href;
}

/** Puts the program of a thread into a folder. @param built its module @returns what `workerUrl` takes */
export function threadProgram(folder: string, name: string, built: string): URL {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, `${name}.js`), `import ${JSON.stringify(built)};`);
  return new URL(`file://${folder}/any.js`);
}
