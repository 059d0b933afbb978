// What scripts of our users may rely on: every command with its arguments and flags, taken from oclif.manifest.json.
//
//   npm run build && node scripts/command-snapshot.js            writes test/commands.snapshot.json
//   node scripts/command-snapshot.js --check                     fails when the commands differ from it
//
// A flag that is gone from the snapshot breaks somebody: write it anew only when that is meant, and say so in the CHANGELOG.
import { readFileSync, writeFileSync } from 'node:fs';

const snapshotFile = 'test/commands.snapshot.json';

const { commands } = JSON.parse(readFileSync('oclif.manifest.json', 'utf8'));
const byName = ([a], [b]) => (a < b ? -1 : 1);

// Objects, not lists: the formatter leaves their lines as they are, so a change shows as one line of a diff.
const snapshot = Object.fromEntries(
  Object.values(commands)
    .map(({ id, args, flags, aliases }) => [
      id.replaceAll(':', ' '),
      {
        ...(aliases.length > 0 && { aliases: Object.fromEntries(aliases.map((alias) => [alias, 'alias'])) }),
        args: Object.fromEntries(Object.values(args).map((arg) => [arg.name, describeArg(arg)])),
        flags: Object.fromEntries(
          Object.values(flags)
            .map((flag) => [`--${flag.name}`, describeFlag(flag)])
            .sort(byName),
        ),
      },
    ])
    .sort(byName),
);

function describeArg({ required, multiple }) {
  return `${required ? 'required' : 'optional'}${multiple ? ', one or more' : ''}`;
}

function describeFlag({ char, type, multiple, options }) {
  const value = type === 'boolean' ? 'switch' : (options?.join(' | ') ?? 'value');
  return [value, multiple && 'repeatable', char && `-${char}`].filter(Boolean).join(', ');
}

const text = `${JSON.stringify(snapshot, null, 2)}\n`;

if (process.argv.includes('--check')) {
  const kept = readFileSync(snapshotFile, 'utf8');
  if (kept !== text) {
    console.log(difference(kept.split('\n'), text.split('\n')));
    console.log(`The commands are not those of ${snapshotFile}. If that is meant: node scripts/command-snapshot.js`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(snapshotFile, text);
}

/** The lines between the first and the last difference, old ones with `-`, new ones with `+`. */
function difference(before, after) {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const old = before.slice(start, before.length - end).map((line) => `- ${line}`);
  const now = after.slice(start, after.length - end).map((line) => `+ ${line}`);
  return [`from line ${start + 1}:`, ...old, ...now].join('\n');
}
