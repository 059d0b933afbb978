// Writes man/pakrat.1 from oclif.manifest.json, as help is: `npm run build` calls it. Flags that commands share have sections of their own.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const { helpPage } = await load('src/cli/help/page.ts');
const { version, description } = JSON.parse(readFileSync('package.json', 'utf8'));
const { commands } = JSON.parse(readFileSync('oclif.manifest.json', 'utf8'));
const pages = Object.values(commands)
  .filter(({ hidden }) => hidden !== true)
  .map((command) => helpPage(command))
  .sort((a, b) => (a.name < b.name ? -1 : 1));
/** Their flags are the same for every command that has them. */
const sharedTitles = ['PAK flags', 'Global flags'];

const lines = [
  `.TH PAKRAT 1 "" "pakrat ${version}"`,
  '.SH NAME',
  `pakrat \\- ${roff(description.replace(/\.$/, '').replace(/^./, (letter) => letter.toLowerCase()))}`,
  '.SH SYNOPSIS',
  '.B pakrat',
  '.I COMMAND',
  '[ARGUMENTS] [FLAGS]',
  '.SH COMMANDS',
  ...pages.flatMap(commandLines),
  ...sharedTitles.flatMap(sharedLines),
  '.SH ENVIRONMENT',
  ...tagged('PAKRAT_STORE', 'Folder of the store.'),
  ...tagged('PAKRAT_CONFIG', 'The settings file.'),
  ...tagged('PAKRAT_PATCH_URL', 'Version services, separated by blanks.'),
  ...tagged('http_proxy, https_proxy, no_proxy', 'Proxies, and hosts that are asked without.'),
  ...tagged('PAKRAT_OODLE', 'Module that decodes Oodle.'),
  '.SH FILES',
  ...tagged(
    '~/.config/pakrat/config.json',
    'Your settings, where XDG_CONFIG_HOME names no other folder. "pakrat config" shows those that hold.',
  ),
  ...tagged('~/.local/share/pakrat/store', 'The store, where XDG_DATA_HOME and --store name no other.'),
  '.SH EXIT STATUS',
  ...exitCodes().flatMap(([code, meaning]) => tagged(code, meaning)),
];
mkdirSync('man', { recursive: true });
writeFileSync('man/pakrat.1', `${lines.join('\n')}\n`);

function commandLines({ name, summary, usage, args, flagGroups, paragraphs, examples }) {
  const shared = flagGroups.filter(({ title }) => sharedTitles.includes(title));
  return [
    `.SS "${roff(`pakrat ${name}`)}"`,
    roff(summary),
    '.PP',
    `.B ${roff(usage)}`,
    ...paragraphs.flatMap(paragraph),
    ...args.flatMap(([label, text]) => tagged(label, text)),
    ...flagGroups
      .filter((group) => !shared.includes(group))
      .flatMap(({ flags }) => flags.flatMap(([label, text]) => tagged(label, text))),
    ...shared.flatMap(({ title, flags }) =>
      paragraph(`${title}: ${flags.map(([label]) => /--\S+/.exec(label)?.[0]).join(', ')}.`),
    ),
    ...(examples.length === 0
      ? []
      : ['.PP', 'Examples:', '.PP', '.nf', ...examples.map((line) => `  ${roff(line)}`), '.fi']),
  ];
}

function sharedLines(title) {
  const flags = pages
    .flatMap(({ flagGroups }) => flagGroups.filter((group) => group.title === title))
    .flatMap((group) => group.flags);
  const once = [...new Map(flags)].sort(([a], [b]) => (a < b ? -1 : 1));
  return [`.SH ${title.toUpperCase()}`, ...once.flatMap(([label, text]) => tagged(label, text))];
}

/** README has them in one paragraph: `0 done · 1 network or store trouble · …`. */
function exitCodes() {
  const [, text = ''] = /### Exit codes\n\n(.*?)\n\n/s.exec(readFileSync('README.md', 'utf8')) ?? [];
  const codes = text
    .replaceAll('\n', ' ')
    .split(' · ')
    .map((part) => /^(\d+) (.*)$/.exec(part));
  if (codes.length < 5 || codes.includes(null)) throw new Error('README.md has no list of exit codes');
  return codes.map(([, code, meaning]) => [
    code,
    meaning.replace(/^(.)(.*?)\.?$/, (_, first, rest) => `${first.toUpperCase()}${rest}.`),
  ]);
}

function tagged(label, text) {
  return ['.TP', `.B ${roff(label)}`, roff(text)];
}

function paragraph(text) {
  return ['.PP', roff(text)];
}

/** A text as roff takes it on one line: no control line, every sign as it is, ASCII alone. */
function roff(text) {
  const plain = text.replaceAll('…', '...').replaceAll('’', "'").replace(/\s+/g, ' ').trim();
  return plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('"', '\\(dq')
    .replace(/^\./, '\\&.');
}

/** A module of the sources, which node cannot read as they are. */
async function load(entry) {
  const made = await build({ entryPoints: [entry], bundle: true, write: false, format: 'esm', platform: 'node' });
  const [{ text }] = made.outputFiles;
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}
