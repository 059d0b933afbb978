// Puts the types of the package together: of the declarations that tsc wrote, those that a door leads to; the rest says nothing to anybody.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const declared = 'dist/declarations/src';
const published = 'dist/types';
const { exports: doors } = JSON.parse(readFileSync('package.json', 'utf8'));

// A set gives what is added while it is gone through.
const wanted = new Set(Object.values(doors).flatMap(({ types }) => (types ? types.replace('./dist/types/', '') : [])));
for (const path of wanted) {
  const text = readFileSync(join(declared, path), 'utf8');
  for (const [, module] of text.matchAll(/(?:from |import\()'(\.[^']+)\.ts'/g))
    wanted.add(join(dirname(path), `${module}.d.ts`));
  mkdirSync(dirname(join(published, path)), { recursive: true });
  // Older compilers know a module by the name of its code alone.
  writeFileSync(join(published, path), text.replace(/((?:from |import\()'\.[^']+)\.ts'/g, "$1.js'"));
}
rmSync('dist/declarations', { recursive: true });
