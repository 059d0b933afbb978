import { parseArgs } from 'node:util';

/** How a tree is made. The words are those of the independent generator, as far as tests use them. */
export interface TreeOptions {
  seed: string;
  files: number;
  totalBytes: number;
  /** Archives of build a, about. */
  archives: number;
  layout: 'wow' | 'tvfs' | 'text';
  rootFormat: 'headerless' | 'tsfm0' | 'tsfm1' | 'tsfm2';
  /** Of build a and of build b. */
  downloadVersions: [1 | 2 | 3, 1 | 2 | 3];
  /** Share of the files that lie loose. */
  loose: number;
  /** Manifests lie loose, rather than in archives. */
  looseMeta: boolean;
  /** Shares of the files: with variants for locales; with a second encoding; other in build b. */
  localized: number;
  multiEkey: number;
  changed: number;
  keys: number;
  /** Keys that `truth/keys.txt` does not have. */
  withheld: number;
  patches: number;
  installFiles: number;
  /** Files of a TVFS that are in pieces. */
  spans: number;
  /** Archive entries that no build uses. */
  foreign: number;
  /** 9 makes the bytes that the specs promise, others deflate otherwise. */
  zlevel: number;
  /** A lone deflated chunk stays, though it be larger than the content. */
  rawZ: boolean;
  /** Makes an installed client of build b, with data files of at most `segment` bytes. */
  local: boolean;
  segment: number;
}

const words = {
  seed: { type: 'string', default: '1' },
  files: { type: 'string', default: '2000' },
  'total-bytes': { type: 'string', default: '32M' },
  archives: { type: 'string', default: '8' },
  layout: { type: 'string', default: 'wow' },
  'root-format': { type: 'string', default: 'tsfm2' },
  'download-version': { type: 'string', default: '1,3' },
  loose: { type: 'string', default: '.02' },
  'loose-meta': { type: 'string', default: '1' },
  localized: { type: 'string', default: '.08' },
  'multi-ekey': { type: 'string', default: '.01' },
  changed: { type: 'string', default: '.1' },
  keys: { type: 'string', default: '5' },
  withheld: { type: 'string', default: '1' },
  patches: { type: 'string', default: '200' },
  'install-files': { type: 'string', default: '30' },
  spans: { type: 'string', default: '2' },
  foreign: { type: 'string', default: '0' },
  zlevel: { type: 'string', default: '6' },
  'raw-z': { type: 'boolean', default: false },
  local: { type: 'boolean', default: false },
  segment: { type: 'string', default: String(2 ** 30 - 1) },
} as const;

/** Reads the words that a test gives. @throws for one that only the generator knows */
export function parseTreeOptions(args: readonly string[]): TreeOptions {
  const { values } = parseArgs({ args: [...args], options: words });
  const versions = values['download-version'].split(',').map(Number);
  return {
    seed: values.seed,
    files: count(values.files),
    totalBytes: count(values['total-bytes']),
    archives: count(values.archives),
    layout: values.layout as TreeOptions['layout'],
    rootFormat: values['root-format'] as TreeOptions['rootFormat'],
    downloadVersions: [versions[0], versions.at(-1)] as TreeOptions['downloadVersions'],
    loose: Number(values.loose),
    looseMeta: values['loose-meta'] === '1',
    localized: Number(values.localized),
    multiEkey: Number(values['multi-ekey']),
    changed: Number(values.changed),
    keys: count(values.keys),
    withheld: count(values.withheld),
    patches: count(values.patches),
    installFiles: count(values['install-files']),
    spans: count(values.spans),
    foreign: count(values.foreign),
    zlevel: count(values.zlevel),
    rawZ: values['raw-z'],
    local: values.local,
    segment: count(values.segment),
  };
}

/** `200K` and the like. */
function count(text: string): number {
  const unit = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[text.slice(-1).toUpperCase()];
  return unit === undefined ? Number(text) : Number(text.slice(0, -1)) * unit;
}
