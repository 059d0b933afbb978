import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Command } from '@oclif/core/command';
import { Config } from '@oclif/core/config';
import type { PJSON, Plugin } from '@oclif/core/interfaces';

/** Commands are built as CommonJS. */
const requireBuilt = createRequire(import.meta.url);

/** The commands as the build wrote them down, with the file of each. */
interface Manifest {
  commands: Record<string, Command.Cached & { relativePath: readonly string[] }>;
}

/** The command line without a theme: oclif would look for one in the folder of settings. */
class Program extends Config {
  override async loadTheme(): Promise<undefined> {}
}

/**
 * The program as oclif knows it, of two files of the package. Left to itself oclif looks for more (the root of the package, plugins, a theme, which of many
 * ways names a command's file), and all of that waits for the disk at every start.
 * @param root folder of the package
 */
export async function loadProgram(root: string): Promise<Config> {
  const pjson = readJson<PJSON>(join(root, 'package.json'));
  const { commands } = readJson<Manifest>(join(root, 'oclif.manifest.json'));
  const { name, version, oclif } = pjson;
  const topics = Object.entries(oclif.topics ?? {}).map(([topic, facts]) => ({ ...facts, name: topic }));
  const facts = { name, alias: name, version, root, pjson, topics, type: 'core', valid: true, isRoot: true, hooks: {} };
  const loadable = Object.values(commands).map((command) => ({
    ...command,
    load: async () => {
      const { default: loaded } = requireBuilt(join(root, ...command.relativePath));
      return Object.assign(loaded, { id: command.id, plugin });
    },
  }));
  const plugin = { ...facts, commands: loadable } as unknown as Plugin;
  const program = new Program({ root, pjson, plugins: new Map([[name, plugin]]) });
  await program.load();
  return program;
}

function readJson<Value>(path: string): Value {
  return JSON.parse(readFileSync(path, 'utf8')) as Value;
}
