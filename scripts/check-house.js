// Checks what docs/architecture.md says of the house: which room imports which, how large files, folders and verbs may be, and that each
// room says what it is. It is a smoke alarm, not a fence: where it is in the way of something better, change the table and say why in an ADR.
//
//   node scripts/check-house.js [FOLDER]
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** From the ground up. A room imports from the rooms before its own line only. */
const floors = [
  ['core'],
  ['codecs', 'files'],
  ['threads'],
  ['formats'],
  ['paks', 'cdn', 'store'],
  ['verify'],
  ['builds'],
  ['fetch'],
  ['sync', 'installs'],
  ['keep'],
  ['sources', 'publish'],
  ['inspect'],
  ['app'],
  ['serve'],
  ['demo'],
  ['cli'],
  ['commands'],
];
/** Rooms that may use less than all that lies below them. */
const only = { cli: ['core', 'app'], commands: ['core', 'app', 'serve', 'demo', 'cli'] };
/** Rooms that neither read nor write, and all that could. */
const pureRooms = ['core', 'codecs', 'formats'];
const input = /^node:(fs|net|http|https|tls|dgram|child_process)\b|^undici$|^better-sqlite3$|^p-queue$/;
/** Files of a folder, lines of a file, lines of a verb of `app`. */
const [maxFiles, maxLines, maxVerbLines] = [12, 350, 120];
/** Folders whose files are a list of like things, one a file: the more there are, the better. */
const lists = new Set(['commands', 'src/app', 'src/builds/roots', 'src/cli/render']);

const root = resolve(process.argv[2] ?? '.');
const files = ['src', 'commands'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
);
const problems = [];
/** A file of `src` itself is a door: it stands above all rooms but `serve` and what uses it. */
const roomOf = (file) => (file.startsWith('commands/') ? 'commands' : (/^src\/([^/]+)\//.exec(file)?.[1] ?? 'app'));
const floorOf = (room) => floors.findIndex((rooms) => rooms.includes(room));
const isVerb = (file) => /^src\/app\/[^/]+\.ts$/.test(file);

for (const file of files) {
  const room = roomOf(file);
  if (floorOf(room) === -1) problems.push(`${file}: ${room} is no room of the house`);
  const text = readFileSync(join(root, file), 'utf8');
  const lines = text.split('\n').length - 1;
  const most = isVerb(file) ? maxVerbLines : maxLines;
  if (lines > most) problems.push(`${file}: ${lines} lines, at most ${most}`);
  for (const [, name] of text.matchAll(/(?:\bfrom|\bimport\(|^import) ?'([^']+)'/gm)) checkImport(file, room, name);
}

function checkImport(file, room, name) {
  if (!name.startsWith('.')) {
    if (pureRooms.includes(room) && input.test(name))
      problems.push(`${file}: ${room} does no input or output (${name})`);
    return;
  }
  const target = relative(root, resolve(root, dirname(file), name));
  if (!/^(src|commands)\//.test(target)) return;
  const other = roomOf(target);
  if (isVerb(file) && isVerb(target)) problems.push(`${file}: a verb does not import another (${target})`);
  if (other === room) return;
  if (floorOf(other) >= floorOf(room)) problems.push(`${file}: ${room} stands below or beside ${other} (${target})`);
  else if (only[room]?.includes(other) === false)
    problems.push(`${file}: ${room} uses ${only[room].join(', ')} only (${target})`);
}

for (const folder of new Set(files.map((file) => dirname(file)))) {
  const count = files.filter((file) => dirname(file) === folder).length;
  if (count > maxFiles && !lists.has(folder))
    problems.push(`${folder}: ${count} files, at most ${maxFiles}: make folders`);
}
for (const room of floors.flat().filter((name) => name !== 'commands')) {
  if (!existsSync(join(root, 'src', room, 'README.md'))) problems.push(`src/${room}: no README.md`);
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`The house stands: ${files.length} files, ${floors.flat().length} rooms.`);
