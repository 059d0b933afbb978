// Puts what is started, the program, the commands and the threads, into a few files each: node takes about half a millisecond for every
// file of a hundred and eighty that a command would load otherwise. The modules of the API stay as they are. See docs/adr/0006-bundle.md.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const below = (folder, ending) =>
  readdirSync(join('dist', folder), { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
const started = ['src/cli/run.js', ...below('commands', '.js')];

const options = {
  allowOverwrite: true,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Native code and what may not be installed.
  external: ['better-sqlite3', 'fuse-native', 'ooz-wasm'],
  // CommonJS that is bundled still asks for the modules of node.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
};

const program = await build({
  ...options,
  entryPoints: started.map((name) => ({ in: join('dist', name), out: name.replace(/\.js$/, '') })),
  outdir: 'dist',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
});
// A thread is one file, beside the chunk that starts it: several start at once, and each reads all of it again.
const threads = await build({
  ...options,
  entryPoints: below('src', 'worker.js').map((name) => ({ in: join('dist', name), out: basename(name, '.js') })),
  outdir: 'dist/chunks',
});
writeFileSync(
  'dist/THIRD-PARTY.txt',
  notices([program, threads].flatMap(({ metafile }) => Object.keys(metafile.inputs))),
);

/** The licences of the packages that are in the bundle. */
function notices(inputs) {
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((one) => /^(licen[cs]e|copying)/i.test(one));
    const text = file === undefined ? '' : `\n\n${readFileSync(join(folder, file), 'utf8').trim()}`;
    return `${name} ${version} (${license})${text}\n`;
  });
  return `Parts of these packages are in the files of this folder.\n\n${texts.join(`\n${'-'.repeat(72)}\n\n`)}`;
}
