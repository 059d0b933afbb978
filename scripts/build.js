// Builds the package: the program, its commands, its threads and the doors of the library as few files, then the types.
// Node takes about half a millisecond for every file of a hundred and eighty that a command would load otherwise. See docs/adr/0006-bundle.md.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const below = (folder, ending) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

for (const made of ['dist', 'oclif.manifest.json']) rmSync(made, { recursive: true, force: true });

const options = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Native code and what may not be installed.
  external: ['better-sqlite3', 'fuse-native', 'ooz-wasm'],
  // CommonJS that is bundled still asks for the modules of node. Who bundles this again as CommonJS has no import.meta.url; any file will do.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url ?? 'file:///C:/');",
  },
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
};

const program = await build({
  ...options,
  entryPoints: [
    { in: 'src/index.ts', out: 'index' },
    { in: 'src/formats/index.ts', out: 'formats' },
    { in: 'src/paks/door.ts', out: 'paks' },
    { in: 'src/cli/run.ts', out: 'run' },
    ...below('commands', '.ts').map((name) => ({ in: name, out: name.replace(/\.ts$/, '') })),
  ],
  outdir: 'dist',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
});
// A thread is one file, beside the chunk that starts it: several start at once, and each reads all of it again.
const threadFiles = below('src', '-worker.ts');
const threadNames = threadFiles.map((name) => basename(name, '.ts'));
const twice = threadNames.filter((name, i) => threadNames.indexOf(name) !== i);
if (twice.length > 0) throw new Error(`threads share the name ${twice[0]}: one would overwrite the other`);
const threads = await build({
  ...options,
  entryPoints: threadFiles.map((name, i) => ({ in: name, out: threadNames[i] })),
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
