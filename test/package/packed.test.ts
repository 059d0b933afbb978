import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { md5Hex } from '../../src/core/hash.ts';
import type { DemoReport } from '../../src/demo/demo.ts';
import { demoBuild, demoKey, sampleGame } from '../../src/demo/game.ts';
import { encodeListfile } from '../../src/formats/roots/listfile.ts';
import { publishBuild } from '../../src/publish/publish-build.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { freePort } from '../support/loopback.ts';
import { deadLinks } from '../support/markdown-links.ts';
import { scratchFolder } from '../support/scratch.ts';

/*
 * The package as a person has it: packed, installed into an empty folder, and used from there through its doors. The folder lies outside of
 * this checkout, and whatever runs there finds nothing of it.
 *
 * PAKRAT_NPM_INSTALL=1 has npm install it, native code included, as a Node that is not this checkout's needs; otherwise its dependencies are
 * copied from here. PAKRAT_TARBALL names one that is packed already.
 */

const scratch = scratchFolder();
const consumer = scratch('consumer');
const installed = join(consumer, 'node_modules/pakrat');
const checkout = process.cwd();
const locale = 'enUS';
const game = sampleGame();
const ofLanguage = game.filter((file) => file.locale === undefined || file.locale === locale);
const contentOf = (name: string): Uint8Array => {
  const path = ofLanguage.find((file) => file.name === name)?.path ?? name;
  return new Uint8Array(readFileSync(path));
};

/** This Node before any other, nothing of the tests' own surroundings. */
const environment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(PAKRAT_|NODE_OPTIONS$|NODE_PATH$|npm_(package|lifecycle)_)/.test(name),
    ),
  ),
  PATH: [
    dirname(process.execPath),
    ...(process.env.PATH ?? '').split(delimiter).filter((path) => !path.startsWith(checkout)),
  ].join(delimiter),
  NODE_ENV: 'production',
};

/** Runs a program in the consumer's folder and gives back what it printed. The server of this test answers meanwhile. */
async function run(command: string, args: readonly string[], cwd = consumer): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd, env: environment, maxBuffer: 1 << 26 });
  return stdout;
}
const node = (...args: string[]): Promise<string> => run(process.execPath, args);

function pack(): string {
  const given = process.env.PAKRAT_TARBALL;
  if (given !== undefined) return resolve(given);
  mkdirSync(scratch('packed'));
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', scratch('packed')], {
    stdio: 'ignore',
  });
  return scratch('packed', readdirSync(scratch('packed')).join());
}

async function install(tarball: string): Promise<void> {
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  if (process.env.PAKRAT_NPM_INSTALL) {
    await run('npm', ['install', '--omit=optional', '--no-audit', '--no-fund', tarball]);
  } else {
    mkdirSync(installed, { recursive: true });
    await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
    const production = execFileSync(
      'npm',
      ['ls', '--omit=dev', '--omit=optional', '--all', '--parseable', '--silent'],
      { encoding: 'utf8' },
    );
    for (const path of production.trim().split('\n')) if (path !== checkout) copyPackage(path);
    await run('npm', ['rebuild', '--ignore-scripts']);
  }
  // What a program in TypeScript has beside it.
  for (const name of ['@types/node', 'undici-types']) copyPackage(resolve('node_modules', name));
}

function copyPackage(path: string): void {
  const sources = ['deps', 'src', 'obj', 'obj.target'];
  cpSync(path, join(consumer, relative(checkout, path)), {
    recursive: true,
    filter: (file) => !path.endsWith('better-sqlite3') || !sources.includes(basename(file)),
  });
}

const strictly =
  '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --skipLibCheck false --target es2022 --types node';
const compile = (program: string, out: string, ...flags: string[]): Promise<string> =>
  node(resolve('node_modules/typescript/bin/tsc'), program, ...strictly.split(' '), '--outDir', out, ...flags);

let server: StaticServer;
let named: number;

beforeAll(async () => {
  const port = await freePort();
  const place = { out: scratch('cdn'), root: 'wow', hosts: [`127.0.0.1:${port}`], archiveBytes: 48 * 1024 } as const;
  const { names } = await publishBuild({ ...demoBuild, ...place, files: game });
  named = new Set(names.map(({ name }) => name)).size;
  server = await serveFolder(scratch('cdn'), { port });
  await install(pack());
  for (const file of ['program.ts', 'server.ts', 'program.cjs'])
    cpSync(join('test/package/consumer', file), join(consumer, file));
  await compile('program.ts', 'nodenext', '--module', 'nodenext');
  mkdirSync(scratch('work'));
  writeFileSync(scratch('work/names.csv'), encodeListfile(names));
}, 1_800_000);
afterAll(() => server?.close());

/** The files below a folder, with `/` between the parts. */
function filesBelow(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => statSync(join(folder, path)).isFile());
}

/** Truth about the sample game, as the program of the consumer prints it. */
function expectSaid(printed: string): void {
  expect(JSON.parse(printed)).toEqual({
    build: {
      missing: 0,
      fetchedAll: true,
      progress: true,
      names: named,
      files: Object.fromEntries(ofLanguage.map(({ name, path }) => [name, statSync(path).size])),
      read: {
        story: md5Hex(contentOf('texts/story.txt')),
        storySize: contentOf('texts/story.txt').length,
        mapStart: md5Hex(contentOf('maps/01-gatehouse.map').subarray(0, 1000)),
        locked: 'E_KEY_MISSING',
        missingKeys: [demoKey.name],
        none: 'E_NOT_FOUND',
      },
      verified: [true, 0],
    },
    pak: { entries: [['maps/a.bsp', 5]], config: 'bind F12 screenshot\n' },
    formats: { same: true, smaller: true, ekey: 32, matches: true, config: true },
    error: 'E_USAGE',
  });
}

/** A folder for a run of the program, without a store. */
function workFolder(name: string): string {
  cpSync(scratch('work'), scratch(name), { recursive: true });
  return scratch(name);
}

describe('the tarball', () => {
  test('has what is needed and no more', () => {
    const files = filesBelow(installed).filter((path) => !path.startsWith('node_modules'));
    expect(files).toEqual(
      expect.arrayContaining(['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'docs/README.md', 'man/pakrat.1']),
    );
    expect(
      files.filter(
        (path) =>
          /\.map$|(^|\/)(src|test|bench|scripts)\/.*\.js$|[^d]\.ts$|\.test\./.test(path) && !path.startsWith('data/'),
      ),
    ).toEqual([]);
    expect(files.length).toBeLessThan(1150);
    expect(files.reduce((sum, path) => sum + statSync(join(installed, path)).size, 0)).toBeLessThan(12_000_000);
  });

  test.each([
    ['the library', (path: string) => !path.startsWith('program/')],
    ['the program', (path: string) => path.startsWith('program/')],
  ])('has each piece of code once in %s', (_, isOfIt) => {
    // esbuild writes the path of a module in front of what it takes of it.
    const modules = /^\/\/ (src|commands|node_modules)\/\S+$/gm;
    const pieces = filesBelow(join(installed, 'dist'))
      .filter((path) => path.endsWith('.js') && isOfIt(path))
      .flatMap((path) => [...new Set(readFileSync(join(installed, 'dist', path), 'utf8').match(modules))]);
    expect(pieces.length).toBeGreaterThan(300);
    expect(pieces.filter((piece, i) => pieces.indexOf(piece) !== i)).toEqual([]);
  });

  test('names nothing of the folder that it was made in', () => {
    const files = filesBelow(installed).filter((path) => /^(dist|bin|config|docs)\/|^[^/]+$/.test(path));
    expect(files.filter((path) => readFileSync(join(installed, path)).includes(checkout))).toEqual([]);
  });

  test('has documentation whose links lead somewhere', () => {
    expect(deadLinks(installed, ['node_modules'])).toEqual([]);
  });
});

describe('a program that uses it', () => {
  test('is compiled as a bundler resolves, too', async () => {
    await compile('program.ts', 'bundler', '--module', 'esnext', '--moduleResolution', 'bundler');
    expect(existsSync(join(consumer, 'bundler/program.js'))).toBe(true);
  });

  test('gets what it may not from neither compiler nor Node', async () => {
    for (const module of ['pakrat/dist/index.js', 'pakrat/src/index.ts']) {
      await expect(node('--eval', `import(${JSON.stringify(module)})`)).rejects.toThrow(
        'ERR_PACKAGE_PATH_NOT_EXPORTED',
      );
    }
  });

  test('syncs, lists, reads, verifies, makes and opens PAKs, encodes and decodes', async () => {
    expectSaid(await node('nodenext/program.js', workFolder('plain'), server.url));
  });

  test('does so bundled into one file, without threads', async () => {
    const outfile = scratch('bundled/program.mjs');
    await build({
      entryPoints: [join(consumer, 'program.ts')],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      external: ['better-sqlite3', 'fuse-native', 'ooz-wasm'],
      logLevel: 'silent',
    });
    // Native code is all that lies beside it.
    for (const name of ['better-sqlite3', 'bindings', 'file-uri-to-path'])
      cpSync(join(consumer, 'node_modules', name), scratch('bundled/node_modules', name), { recursive: true });
    expectSaid(await run(process.execPath, [outfile, workFolder('of-bundle'), server.url, '0'], scratch('bundled')));
  });

  test('may be CommonJS', async () => {
    await node('nodenext/program.js', workFolder('before-cjs'), server.url);
    const said = JSON.parse(await node('program.cjs', join(scratch('before-cjs'), 'pak0.pak')));
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(said).toEqual({ version, names: ['autoexec.cfg'], text: 'bind F12 screenshot\n', decoded: 'CommonJS' });
  });

  test('serves the store that it has', async () => {
    const folder = workFolder('served');
    await node('nodenext/program.js', folder, server.url);
    await compile('server.ts', 'nodenext', '--module', 'nodenext');
    const said = JSON.parse(await node('nodenext/server.js', join(folder, 'store')));
    expect(said).toEqual({ status: 200, isLive: true, seen: 2 });
  });
});

describe('its command', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

  test('is found by npx, and says its version', async () => {
    expect(await run('npx', ['--no', '--', 'pakrat', '--version'])).toContain(`pakrat/${version} `);
  });
});

describe('the demo, and what README shows of its store', () => {
  const readme = readFileSync('README.md', 'utf8');
  const block = (language: string): string =>
    new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(readme)?.[1] ?? '';

  let report: DemoReport;
  beforeAll(async () => {
    report = JSON.parse(await run('npx', ['--no', '--', 'pakrat', 'demo', '--json', '--quiet']));
  });

  test('the demo runs, and all files come out as they went in', () => {
    expect(report.compared).toMatchObject({ different: [] });
    expect(report.compared.files).toBeGreaterThan(100);
  });

  test('README shows what its commands print', async () => {
    const bin = `PATH="${join(consumer, 'node_modules/.bin')}:$PATH"; export PAKRAT_STORE=pakrat-demo/store`;
    const shown = block('console')
      .split(/^\$ /m)
      .filter((part) => /^pakrat (?!demo)/.test(part));
    expect(shown).toHaveLength(3);
    for (const part of shown) {
      const [command = '', ...output] = part.split('\n');
      expect(await run('sh', ['-c', `${bin}; ${command} 2>&1`])).toBe(output.join('\n'));
    }
  });

  test('README shows a program that compiles and runs', async () => {
    writeFileSync(join(consumer, 'readme.ts'), block('ts'));
    await compile('readme.ts', 'nodenext', '--module', 'nodenext');
    const printed = await node('nodenext/readme.js');
    expect(printed).toContain('scripts/main.lua 741\n');
    expect(printed).toContain('\nThe mine of Hollow Ridge');
  });
});
