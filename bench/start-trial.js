// What a person pays before the work begins: the size of the package, and the start of short commands and of the library.
//
// PAKRAT_BEFORE names the bin/run.js of another build, which is then measured in turn with this one.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bin, measure, median } from './parts.js';

export function startTrial({ work, reps }) {
  const before = process.env.PAKRAT_BEFORE;
  const bins = [bin, ...(before === undefined ? [] : [resolve(before)])];
  const pak = onePak(work);
  const starts = {
    'pakrat --version': (program) => [program, '--version'],
    'pakrat sync --help': (program) => [program, 'sync', '--help'],
    'pakrat ls of a PAK with one file': (program) => [program, 'ls', pak],
    "import('pakrat')": (program) => ['--eval', `import(${JSON.stringify(libraryOf(program))})`],
  };
  console.log(
    `| | ${bins.map((_, i) => (i === 0 ? 'this' : 'before')).join(' | ')} |\n| --- |${' --- |'.repeat(bins.length)}`,
  );
  for (const [name, args] of Object.entries(starts)) {
    const seconds = bins.map(() => []);
    for (let rep = 0; rep < 3 * reps; rep++) {
      bins.forEach((program, i) => void seconds[i].push(measure(process.execPath, args(program)).seconds));
    }
    const shown = seconds.map((runs) => `${ms(Math.min(...runs))} (median ${ms(median(runs))})`);
    console.log(`| ${name}, ms, least of ${3 * reps} | ${shown.join(' | ')} |`);
  }
  const packed = bins.map((program) => packedSize(rootOf(program)));
  console.log(`| files in the package | ${packed.map(({ entryCount }) => entryCount).join(' | ')} |`);
  console.log(
    `| installed, MB, without dependencies | ${packed.map((one) => megabytes(one.unpackedSize)).join(' | ')} |`,
  );
  console.log(`| tarball, MB | ${packed.map(({ size }) => megabytes(size)).join(' | ')} |`);
}

const ms = (seconds) => (seconds * 1000).toFixed(0);
const megabytes = (bytes) => (bytes / 1e6).toFixed(2);
const rootOf = (program) => dirname(dirname(program));

function libraryOf(program) {
  const root = rootOf(program);
  const { exports: doors } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
  return pathToFileURL(join(root, doors['.'].default)).href;
}

function packedSize(root) {
  const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'], { cwd: root });
  return Object.values(JSON.parse(printed))[0];
}

function onePak(work) {
  const [folder, pak] = [join(work, 'start'), join(work, 'start.pak')];
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(join(folder, 'autoexec.cfg'), 'bind F12 screenshot\n');
  execFileSync(process.execPath, [bin, 'pack', 'quake', pak, folder, '--force', '--quiet']);
  return pak;
}
