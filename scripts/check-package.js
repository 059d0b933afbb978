// Packs the package into a folder for temporary files, and has it read by those who know what others make of it: publint and attw.
// That it works where it is installed is the matter of test/package.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const run = (command, ...args) => execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });

const folder = mkdtempSync(join(tmpdir(), 'pakrat-package-'));
try {
  run('npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', folder);
  const tarball = join(folder, readdirSync(folder)[0]);
  run('npx', '--no', 'publint', 'run', tarball, '--strict');
  run('npx', '--no', 'attw', tarball, '--profile', 'esm-only');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
