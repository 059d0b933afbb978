import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { transformSync } from 'esbuild';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

/** Runs the program on a Node that says it is another. */
function runOn(version: string): { status: number | null; stdout: string; stderr: string } {
  const fake = scratch('fake-version.cjs');
  const versions = `{ value: { ...process.versions, node: '${version}' } }`;
  writeFileSync(fake, `Object.defineProperty(process, 'versions', ${versions});`);
  return spawnSync(process.execPath, ['--require', fake, 'bin/run.js', '--version'], { encoding: 'utf8' });
}

test.each(['4.9.1', '18.20.4', '20.18.3', '9.11.2'])('Node.js %s is told off in one sentence', (version) => {
  const sentence = `pakrat needs Node.js 20.19 or newer, and this is ${version}.\n`;
  expect(runOn(version)).toMatchObject({ status: 1, stdout: '', stderr: sentence });
});

test.each(['20.19.0', '22.1.0', '100.0.0'])('Node.js %s runs it', (version) => {
  expect(runOn(version)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^pakrat\/\d/) });
});

test('a Node of ten years ago can read the check', () => {
  const text = readFileSync('bin/run.js', 'utf8').replace(/^#!.*/, '');
  const lowered = (target: string): string => transformSync(text, { target }).code;
  expect(lowered('es2015')).toBe(lowered('esnext'));
  expect(text).not.toMatch(/\bimport\b/);
});
