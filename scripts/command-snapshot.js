// What scripts of our users may rely on: every command with its arguments and flags, taken from oclif.manifest.json.
//
//   npm run build && node scripts/command-snapshot.js            writes test/commands.snapshot.json
//   node scripts/command-snapshot.js --check                     fails when the commands differ from it
//
// A flag that is gone from the snapshot breaks somebody: write it anew only when that is meant, and say so in the CHANGELOG.
import { readFileSync, writeFileSync } from 'node:fs';

const snapshotFile = 'test/commands.snapshot.json';

const { commands } = JSON.parse(readFileSync('oclif.manifest.json', 'utf8'));
const snapshot = Object.values(commands)
  .sort((a, b) => (a.id < b.id ? -1 : 1))
  .map(({ id, args, flags, aliases }) => ({
    id,
    ...(aliases.length > 0 && { aliases }),
    args: Object.values(args).map(({ name, required, multiple }) => `${name}${multiple ? '…' : ''}${required ? '' : '?'}`),
    flags: Object.values(flags)
      .map(({ name, char, type, multiple, options }) =>
        [`--${name}`, char && `-${char}`, type === 'option' && (options?.join('|') ?? 'VALUE'), multiple && 'repeatable'].filter(Boolean).join(' '),
      )
      .sort(),
  }));
const text = `${JSON.stringify(snapshot, null, 2)}\n`;

if (process.argv.includes('--check')) {
  const kept = readFileSync(snapshotFile, 'utf8');
  if (kept !== text) {
    const keptLines = new Set(kept.split('\n'));
    const lines = new Set(text.split('\n'));
    for (const line of keptLines) if (!lines.has(line)) console.log(`gone: ${line.trim()}`);
    for (const line of lines) if (!keptLines.has(line)) console.log(`new:  ${line.trim()}`);
    console.log(`The commands are not those of ${snapshotFile}. If that is meant: node scripts/command-snapshot.js`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(snapshotFile, text);
}
