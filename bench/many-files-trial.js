// What takes a folder of very many small files: published, published again, compared with its build, packed.
//
//   node bench/run.js many-files
//
// PAKRAT_BEFORE names the bin/run.js of another build, which is then measured in turn with this one.
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { bin, measure, median } from './parts.js';

const before = process.env.PAKRAT_BEFORE;
const programs = { this: bin, ...(before !== undefined && { before: resolve(before) }) };
const inFolder = 500;

export async function manyFilesTrial({ work, reps, scale }) {
  const memory = fs.mkdtempSync(join(fs.existsSync('/dev/shm') ? '/dev/shm' : work, 'pakrat-bench-'));
  try {
    const files = Math.round(180_000 / scale);
    const [folder, changed] = [join(memory, 'files'), join(memory, 'changed')];
    writeFiles(folder, files, () => '');
    // Files under half a KiB get no patches.
    writeFiles(changed, files, (number) => (number % 100 === 0 ? 'changed '.repeat(90) : ''));
    console.log(`${files} files of 40 to 240 bytes, in memory; medians of ${reps}\n`);
    console.log('| | | wall s | processor s | peak MiB | of this / this row: wall, MiB |');
    console.log('| --- | --- | --- | --- | --- | --- |');
    const out = join(memory, 'out');
    for (const [trial, run] of Object.entries(runsOf(memory, { folder, changed, out }))) row(trial, { reps, run, out });
  } finally {
    fs.rmSync(memory, { recursive: true });
  }
}

function writeFiles(folder, count, extraOf) {
  let seed = 1;
  const random = () => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return seed / 2 ** 32;
  };
  for (let number = 0; number < count; number++) {
    const area = Math.floor(number / inFolder);
    const path = join(folder, 'world', `zone${area % 100}`, `area${area}`);
    if (number % inFolder === 0) fs.mkdirSync(path, { recursive: true });
    const size = 40 + Math.floor(random() * 200);
    let text = `${number} `;
    while (text.length < size) text += `${Math.floor(random() * 1e9).toString(36)} model texture `;
    fs.writeFileSync(join(path, `asset_${number}.m2`), text.slice(0, size) + extraOf(number));
  }
}

/** What is measured of a program. */
function runsOf(memory, { folder, changed, out }) {
  const of = (program, ...args) => measure(process.execPath, [program, ...args, '--quiet']);
  const publish = (program, from, to) => of(program, 'publish', from, '--product', 'files', '--to', to);
  const [first, store] = [join(memory, 'first'), join(memory, 'store')];
  publish(bin, folder, first);
  of(bin, 'import', first, '--store', store);
  return {
    publish: (program) => publish(program, folder, out),
    'publish, one file in 100 changed': (program) => {
      fs.cpSync(first, out, { recursive: true });
      return publish(program, changed, out);
    },
    'diff of the build and the folder': (program) =>
      of(program, 'diff', 'files', `folder:${folder}`, '--store', store, '--offline'),
    'pack quake': (program) => of(program, 'pack', 'quake', out, folder),
    'pack unreal': (program) => of(program, 'pack', 'unreal', out, folder),
    'pack nadeo': (program) => of(program, 'pack', 'nadeo', out, folder, '--version', '6'),
  };
}

function row(trial, { reps, run, out }) {
  const figures = Object.fromEntries(Object.keys(programs).map((name) => [name, []]));
  for (let rep = 0; rep < reps; rep++) {
    for (const [name, program] of Object.entries(programs)) {
      figures[name].push(run(program));
      fs.rmSync(out, { recursive: true, force: true });
    }
  }
  const of = (name, what) => median(figures[name].map((one) => one[what]));
  for (const name of Object.keys(programs)) {
    const [seconds, cpu, mib] = ['seconds', 'cpu', 'mib'].map((what) => of(name, what));
    const ratios = ['seconds', 'mib'].map((what) => (of('this', what) / of(name, what)).toFixed(2)).join(', ');
    console.log(`| ${trial} | ${name} | ${seconds.toFixed(2)} | ${cpu.toFixed(2)} | ${mib.toFixed(0)} | ${ratios} |`);
  }
}
