import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runPakrat } from '../../support/run-pakrat.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

/** Both ways in which the native part of better-sqlite3 does not load: there is none, or it is for another version. */
const failures = {
  missing: `const { Module } = require('node:module');
    const load = Module._load;
    Module._load = (name, ...rest) => {
      if (name !== 'bindings') return load(name, ...rest);
      return () => { throw new Error('Could not locate the bindings file. Tried:\\n → build/better_sqlite3.node'); };
    };`,
  'of another version': `process.dlopen = (module, file) => {
      throw Object.assign(new Error("The module '" + file + "'\\nwas compiled against a different Node.js version"), {
        code: 'ERR_DLOPEN_FAILED',
      });
    };`,
};

test.each(Object.entries(failures))('a native module that is %s is no bug: its error says what to run', (_, source) => {
  const preload = scratch('preload.cjs');
  writeFileSync(preload, source);
  const store = scratch('store');
  mkdirSync(store, { recursive: true });
  writeFileSync(join(store, 'ledger.db'), '');
  const run = runPakrat(['status', '--store', store, '--json'], { env: { NODE_OPTIONS: `--require=${preload}` } });
  expect(run.status).toBe(1);
  const { error } = JSON.parse(run.stdout || run.stderr) as { error: { code: string; message: string; hint: string } };
  expect(error.code).toBe('E_NATIVE_MODULE');
  for (const words of ['npm rebuild better-sqlite3', '@electron/rebuild', 'nw-gyp'])
    expect(error.hint).toContain(words);
  const text = runPakrat(['status', '--store', store], { env: { NODE_OPTIONS: `--require=${preload}` } }).stderr;
  expect(text).toContain('npm rebuild better-sqlite3');
  expect(text).not.toMatch(/^ +at /m);
});
