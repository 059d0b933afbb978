import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { conformanceTool } from './conformance.ts';
import { readTruth } from './truth.ts';

/*
 * Which tags a tree gives to which entry. Ours says so; the table of the generator does not, but it follows from its options:
 * the generator plans its files again, and is asked for their classes.
 */
const askGenerator = `
import argparse, json, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import gencdn
options = argparse.Namespace(**json.load(open(sys.argv[2] + '/truth/summary.json'))['options'])
options.out = sys.argv[2]
generator = gencdn.Gen(options)
generator.plan()
classes = lambda p: 'win' if p < .05 else 'osx' if p < .1 else 'speech' if p < .13 else 'all'
names = set(gencdn.LOC) | {'win', 'osx', 'speech', 'all'} | {kind for _, kind, _ in generator.inst}
print(json.dumps({
    'files': {str(f['id']): classes(f['plat']) for f in generator.files},
    'tags': {name: sorted(generator.tagset(name)) for name in names},
}))
`;

/** The tags of each entry of a build: of its files by ekey, of the files of its install manifest by path. */
export interface TagTruth {
  byEkey: Map<string, string[]>;
  byInstallPath: Map<string, string[]>;
}

/** The class of each file by its id, and the tags of each class. */
interface ClassedFiles {
  files: Record<string, string>;
  tags: Record<string, string[]>;
}

function tagClasses(root: string): string {
  const told = join(root, 'truth/tags.json');
  if (existsSync(told)) return readFileSync(told, 'utf8');
  const tools = dirname(conformanceTool('gencdn.py'));
  return execFileSync('python3', ['-c', askGenerator, tools, root], { encoding: 'utf8', maxBuffer: 1 << 28 });
}

/** Works out the tags of build `a` or `b` of a tree. An ekey that several files share has the tags of the first. */
export function readTagTruth(root: string, which: 'a' | 'b'): TagTruth {
  const { files, tags } = JSON.parse(tagClasses(root)) as ClassedFiles;
  const truth = readTruth(root, which);
  const byEkey = new Map<string, string[]>();
  for (const { locale, fileDataId, ekeys } of truth.rows) {
    const tagged = tags[locale] ?? tags[files[fileDataId]!]!;
    for (const ekey of ekeys) if (!byEkey.has(ekey)) byEkey.set(ekey, tagged);
  }
  return { byEkey, byInstallPath: new Map(truth.install.map(({ path, kind }) => [path, tags[kind]!])) };
}
