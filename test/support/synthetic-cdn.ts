import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { conformanceTool } from './conformance.ts';
import { ownMaker } from './own-cdn.ts';
import { type TreeMaker, treesOf } from './served-cdn.ts';

/*
 * A CDN that, where there is the generator beside the conformance files, it makes and its server serves, so that none of our code did; else the project
 * makes one that is alike, of which the same is true.
 */

/** Trees are made by the generator: it and python3 are there, and PAKRAT_OWN_TREES does not forbid it. */
export const hasGenerator =
  !process.env.PAKRAT_OWN_TREES &&
  existsSync(conformanceTool('gencdn.py')) &&
  // Looked for, not started: half a hundred files of tests ask.
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'python3')));

const generator: TreeMaker = {
  make(root, host, args) {
    const made = spawnSync('python3', [conformanceTool('gencdn.py'), 'make', '--out', root, '--host', host, ...args]);
    if (made.status !== 0) throw new Error(`gencdn.py: ${made.stderr}`);
  },
  server: ['python3', conformanceTool('serve.py')],
};

export const { makeTree, serveTree, syntheticCdn } = treesOf(hasGenerator ? generator : ownMaker);
