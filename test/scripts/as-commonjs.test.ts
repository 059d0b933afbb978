import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

/** Makes CommonJS of pieces as esbuild writes them, and runs the first. */
function run(pieces: Record<string, string>): { status: number | null; stdout: string; stderr: string } {
  const folder = scratch('pieces');
  mkdirSync(folder, { recursive: true });
  writeFileSync(scratch('pieces.json'), JSON.stringify(pieces));
  const program = `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { createRequire } from 'node:module';
    import { asCommonJs } from ${JSON.stringify(pathToFileURL(resolve('scripts/as-commonjs.js')).href)};
    const pieces = Object.entries(JSON.parse(readFileSync(${JSON.stringify(scratch('pieces.json'))}, 'utf8')));
    for (const [name, code] of pieces) writeFileSync(${JSON.stringify(`${folder}/`)} + name, asCommonJs(code, name));
    createRequire(import.meta.url)(${JSON.stringify(`${folder}/`)} + pieces[0][0]);`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
}

test('pieces of a program find each other, and the modules of Node, as CommonJS', () => {
  const first = `import {
  $word as word,
  double
} from "./second.js";
import "./third.js";
import path, { sep as separator } from "node:path";
import * as fs from "node:fs";

// import { nothing } from "./nowhere.js";
var text = 'import { nothing } from "./nowhere.js"; export { text };';
console.log(word, double(21), path.posix.join("a", "b"), separator === path.sep, typeof fs.readFileSync, text.length);
console.log(import.meta.url.startsWith("file:") && import.meta.url.endsWith("/first.js"));
import("./fourth.js").then(({ default: found }) => console.log(found));
import("node:os").then(({ EOL }) => console.log(EOL.length));
`;
  const second = `var $word = "word";
function double(number = 2) {
  return number === 1 ? 2 : 2 * number;
}

export {
  $word,
  double
};
`;
  const third = 'console.log("third");\n';
  const fourth = `var Found = "found";
export {
  Found as default
};
`;
  const pieces = { 'first.js': first, 'second.js': second, 'third.js': third, 'fourth.js': fourth };
  const { stdout, stderr } = run(pieces);
  expect(stderr).toBe('');
  expect(stdout.split('\n')).toEqual(['third', 'word 42 a/b true function 56', 'true', 'found', '1', '']);
});

test('what is exported and set a second time ends the build, for others would keep what it was first', () => {
  const piece = (more: string): string =>
    `var count = 0;\nfunction next() {\n  ${more};\n}\n\nexport {\n  count,\n  next\n};\n`;
  for (const more of ['count += 1', 'count++', 'count = 2', 'count ??= 3'])
    expect(run({ 'a.js': piece(more) }).stderr).toContain('a.js: count, an export, is set twice');
  expect(run({ 'a.js': piece('return count === 1 && this.count != 2') }).stderr).toBe('');
});
