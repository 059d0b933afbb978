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
// A thread lies beside the chunks that start it.
const threadEntries = below('src', '-worker.ts').map((name) => ({
  in: name,
  out: `chunks/${basename(name, '.ts')}`,
}));
const entryPoints = [
  ...doorEntries,
  { in: 'src/cli/run.ts', out: 'run' },
  ...below('commands', '.ts').map((name) => ({ in: name, out: name.replace(/\.ts$/, '') })),
  ...threadEntries,
];
const outs = entryPoints.map(({ out }) => out);
const twice = outs.filter((name, i) => outs.indexOf(name) !== i);
if (twice.length > 0) throw new Error(`entries share the name ${twice[0]}: one would overwrite the other`);

/**
 * Parts of oclif and undici that no command comes to, and what stands in for them. To read, compile and run them took a tenth of every start.
 * Of undici these are HTTP/2, which is not switched on, and the bodies of requests, which have none.
 */
const standIns = {
  '@oclif/core/lib/config/plugin.js': '',
  '@oclif/core/lib/config/ts-path.js': '',
  '@oclif/core/lib/help/index.js': '',
  '@oclif/core/lib/module-loader.js': '',
  // Its marks; it would load the part of node that observes them.
  '@oclif/core/lib/performance.js': 'exports.Performance = { mark() {} };',
  // What starts processes is for a name of the shell, which nobody here asks for.
  '@oclif/core/lib/util/os.js': `
    exports.getHomeDir = require('node:os').homedir;
    exports.getPlatform = async () => process.platform;
    exports.getShell = async () => 'unknown';`,
  '@oclif/core/lib/ux/action/spinner.js': "module.exports = require('./simple.js');",
  debug: 'module.exports = () => Object.assign(() => {}, { enabled: false });',
  ejs: '',
  lilconfig: '',
  minimatch: '',
  tinyglobby: '',
  'undici/lib/dispatcher/client-h2.js': '',
  'undici/lib/encoding': '',
  'undici/lib/web': '',
  'wrap-ansi': '',
};
const withoutUnused = {
  name: 'without-unused',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/]/ }, ({ path }) => {
      const below = `${path.replaceAll('\\', '/').split('/node_modules/').at(-1)}/`;
      const name = Object.keys(standIns).find((one) => below.startsWith(`${one}/`));
      return name === undefined ? undefined : { contents: standIns[name] };
    });
  },
};

for (const made of ['dist', 'man', 'oclif.manifest.json']) rmSync(made, { recursive: true, force: true });

const { metafile } = await build({
  entryPoints,
  outdir: 'dist',
  bundle: true,
  splitting: true,
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
  plugins: [withoutUnused],
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
});
writeFileSync('dist/THIRD-PARTY.txt', notices(Object.keys(metafile.inputs)));

/** The licences of the packages that are in the bundle. */
function notices(inputs) {
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
  const texts = [...folders].sort().flatMap((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (name in standIns) return [];
    const file = readdirSync(folder).find((one) => /^(licen[cs]e|copying)/i.test(one));
    const text = file === undefined ? '' : `\n\n${readFileSync(join(folder, file), 'utf8').trim()}`;
    return `${name} ${version} (${license})${text}\n`;
  });
  return `Parts of these packages are in the files of this folder.\n\n${texts.join(`\n${'-'.repeat(72)}\n\n`)}`;
}
