'use strict';
// The loader of modules opens everything that a module needs at once, which may be more files than a process may have open. Here they are
// loaded one after the other, each behind those that it needs; whoever imports them then finds them loaded.
const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

/** Files that the largest command opens at once, and some more. */
const enough = 256;

/** True where fewer files may be open than loading takes. Systems that do not tell have more. */
exports.hasFewFiles = () => {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return Number(limit) < enough;
  } catch {
    return false;
  }
};

/** Loads the pieces of the program that its commands share. */
exports.loadInTurn = async (folder) => {
  const loaded = new Set();
  const load = async (name) => {
    if (loaded.has(name)) return;
    loaded.add(name);
    const path = join(folder, name);
    const needed = readFileSync(path, 'utf8').matchAll(/^(?:import|} from) "\.\/(chunk-[^"]+)"/gm);
    for (const [, other] of needed) await load(other);
    // One that cannot be loaded says so itself when it is needed.
    await import(pathToFileURL(path)).catch(() => {});
  };
  for (const name of readdirSync(folder)) if (name.startsWith('chunk-')) await load(name);
};
