// Builds the package: the doors of the library and its threads as few files, ES modules, and beside them the program with its commands and threads as
// CommonJS, which Node loads sooner. In each of the two every piece of code is in one file. See docs/adr/0006-bundle.md.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { asCommonJs } from './as-commonjs.js';

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
const programEntries = [
  { in: 'src/cli/run.ts', out: 'run' },
  ...below('commands', '.ts').map((name) => ({ in: name, out: name.replace(/\.ts$/, '') })),
];
// A thread lies beside the pieces that start it.
const threadEntries = below('src', '-worker.ts').map((name) => ({
  in: name,
  out: `chunks/${basename(name, '.ts')}`,
}));

/**
 * Parts of oclif and undici that no command comes to, and what stands in for them. To read, compile and run them took a tenth of every start.
 * Of undici these are HTTP/2, which is not switched on, and the bodies of requests, which have none.
 */
const standIns = {
  '@oclif/core/lib/config/plugin.js': '',
  '@oclif/core/lib/config/ts-path.js': '',
  '@oclif/core/lib/help/index.js': '',
  '@oclif/core/lib/module-loader.js': '',
  // Answers from a terminal and files that must be there are asked for by no flag here.
  '@oclif/core/lib/parser/parse.js': (code) => code.replace('require("node:readline")', 'undefined'),
  '@oclif/core/lib/util/fs.js': "exports.existsSync = require('node:fs').existsSync;",
  // Its marks; it would load the part of node that observes them.
  '@oclif/core/lib/performance.js': 'exports.Performance = { mark() {} };',
  // What starts processes is for a name of the shell, which nobody here asks for.
  '@oclif/core/lib/util/os.js': `
    exports.getHomeDir = require('node:os').homedir;
    exports.getPlatform = async () => process.platform;
    exports.getShell = async () => 'unknown';`,
  // To ask a stream loads what it is made of; few errors are broken into lines.
  '@oclif/core/lib/screen.js': `
    for (const [name, stream] of Object.entries({ stdtermwidth: 'stdout', errtermwidth: 'stderr' }))
      Object.defineProperty(exports, name, { get: () => process[stream].columns || 80 });`,
  // Colours and marks of work are not oclif's.
  '@oclif/core/lib/ux/index.js': `
    exports.colorize = require('./theme').colorize;
    exports.ux = { ...require('./write'), colorize: exports.colorize, action: { stop() {} } };`,
  '@oclif/core/lib/ux/theme.js': 'exports.colorize = (color, text) => text;',
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
      if (name === undefined) return undefined;
      const standIn = standIns[name];
      return { contents: typeof standIn === 'string' ? standIn : standIn(readFileSync(path, 'utf8')) };
    });
  },
};

for (const made of ['dist', 'man', 'oclif.manifest.json']) rmSync(made, { recursive: true, force: true });

const library = await bundle([...doorEntries, ...threadEntries], {
  outdir: 'dist',
  // CommonJS that is bundled still asks for the modules of node. Who bundles this again as CommonJS has no import.meta.url; any file will do.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url ?? 'file:///C:/');",
  },
});
const program = await bundle([...programEntries, ...threadEntries], { outdir: 'dist/program' });
throwIfMutual(program.outputs);
writeFileSync('dist/program/package.json', '{ "type": "commonjs" }\n');
for (const name of below('dist/program', '.js')) writeFileSync(name, asCommonJs(readFileSync(name, 'utf8'), name));
writeFileSync('dist/THIRD-PARTY.txt', notices(Object.keys({ ...library.inputs, ...program.inputs })));

/** Puts entries, and the pieces that they share, into a folder. */
async function bundle(entryPoints, options) {
  const outs = entryPoints.map(({ out }) => out);
  const twice = outs.filter((name, i) => outs.indexOf(name) !== i);
  if (twice.length > 0) throw new Error(`entries share the name ${twice[0]}: one would overwrite the other`);
  const { metafile } = await build({
    entryPoints,
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Native code and what may not be installed.
    external: ['better-sqlite3', 'fuse-native', 'ooz-wasm'],
    plugins: [withoutUnused],
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    ...options,
  });
  return metafile;
}

/** Ends the build where pieces need one another: what one takes of the other would not be set yet. */
function throwIfMutual(outputs) {
  const passed = new Set();
  const visit = (path, above) => {
    if (above.includes(path)) throw new Error(`pieces need one another: ${[...above, path].join(' and ')}`);
    if (passed.has(path)) return;
    for (const { path: needed, kind, external } of outputs[path].imports)
      if (kind === 'import-statement' && !external) visit(needed, [...above, path]);
    passed.add(path);
  };
  for (const path of Object.keys(outputs)) visit(path, []);
}

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
