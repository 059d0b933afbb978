// Builds the package: the program, its commands, its threads and the doors of the library as few files; each piece of code is in one of them.
// Node takes about half a millisecond for every file of a hundred and eighty that a command would load otherwise. See docs/adr/0006-bundle.md.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const below = (folder, ending) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

/** The doors that package.json names: where the types of one lie is where its source lies, below `src`. */
const { exports: doors } = JSON.parse(readFileSync('package.json', 'utf8'));
const doorEntries = Object.values(doors)
  .filter((door) => door.types)
  .map(({ types, default: made }) => ({
    in: types.replace('./dist/types/', 'src/').replace('.d.ts', '.ts'),
    out: basename(made, '.js'),
  }));
// A thread lies beside the chunks that start it. Those that need little are one file each: to load 25 pieces takes as long again as to start.
const smallThreads = ['encode-worker', 'extract-worker', 'proof-worker'];
const threadEntries = below('src', '-worker.ts').map((name) => ({
  in: name,
  out: `chunks/${basename(name, '.ts')}`,
}));
const isAlone = ({ out }) => smallThreads.includes(basename(out));
const shared = [
  ...doorEntries,
  { in: 'src/cli/run.ts', out: 'run' },
  ...below('commands', '.ts').map((name) => ({ in: name, out: name.replace(/\.ts$/, '') })),
  ...threadEntries.filter((entry) => !isAlone(entry)),
];
const alone = threadEntries.filter(isAlone);
const outs = [...shared, ...alone].map(({ out }) => out);
const twice = outs.filter((name, i) => outs.indexOf(name) !== i);
if (twice.length > 0) throw new Error(`entries share the name ${twice[0]}: one would overwrite the other`);

for (const old of ['dist', 'man', 'oclif.manifest.json']) rmSync(old, { recursive: true, force: true });

const options = {
  outdir: 'dist',
  bundle: true,
  chunkNames: 'chunks/[name]-[hash]',
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
const made = [
  await build({ ...options, entryPoints: shared, splitting: true }),
  await build({ ...options, entryPoints: alone }),
];
writeFileSync('dist/THIRD-PARTY.txt', notices(made.flatMap(({ metafile }) => Object.keys(metafile.inputs))));

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
